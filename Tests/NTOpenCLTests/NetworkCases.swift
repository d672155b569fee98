import NTGraph
import NTTensor

/// Image networks with random weights, batch normalisation folded and activations fused, as the passes leave them.
struct NetworkBuilder {
    var builder: GraphBuilder
    var numbers: SeededNumbers
    private var layers = 0

    init(_ name: String, seed: UInt64 = 7) {
        builder = GraphBuilder(name: name)
        numbers = SeededNumbers(seed)
    }

    private mutating func weights(_ shape: Shape) throws -> ValueID {
        // He's scale keeps the activations' size from layer to layer.
        let bound = (6 / Float(shape.dims[1...].reduce(1, *))).squareRoot()
        return try builder.constant(try numbers.tensor(shape, -bound, bound))
    }

    mutating func convolution(
        _ x: ValueID, _ outputs: Int, kernel: Int = 1, stride: Int = 1, padding: Padding2D? = nil, depthwise: Bool = false,
        residual: ValueID? = nil, activation: UnaryFunction = .relu
    ) throws -> ValueID {
        layers += 1
        let channels = builder.shape(x)[1]
        let half = kernel / 2
        let pad = padding ?? Padding2D(top: half, left: half, bottom: half, right: half)
        let w = try weights([outputs, depthwise ? 1 : channels, kernel, kernel])
        let bias = try builder.constant(try numbers.tensor([outputs], -0.1, 0.1))
        let op = Convolution(
            strides: Size2D(stride, stride), padding: pad, groups: depthwise ? channels : 1, hasBias: true, hasResidual: residual != nil,
            activation: activation)
        return try builder.apply(op, [x, w, bias] + (residual.map { [$0] } ?? []), layer: "convolution\(layers)")[0]
    }

    mutating func classifier(_ x: ValueID, classes: Int) throws -> Graph {
        let pooled = try builder.add(Reduce(.mean, axes: [2, 3]), x, layer: "pool")
        let flat = try builder.add(Reshape([builder.shape(x)[0], builder.shape(x)[1]]), pooled, layer: "flatten")
        let w = try weights([classes, builder.shape(x)[1]])
        let bias = try builder.constant(try numbers.tensor([classes], -0.1, 0.1))
        let logits = try builder.add(Dense(hasBias: true), flat, w, bias, layer: "dense")
        try builder.output(logits, name: "logits")
        try builder.output(try builder.add(Softmax(axis: 1), logits, layer: "softmax"), name: "probabilities")
        return builder.graph
    }
}

enum NetworkCases {
    private static let tail = Padding2D(top: 0, left: 0, bottom: 1, right: 1)

    /// MobileNet v1 with Keras' strided padding.
    static func mobileNetV1(size: Int = 224, alpha: Double = 1, classes: Int = 1000, batch: Int = 1) throws -> Graph {
        var net = NetworkBuilder("MobileNet v1")
        func width(_ channels: Int) -> Int { Int(Double(channels) * alpha) }
        let image = net.builder.input("image", .float32([batch, 3, size, size]))
        var x = try net.convolution(image, width(32), kernel: 3, stride: 2, padding: tail, activation: .clip(0, 6))
        let blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + Array(repeating: (512, 1), count: 5) + [(1024, 2), (1024, 1)]
        for (channels, stride) in blocks {
            let own = net.builder.shape(x)[1]
            x = try net.convolution(
                x, own, kernel: 3, stride: stride, padding: stride == 2 ? tail : nil, depthwise: true, activation: .clip(0, 6))
            x = try net.convolution(x, width(channels), activation: .clip(0, 6))
        }
        return try net.classifier(x, classes: classes)
    }

    /// MobileNet v2: inverted residuals.
    static func mobileNetV2(size: Int = 224, classes: Int = 1000, depth: Int = 7) throws -> Graph {
        var net = NetworkBuilder("MobileNet v2")
        let image = net.builder.input("image", .float32([1, 3, size, size]))
        var x = try net.convolution(image, 32, kernel: 3, stride: 2, activation: .clip(0, 6))
        let settings = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
        for (expansion, channels, count, firstStride) in settings.prefix(depth) {
            for index in 0..<count {
                let own = net.builder.shape(x)[1]
                let stride = index == 0 ? firstStride : 1
                var y = x
                if expansion > 1 { y = try net.convolution(y, own * expansion, activation: .clip(0, 6)) }
                y = try net.convolution(y, own * expansion, kernel: 3, stride: stride, depthwise: true, activation: .clip(0, 6))
                x = try net.convolution(y, channels, residual: stride == 1 && own == channels ? x : nil, activation: .identity)
            }
        }
        x = try net.convolution(x, 1280, activation: .clip(0, 6))
        return try net.classifier(x, classes: classes)
    }

    /// The emotion network: separable convolutions with pooled residuals.
    static func miniXception(size: Int = 64) throws -> Graph {
        var net = NetworkBuilder("mini-Xception")
        let image = net.builder.input("image", .float32([1, 1, size, size]))
        var x = try net.convolution(image, 8, kernel: 3, padding: .zero)
        x = try net.convolution(x, 8, kernel: 3, padding: .zero)
        for channels in [16, 32, 64, 128] {
            let side = try net.convolution(x, channels, stride: 2, activation: .identity)
            var y = try net.convolution(x, net.builder.shape(x)[1], kernel: 3, depthwise: true, activation: .identity)
            y = try net.convolution(y, channels)
            y = try net.convolution(y, channels, kernel: 3, depthwise: true, activation: .identity)
            y = try net.convolution(y, channels, activation: .identity)
            let even = net.builder.shape(y)[2] % 2 == 0
            let padding = even ? tail : Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let op = Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: padding)
            let pooled = try net.builder.add(op, y, layer: "pool\(channels)")
            x = try net.builder.add(Binary(.add), pooled, side, layer: "add\(channels)")
        }
        x = try net.convolution(x, 7, kernel: 3, activation: .identity)
        let mean = try net.builder.add(Reduce(.mean, axes: [2, 3]), x, layer: "mean")
        try net.builder.output(try net.builder.add(Softmax(axis: 1), mean, layer: "softmax"), name: "emotions")
        return net.builder.graph
    }

    /// Fire modules: joined branches.
    static func squeezeNet(size: Int = 224, classes: Int = 1000) throws -> Graph {
        var net = NetworkBuilder("SqueezeNet 1.1")
        let image = net.builder.input("image", .float32([1, 3, size, size]))
        var x = try net.convolution(image, 64, kernel: 3, stride: 2, padding: .zero)
        let pool = Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2))
        for (index, (squeeze, expand)) in [(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)].enumerated() {
            if [0, 2, 4].contains(index) { x = try net.builder.add(pool, x, layer: "pool\(index)") }
            let squeezed = try net.convolution(x, squeeze)
            let (a, b) = (try net.convolution(squeezed, expand), try net.convolution(squeezed, expand, kernel: 3))
            x = try net.builder.add(Concat(axis: 1), a, b, layer: "join\(index)")
        }
        return try net.classifier(try net.convolution(x, classes), classes: classes)
    }

    /// ResNet-50's bottlenecks.
    static func resNet50(size: Int = 224, classes: Int = 1000, stages: Int = 4) throws -> Graph {
        var net = NetworkBuilder("ResNet-50")
        let image = net.builder.input("image", .float32([1, 3, size, size]))
        var x = try net.convolution(image, 64, kernel: 7, stride: 2)
        let pool = Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: Padding2D(top: 1, left: 1, bottom: 1, right: 1))
        x = try net.builder.add(pool, x, layer: "pool")
        for (stage, (channels, count)) in [(64, 3), (128, 4), (256, 6), (512, 3)].prefix(stages).enumerated() {
            for block in 0..<count {
                let stride = block == 0 && stage > 0 ? 2 : 1
                let side = block == 0 ? try net.convolution(x, channels * 4, stride: stride, activation: .identity) : x
                var y = try net.convolution(x, channels)
                y = try net.convolution(y, channels, kernel: 3, stride: stride)
                x = try net.convolution(y, channels * 4, residual: side)
            }
        }
        return try net.classifier(x, classes: classes)
    }
}
