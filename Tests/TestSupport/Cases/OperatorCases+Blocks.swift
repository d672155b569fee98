import NTGraph
import NTTensor

/// Pieces of networks: what backends fuse, and what they must not.
extension OperatorCases {
    package static let blocks: [OperatorCase] = [
        residualBlock, projectedResidualBlock, invertedResidual, fire, inception, squeezeExcite, classifierHead, flattenHead,
        sharedIntermediate, intermediateOutput, preprocessing, channelShuffle, unfusedReLU6, twoInputs, pointwiseDepthwisePointwise, regions,
        stemPoolAndConcatenation, stemPoolAndConvolution, stemAndSeparable,
    ]

    private static let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)

    private static let residualBlock = OperatorCase("residual block", kinds: []) { b in
        let x = try b.input([1, 16, 8, 8], .integers(-1...1))
        let first = try b.convolution(x, outputs: 16, kernel: Size2D(3, 3), padding: one, activation: .relu, fill: .integers(-1...1))
        let second = try b.convolution(first, outputs: 16, kernel: Size2D(3, 3), padding: one, fill: .integers(-1...1))
        try b.output(try b.add(Binary(.add, activation: .relu), second, x))
    }

    private static let projectedResidualBlock = OperatorCase("projected residual block", kinds: []) { b in
        let x = try b.input([1, 8, 9, 9], .integers(-1...1))
        let two = Size2D(2, 2)
        let main = try b.convolution(
            x, outputs: 24, kernel: Size2D(3, 3), strides: two, padding: one, activation: .relu, fill: .integers(-1...1))
        let last = try b.convolution(main, outputs: 24, kernel: Size2D(3, 3), padding: one, fill: .integers(-1...1))
        let shortcut = try b.convolution(x, outputs: 24, kernel: .one, strides: two, fill: .integers(-1...1))
        let sum = try b.add(Binary(.add), last, shortcut)
        try b.output(try b.add(Unary(.relu), sum))
    }

    private static let invertedResidual = OperatorCase("inverted residual", kinds: []) { b in
        let x = try b.input([1, 16, 7, 7], .integers(-1...1))
        let expanded = try b.convolution(x, outputs: 48, kernel: .one, activation: .clip(0, 6), fill: .integers(-1...1))
        let filtered = try b.convolution(
            expanded, outputs: 48, kernel: Size2D(3, 3), padding: one, groups: 48, activation: .clip(0, 6), fill: .integers(-1...1))
        let projected = try b.convolution(filtered, outputs: 16, kernel: .one, fill: .integers(-1...1))
        try b.output(try b.add(Binary(.add), x, projected))
    }

    private static let pointwiseDepthwisePointwise = OperatorCase("separable convolutions, stride 2", kinds: []) { b in
        let x = try b.input([1, 20, 10, 10], .integers(-1...1))
        let filtered = try b.convolution(
            x, outputs: 20, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: Padding2D(bottom: 1, right: 1), groups: 20,
            activation: .relu, fill: .integers(-1...1))
        let mixed = try b.convolution(filtered, outputs: 35, kernel: .one, activation: .relu, fill: .integers(-1...1))
        let again = try b.convolution(
            mixed, outputs: 35, kernel: Size2D(3, 3), padding: one, groups: 35, activation: .relu, fill: .integers(-1...1))
        try b.output(try b.convolution(again, outputs: 18, kernel: .one, fill: .integers(-1...1)))
    }

    /// A first convolution and the pool that alone reads it, as a piece of a concatenation that `last` reads.
    private static func stemAndPool(_ b: inout CaseBuilder, _ last: (inout CaseBuilder, ValueID) throws -> ValueID) throws {
        let x = try b.input([1, 3, 17, 19], .integers(-1...1))
        let first = try b.convolution(
            x, outputs: 34, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one, activation: .relu, fill: .integers(-1...1))
        let pooled = try b.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2)), first)
        let mixed = try b.convolution(pooled, outputs: 20, kernel: .one, fill: .integers(-1...1))
        try b.output(try last(&b, try b.add(Concat(axis: 1), pooled, mixed)))
    }

    private static let stemPoolAndConcatenation = OperatorCase("first convolution, pool, concatenation", kinds: []) { b in
        try stemAndPool(&b) { b, joined in try b.add(Unary(.relu), joined) }
    }

    private static let stemPoolAndConvolution = OperatorCase("first convolution, pool, concatenation, convolution", kinds: []) { b in
        try stemAndPool(&b) { b, joined in try b.convolution(joined, outputs: 18, kernel: .one, fill: .integers(-1...1)) }
    }

    private static let stemAndSeparable = OperatorCase("first convolution and a separable one", kinds: []) { b in
        let x = try b.input([1, 3, 23, 21], .integers(-1...1))
        let first = try b.convolution(
            x, outputs: 24, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one, activation: .relu, fill: .integers(-1...1))
        let filtered = try b.convolution(
            first, outputs: 24, kernel: Size2D(3, 3), padding: one, groups: 24, activation: .relu, fill: .integers(-1...1))
        try b.output(try b.convolution(filtered, outputs: 35, kernel: .one, fill: .integers(-1...1)))
    }

    private static let fire = OperatorCase("fire module", kinds: []) { b in
        let x = try b.input([1, 24, 9, 9], .integers(-1...1))
        let squeezed = try b.convolution(x, outputs: 8, kernel: .one, activation: .relu, fill: .integers(-1...1))
        let left = try b.convolution(squeezed, outputs: 20, kernel: .one, activation: .relu, fill: .integers(-1...1))
        let right = try b.convolution(squeezed, outputs: 20, kernel: Size2D(3, 3), padding: one, activation: .relu, fill: .integers(-1...1))
        let joined = try b.add(Concat(axis: 1), left, right)
        try b.output(try b.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), rounding: .ceilIncludingLastPixel), joined))
    }

    private static let inception = OperatorCase("inception module", kinds: []) { b in
        let x = try b.input([1, 12, 8, 8], .integers(-1...1))
        let a = try b.convolution(x, outputs: 5, kernel: .one, activation: .relu, fill: .integers(-1...1))
        let reduced = try b.convolution(x, outputs: 6, kernel: .one, activation: .relu, fill: .integers(-1...1))
        let c = try b.convolution(
            reduced, outputs: 7, kernel: Size2D(5, 5), padding: Padding2D(top: 2, left: 2, bottom: 2, right: 2), fill: .integers(-1...1))
        let pooled = try b.add(Pool(.maximum, kernel: Size2D(3, 3), padding: one), x)
        let d = try b.convolution(pooled, outputs: 9, kernel: .one, fill: .integers(-1...1))
        try b.output(try b.add(Concat(axis: 1), a, c, d, x))
    }

    private static let squeezeExcite = OperatorCase("squeeze and excite", kinds: [], tolerance: Tolerance(relative: 1e-5, absolute: 1e-5)) { b in
        let x = try b.input([1, 24, 6, 5], .unit)
        let mean = try b.add(Reduce(.mean, axes: [2, 3]), x)
        let down = try b.convolution(mean, outputs: 6, kernel: .one, activation: .relu, fill: .uniform(-0.5...0.5))
        let up = try b.convolution(down, outputs: 24, kernel: .one, activation: .hardSigmoid(1.0 / 6, 0.5), fill: .uniform(-0.5...0.5))
        try b.output(try b.add(Binary(.multiply), x, up))
    }

    private static let classifierHead = OperatorCase("classifier head", kinds: [], tolerance: Tolerance(relative: 1e-5, absolute: 1e-7)) { b in
        let x = try b.input([1, 32, 7, 7], .unit)
        let mean = try b.add(Reduce(.mean, axes: [2, 3]), x)
        let flat = try b.add(Reshape([1, 32]), mean)
        let weights = try b.constant([21, 32], .uniform(-0.5...0.5))
        let bias = try b.constant([21], .unit)
        let logits = try b.add(Dense(hasBias: true), flat, weights, bias)
        try b.output(try b.add(Softmax(axis: 1), logits))
    }

    private static let flattenHead = OperatorCase("flatten in both orders", kinds: []) { b in
        let x = try b.input([1, 5, 3, 4], .small)
        let conv = try b.convolution(x, outputs: 6, kernel: .one)
        let channelLast = try b.add(Reshape([1, 72]), try b.add(Transpose([0, 2, 3, 1]), conv))
        let channelFirst = try b.add(Reshape([1, 72]), conv)
        let weights = try b.constant([4, 72], .integers(-2...2))
        try b.output(try b.add(Dense(), channelLast, weights))
        try b.output(try b.add(Dense(), channelFirst, weights))
    }

    private static let sharedIntermediate = OperatorCase("a value with several readers", kinds: []) { b in
        let x = try b.input([1, 6, 6, 6], .integers(-2...2))
        let conv = try b.convolution(x, outputs: 6, kernel: Size2D(3, 3), padding: one)
        let relu = try b.add(Unary(.relu), conv)
        let negative = try b.add(Unary(.linear(-1, 0)), conv)
        let sum = try b.add(Binary(.add), relu, negative)
        try b.output(try b.add(Binary(.maximum), sum, conv))
    }

    private static let intermediateOutput = OperatorCase("an output that is read on", kinds: []) { b in
        let x = try b.input([1, 7, 5, 5], .integers(-2...2))
        let conv = try b.convolution(x, outputs: 9, kernel: .one)
        try b.output(conv)
        let relu = try b.add(Unary(.relu), conv)
        try b.output(relu)
        try b.output(try b.convolution(relu, outputs: 3, kernel: .one))
    }

    private static let preprocessing = OperatorCase("preprocessing and a stem", kinds: []) { b in
        let x = try b.input([1, 3, 16, 16], .integers(0...15))
        let scale = try b.constant([3], .values([0.5, 0.25, 2]))
        let bias = try b.constant([3], .values([-1, 2, 0.5]))
        let scaled = try b.add(ChannelAffine(axis: 1), x, scale, bias)
        let padded = try b.add(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 1, 1]), scaled)
        try b.output(try b.convolution(padded, outputs: 8, kernel: Size2D(3, 3), strides: Size2D(2, 2), activation: .clip(0, 6)))
    }

    private static let channelShuffle = OperatorCase("channel shuffle", kinds: []) { b in
        let x = try b.input([1, 12, 5, 5], .integers(-2...2))
        let halves = try b.apply(Split(axis: 1, sizes: [6, 6]), [x])
        let conv = try b.convolution(halves[1], outputs: 6, kernel: .one, activation: .relu)
        let joined = try b.add(Concat(axis: 1), halves[0], conv)
        let grouped = try b.add(Reshape([1, 2, 6, 5, 5]), joined)
        let swapped = try b.add(Transpose([0, 2, 1, 3, 4]), grouped)
        try b.output(try b.convolution(try b.add(Reshape([1, 12, 5, 5]), swapped), outputs: 4, kernel: Size2D(3, 3), groups: 2))
    }

    private static let unfusedReLU6 = OperatorCase("ReLU6 as four layers", kinds: []) { b in
        let x = try b.input([1, 8, 6, 6], .integers(-2...2))
        let conv = try b.convolution(x, outputs: 8, kernel: .one)
        let relu = try b.add(Unary(.relu), conv)
        let negated = try b.add(Unary(.linear(-1, 0)), relu)
        let bounded = try b.add(Unary(.threshold(-6)), negated)
        try b.output(try b.add(Unary(.linear(-1, 0)), bounded))
    }

    private static let regions = OperatorCase("regions of a feature map", kinds: [], tolerance: .float32) { b in
        let x = try b.input([2, 3, 9, 9], .integers(-1...1))
        let boxes = try b.input([3, 5], .values([0, 1, 0.5, 6, 7, 1, 0, 0, 8, 8, -1, 3, 2, 3, 12]))
        let features = try b.convolution(x, outputs: 21, kernel: Size2D(3, 3), padding: one, activation: .relu, fill: .integers(-1...1))
        let crop = CropResize(size: Size2D(4, 5), sampling: .regionAlign, format: .cornersHeightFirst, isNormalized: false)
        let cut = try b.add(crop, features, boxes)
        try b.output(try b.add(Pool(.maximum, kernel: Size2D(2, 2), strides: Size2D(2, 2)), cut))
        try b.output(cut)
    }

    private static let twoInputs = OperatorCase("two inputs, three outputs", kinds: []) { b in
        let x = try b.input([1, 4, 5, 5], .integers(-2...2))
        let y = try b.input([1, 4, 5, 5], .integers(-2...2))
        let sum = try b.add(Binary(.add), x, y)
        let product = try b.add(Binary(.multiply), x, y)
        let conv = try b.convolution(sum, outputs: 4, kernel: Size2D(3, 3), padding: one)
        try b.output(try b.add(Binary(.subtract), conv, product))
        try b.output(product)
        try b.output(try b.add(Reduce(.sum, axes: [1, 2, 3], keepsDimensions: false), sum))
    }
}
