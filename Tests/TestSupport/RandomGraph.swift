import NTGraph
import NTTensor

/// Random small networks of everything that the passes and the backends rewrite: layers, what converters surround them with, and
/// values that are read several times or are outputs.
package enum RandomGraph {
    /// The network of a seed. Values stay within some tens, so that tolerances mean the same everywhere.
    package static func make(seed: Int, nodeCount: Int = 24) throws -> (graph: Graph, inputs: [Tensor]) {
        var builder = CaseBuilder(name: "random \(seed)")
        let channels = builder.random.integer(1...9)
        var pool = [
            try builder.input([builder.random.integer(1...2), channels, builder.random.integer(3...9), builder.random.integer(3...9)], .unit)
        ]
        if seed % 4 == 0 { pool.append(try builder.input(builder.shape(pool[0]), .unit)) }
        while builder.graph.nodes.count < nodeCount {
            // Mostly the newest value, so that chains form.
            let x = builder.random.integer(0...3) > 0 ? pool[pool.count - 1] : builder.random.choice(pool)
            let made = try step(&builder, x, pool)
            pool += made.filter { builder.graph.constant($0) == nil }
        }
        try builder.output(pool[pool.count - 1])
        for _ in 0..<builder.random.integer(0...3) { try builder.output(builder.random.choice(pool)) }
        return (builder.graph, builder.inputs)
    }

    private static func step(_ b: inout CaseBuilder, _ x: ValueID, _ pool: [ValueID]) throws -> [ValueID] {
        guard b.shape(x).rank == 4 else { return [try flat(&b, x)] }
        switch b.random.integer(0...13) {
        case 0, 1, 2: return [try layer(&b, x)]
        case 3, 4: return [try affine(&b, x)]
        case 5, 6: return [try b.add(Unary(b.random.choice(functions)), x)]
        case 7: return [try writtenOut(&b, x)]
        case 8, 9: return [try combination(&b, x, pool)]
        case 10: return [try movement(&b, x)]
        case 11: return [try pooling(&b, x)]
        case 12: return try pieces(&b, x)
        default: return [try head(&b, x)]
        }
    }

    private static let functions: [UnaryFunction] = [
        .identity, .relu, .clip(0, 6), .clip(-1, 1), .threshold(-0.5), .sigmoid, .silu, .hardSwish, .tanh, .linear(-1, 0), .linear(0.5, 1),
        .leakyReLU(0.1), .negate, .abs, .hardSigmoid(0.2, 0.5), .elu(1), .linear(1, 0), .softsign,
    ]

    /// A convolution of some kind with weights that keep the size of values.
    private static func layer(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let shape = b.shape(x)
        let kernel = Size2D(b.random.choice([1, 1, 3, 2]), b.random.choice([1, 1, 3, 2]))
        var padding = Padding2D(
            top: b.random.integer(0...1), left: b.random.integer(0...1), bottom: b.random.integer(0...1), right: b.random.integer(0...1))
        var source = x
        if b.random.integer(0...3) == 0 {
            source = try b.add(Pad(.constant(0), before: [0, 0, 1, 0], after: [0, 0, 1, 2]), x)
        }
        let padded = b.shape(source)
        if padded[2] + padding.top + padding.bottom < kernel.height || padded[3] + padding.left + padding.right < kernel.width {
            padding = Padding2D(top: 2, left: 2, bottom: 2, right: 2)
        }
        let isDepthwise = b.random.integer(0...2) == 0
        if b.random.integer(0...5) == 0 {
            let weights = try b.constant([shape[1], 2, 2, 2], .uniform(-0.5...0.5))
            return try b.add(ConvolutionTranspose(strides: Size2D(1, 2)), x, weights)
        }
        // Stride 2 with odd sizes keeps later additions possible among values of equal history only; size stays above 1 mostly.
        let stride = padded[2] > 5 && padded[3] > 5 && b.random.integer(0...3) == 0 ? 2 : 1
        let limit = 2 / Float(kernel.height * kernel.width * (isDepthwise ? 1 : shape[1])).squareRoot()
        return try b.convolution(
            source, outputs: isDepthwise ? shape[1] : b.random.integer(1...9), kernel: kernel, strides: Size2D(stride, stride),
            padding: padding, groups: isDepthwise ? shape[1] : 1, bias: b.random.integer(0...1) == 0, fill: .uniform(-limit...limit))
    }

    /// Scales and biases in the forms that converters write.
    private static func affine(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let channels = b.shape(x)[1]
        let scale = Fill.uniform(-1.25...1.25)
        switch b.random.integer(0...5) {
        case 0, 1: return try b.add(ChannelAffine(axis: b.random.choice([1, -3])), x, b.constant([channels], scale), b.constant([channels], scale))
        case 2: return try b.add(Binary(b.random.choice([.add, .subtract, .multiply])), x, b.constant([channels, 1, 1], scale))
        case 3: return try b.add(Binary(b.random.choice([.add, .subtract, .multiply])), b.constant([1, channels, 1, 1], scale), x)
        case 4:
            return try b.add(Binary(b.random.choice([.add, .multiply, .maximum, .minimum, .divide])), x, b.scalar(b.random.choice([0.5, 1.5, -2])))
        default: return try b.add(Binary(.subtract), b.scalar(1), x)
        }
    }

    /// Activations as several nodes.
    private static func writtenOut(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        switch b.random.integer(0...3) {
        case 0:
            let negated = try b.add(Unary(.linear(-1, 0)), try b.add(Unary(.relu), x))
            return try b.add(Unary(.linear(-1, 0)), try b.add(Unary(.threshold(-6)), negated))
        case 1: return try b.add(Binary(.multiply), x, try b.add(Unary(.sigmoid), x))
        case 2:
            let gate = try b.add(Unary(.clip(0, 6)), try b.add(Binary(.add), x, b.scalar(3)))
            return try b.add(Binary(.multiply), try b.add(Binary(.multiply), x, gate), b.scalar(1.0 / 6))
        default:
            let erf = try b.add(Unary(.erf), try b.add(Binary(.multiply), x, b.scalar(Float(0.5.squareRoot()))))
            return try b.add(Binary(.multiply), try b.add(Unary(.linear(0.5, 0)), x), try b.add(Unary(.linear(1, 1)), erf))
        }
    }

    /// Two values of one shape, or with a gate per channel.
    private static func combination(_ b: inout CaseBuilder, _ x: ValueID, _ pool: [ValueID]) throws -> ValueID {
        let shape = b.shape(x)
        let equals = pool.filter { b.shape($0) == shape }
        switch b.random.integer(0...5) {
        case 0, 1, 2: return try b.add(Binary(.add, activation: b.random.choice([.identity, .relu])), x, b.random.choice(equals))
        case 3: return try b.add(Binary(b.random.choice([.maximum, .minimum, .subtract])), x, b.random.choice(equals))
        case 4:
            let mean = try b.add(Reduce(.mean, axes: [2, 3]), x)
            return try b.add(Binary(.multiply), x, try b.add(Unary(.sigmoid), mean))
        default:
            let other = try b.convolution(x, outputs: shape[1], kernel: .one, fill: .uniform(-0.3...0.3))
            return try b.add(Binary(.add), other, x)
        }
    }

    private static func movement(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let shape = b.shape(x)
        switch b.random.integer(0...4) {
        case 0:
            let moved = try b.add(Transpose([0, 2, 3, 1]), x)
            let function = try b.add(Unary(b.random.choice([.relu, .sigmoid])), moved)
            return try b.add(Transpose([0, 3, 1, 2]), function)
        case 1: return try b.add(Reshape(shape), try b.add(Reshape([shape.count]), x))
        case 2: return try b.add(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 0, 0]), x)
        case 3: return try b.add(Transpose([0, 1, 3, 2]), x)
        default:
            return try b.add(Slice(begins: [0, 0, 0, 0], extents: [shape[0], max(1, shape[1] / 2), shape[2], shape[3]], strides: [1, 1, 1, 1]), x)
        }
    }

    private static func pooling(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let shape = b.shape(x)
        let function = b.random.choice([Pool.Function.average, .maximum])
        let source = b.random.integer(0...1) == 0 ? x : try b.add(Pad(.constant(0), before: [0, 0, 1, 1], after: [0, 0, 1, 1]), x)
        if b.shape(source)[2] > 3, b.shape(source)[3] > 3 {
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            return try b.add(
                Pool(
                    function, kernel: Size2D(3, 3), strides: Size2D(1, 1), padding: b.random.choice([one, .zero]),
                    countsPadding: b.random.integer(0...1) == 0),
                source)
        }
        return try b.add(Pool(function, kernel: Size2D(shape[2], shape[3])), x)
    }

    private static func pieces(_ b: inout CaseBuilder, _ x: ValueID) throws -> [ValueID] {
        let channels = b.shape(x)[1]
        guard channels > 1, b.random.integer(0...1) == 0 else { return [try b.add(Concat(axis: 1), x, try b.add(Unary(.relu), x))] }
        let parts = try b.apply(Split(axis: 1, sizes: [1, channels - 1]), [x])
        return parts + [try b.add(Concat(axis: 1), parts[1], parts[0])]
    }

    /// A dense layer on the flattened image, in one of both orders, or on its mean.
    private static func head(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let shape = b.shape(x)
        let inner = shape.count / shape[0]
        switch b.random.integer(0...2) {
        case 0:
            let flatten = try b.add(Reshape([shape[0], inner]), try b.add(Transpose([0, 2, 3, 1]), x))
            return try b.add(Dense(), flatten, b.constant([5, inner], .uniform(-0.2...0.2)))
        case 1:
            let flatten = try b.add(Reshape([shape[0], inner]), x)
            return try b.add(Dense(hasBias: true), flatten, b.constant([4, inner], .uniform(-0.2...0.2)), b.constant([4], .unit))
        default: return try b.add(Reduce(.mean, axes: [3, 2], keepsDimensions: false), x)
        }
    }

    /// A step on a value of another rank than 4.
    private static func flat(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let shape = b.shape(x)
        guard shape.rank == 2 else { return try b.add(Unary(.tanh), x) }
        switch b.random.integer(0...5) {
        case 0: return try b.add(MatMul(), x, b.constant([shape[1], 6], .uniform(-0.5...0.5)))
        case 1: return try b.add(Binary(.add), x, b.constant([shape[1]], .unit))
        case 2: return try b.add(Unary(b.random.choice(functions)), x)
        case 3: return try b.add(Softmax(axis: 1), x)
        case 4: return try b.add(ChannelAffine(axis: 1), x, b.constant([shape[1]], .unit), b.constant([shape[1]], .unit))
        default: return try b.add(Reshape([shape[0], shape[1], 1, 1]), x)
        }
    }
}
