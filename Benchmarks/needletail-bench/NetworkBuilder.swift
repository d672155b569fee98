import NTGraph
import NTTensor

/// The benchmark networks by the published layer tables, as graphs with random weights; the same shapes that make_networks.py writes to files.
struct NetworkBuilder {
    static let all: [(name: String, make: @Sendable () throws -> Graph)] = [
        ("mobilenet_v1", { try mobileNetV1() }), ("mobilenet_v2", { try mobileNetV2() }), ("squeezenet_1_1", { try squeezeNet() }),
        ("resnet50", { try resNet50() }), ("mini_xception", { try miniXception() }),
    ]

    private var builder: GraphBuilder
    private var state: UInt64 = 1
    private var count = 0

    private init(_ name: String) { builder = GraphBuilder(name: name) }

    private mutating func random(_ shape: Shape, scale: Float) throws -> ValueID {
        let tensor = try Tensor(float32: shape) { target in
            for index in target.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                target[index] = (Float(state >> 40) / Float(1 << 23) - 1) * scale
            }
        }
        return try builder.constant(tensor)
    }

    private mutating func name(_ kind: String) -> String {
        count += 1
        return "\(kind)\(count)"
    }

    private mutating func convolution(
        _ x: ValueID, _ outputs: Int, _ kernel: Int = 1, stride: Int = 1, padding: Padding2D? = nil, groups: Int = 1,
        activation: UnaryFunction = .relu
    ) throws -> ValueID {
        let channels = builder.shape(x)[1] / groups
        let half = kernel / 2
        let scale = (6 / Float(channels * kernel * kernel)).squareRoot()
        let w = try random([outputs, channels, kernel, kernel], scale: scale)
        let b = try random([outputs], scale: 0.1)
        let op = Convolution(
            strides: Size2D(stride, stride), padding: padding ?? Padding2D(top: half, left: half, bottom: half, right: half),
            groups: groups, hasBias: true, activation: activation)
        return try builder.add(op, x, w, b, layer: name("conv"))
    }

    /// TensorFlow's SAME padding.
    private func same(_ x: ValueID, _ kernel: Int, _ stride: Int) -> Padding2D {
        let (before, after) = Window.samePadding(
            input: builder.shape(x)[2], kernel: kernel, stride: stride, dilation: 1, smallerLast: false)
        return Padding2D(top: before, left: before, bottom: after, right: after)
    }

    private mutating func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
        guard let output = try builder.apply(op, inputs, layer: name(op.kind)).first else { throw GraphError("no output") }
        return output
    }

    private mutating func classify(_ x: ValueID, _ classes: Int) throws -> Graph {
        let mean = try add(Reduce(.mean, axes: [2, 3], keepsDimensions: false), x)
        let channels = builder.shape(mean)[1]
        let logits =
            classes == 0
            ? mean
            : try add(
                Dense(hasBias: true), mean, try random([classes, channels], scale: 0.1), try random([classes], scale: 0.1))
        try builder.output(try add(Softmax(axis: 1), logits), name: "output")
        return try Passes.optimize(builder.graph)
    }

    private static func mobileNetV1() throws -> Graph {
        var net = NetworkBuilder("mobilenet_v1")
        let image = net.builder.input("image", .float32([1, 3, 224, 224]))
        var x = try net.convolution(image, 32, 3, stride: 2, padding: net.same(image, 3, 2), activation: .clip(0, 6))
        let rest = [(512, 2)] + [(Int, Int)](repeating: (512, 1), count: 5) + [(1024, 2), (1024, 1)]
        for (filters, stride) in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1)] + rest {
            let channels = net.builder.shape(x)[1]
            x = try net.convolution(
                x, channels, 3, stride: stride, padding: net.same(x, 3, stride), groups: channels, activation: .clip(0, 6))
            x = try net.convolution(x, filters, activation: .clip(0, 6))
        }
        return try net.classify(x, 1000)
    }

    private static func mobileNetV2() throws -> Graph {
        var net = NetworkBuilder("mobilenet_v2")
        let image = net.builder.input("image", .float32([1, 3, 224, 224]))
        var x = try net.convolution(image, 32, 3, stride: 2, activation: .clip(0, 6))
        for (expansion, filters, count, first) in [
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
        ] {
            for index in 0..<count {
                let source = x
                let channels = net.builder.shape(x)[1]
                let stride = index == 0 ? first : 1
                let wide = channels * expansion
                if expansion != 1 { x = try net.convolution(x, wide, activation: .clip(0, 6)) }
                x = try net.convolution(x, wide, 3, stride: stride, groups: wide, activation: .clip(0, 6))
                x = try net.convolution(x, filters, activation: .identity)
                if stride == 1, channels == filters { x = try net.add(Binary(.add), source, x) }
            }
        }
        return try net.classify(try net.convolution(x, 1280, activation: .clip(0, 6)), 1000)
    }

    private static func squeezeNet() throws -> Graph {
        var net = NetworkBuilder("squeezenet_1_1")
        var x = try net.convolution(net.builder.input("image", .float32([1, 3, 224, 224])), 64, 3, stride: 2, padding: .zero)
        let pool = Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2))
        let modules = [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]
        for (index, (narrow, wide)) in modules.enumerated() {
            if [0, 2, 4].contains(index) { x = try net.add(pool, x) }
            x = try net.convolution(x, narrow)
            x = try net.add(Concat(axis: 1), try net.convolution(x, wide), try net.convolution(x, wide, 3))
        }
        return try net.classify(try net.convolution(x, 1000), 0)
    }

    private static func resNet50() throws -> Graph {
        var net = NetworkBuilder("resnet50")
        var x = try net.convolution(net.builder.input("image", .float32([1, 3, 224, 224])), 64, 7, stride: 2)
        let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
        x = try net.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one), x)
        for (stage, (narrow, count)) in [(64, 3), (128, 4), (256, 6), (512, 3)].enumerated() {
            for index in 0..<count {
                let stride = stage > 0 && index == 0 ? 2 : 1
                var y = try net.convolution(x, narrow)
                y = try net.convolution(y, narrow, 3, stride: stride)
                y = try net.convolution(y, 4 * narrow, activation: .identity)
                let source = index == 0 ? try net.convolution(x, 4 * narrow, stride: stride, activation: .identity) : x
                x = try net.add(Unary(.relu), try net.add(Binary(.add), y, source))
            }
        }
        return try net.classify(x, 1000)
    }

    private static func miniXception() throws -> Graph {
        var net = NetworkBuilder("mini_xception")
        var x = try net.convolution(net.builder.input("image", .float32([1, 1, 64, 64])), 8, 3, padding: .zero)
        x = try net.convolution(x, 8, 3, padding: .zero)
        for filters in [16, 32, 64, 128] {
            let source = try net.convolution(x, filters, stride: 2, activation: .identity)
            let channels = net.builder.shape(x)[1]
            var y = try net.convolution(x, channels, 3, groups: channels, activation: .identity)
            y = try net.convolution(y, filters)
            y = try net.convolution(y, filters, 3, groups: filters, activation: .identity)
            y = try net.convolution(y, filters, activation: .identity)
            let pool = Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: net.same(y, 3, 2))
            x = try net.add(Binary(.add), try net.add(pool, y), source)
        }
        return try net.classify(try net.convolution(x, 7, 3, activation: .identity), 0)
    }
}
