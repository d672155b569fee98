import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    mutating func batchnorm() throws {
        let blob = try input()
        try require(blob.rank >= 3, "expected an input of rank 3 or more, found shape \(blob.dims)")
        let channels = blob.extent(fromBack: -3)
        try check(1, "channels", against: channels)
        let epsilon = try float(10, zeroMeans: 1e-5)
        let gamma = try weightValues(15, "gamma", count: channels)
        let beta = try weightValues(16, "beta", count: channels)
        if try parameters.bool(5) {
            let isInstance = try parameters.bool(6)
            let x = try image(blob)
            let axes = isInstance ? [2, 3] : [0, 2, 3]
            let normal = try add(MeanVarianceNormalization(axes: axes, epsilon: epsilon), x)
            let id = try add(
                ChannelAffine(axis: 1), normal, try constant(gamma, [channels]), try constant(beta, [channels]))
            try define(Blob(id: id, dims: blob.dims))
            return
        }
        let mean = try weightValues(17, "mean", count: channels)
        let variance = try weightValues(18, "variance", count: channels)
        let factors = (0..<channels).map { Double(gamma[$0]) / (Double(variance[$0]) + Double(epsilon)).squareRoot() }
        let offsets = (0..<channels).map { Float(Double(beta[$0]) - Double(mean[$0]) * factors[$0]) }
        let x = try self.channels(blob)
        let id = try add(
            ChannelAffine(axis: 1), x, try constant(factors.map { Float($0) }, [channels]), try constant(offsets, [channels]))
        try define(Blob(id: id, dims: blob.dims))
    }

    mutating func meanVarianceNormalization() throws {
        let blob = try input()
        let x = try image(blob)
        let op = MeanVarianceNormalization(
            axes: try parameters.bool(1) ? [1, 2, 3] : [2, 3], normalizesVariance: try parameters.bool(2),
            epsilon: try float(3, zeroMeans: 1e-6))
        try define(Blob(id: try add(op, x), dims: blob.dims))
    }

    mutating func l2Normalization() throws {
        let blob = try input()
        let op = L2Normalization(axes: [1, 2, 3], epsilon: try float(1, zeroMeans: 1e-6))
        try define(Blob(id: try add(op, try image(blob)), dims: blob.dims))
    }

    mutating func localResponseNormalization() throws {
        let blob = try input()
        let size = try parameters.int(3)
        try require((1...Window.maximumExtent).contains(size), "localSize \(size) is out of range")
        let op = LocalResponseNormalization(
            size: size, alpha: try parameters.float(1), beta: try parameters.float(2), k: try float(4, zeroMeans: 1))
        try define(Blob(id: try add(op, try image(blob)), dims: blob.dims))
    }

    /// Softmax over axis -3.
    mutating func softmax() throws {
        let blob = try input()
        try define(Blob(id: try add(Softmax(axis: 1), try channels(blob)), dims: blob.dims))
    }

    mutating func softmaxND() throws {
        let blob = try input()
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blob.rank)
        if blob.rank >= 3, axis == blob.rank - 3 { return try softmax() }
        try define(Blob(id: try add(Softmax(axis: axis), try exact(blob)), dims: blob.dims))
    }

    /// Normalises the last axes together, then scales and shifts element by element.
    mutating func layerNormalization() throws {
        let blob = try input()
        let shape = try parameters.ints(1, limit: 16)
        try require(
            !shape.isEmpty && shape.count <= blob.rank && Array(blob.dims.suffix(shape.count)) == shape,
            "expected the last extents to be \(shape), found shape \(blob.dims)")
        let axes = (0..<shape.count).map { blob.rank - shape.count + $0 }
        let epsilon = try float(2, zeroMeans: 1e-5)
        var id = try add(MeanVarianceNormalization(axes: axes, epsilon: epsilon), try exact(blob))
        if try parameters.message(3) != nil { id = try add(Binary(.multiply), id, try constant(try weights(3, "gamma", shape))) }
        if try parameters.message(4) != nil { id = try add(Binary(.add), id, try constant(try weights(4, "beta", shape))) }
        try define(Blob(id: id, dims: blob.dims))
    }

    /// The `scale` layer and the `bias` layer: factors and offsets of shape [1], [C], [1, H, W] or [C, H, W].
    mutating func scaleAndBias(scale: (shape: Int, weights: Int)?, bias: (shape: Int, weights: Int)?) throws {
        let blob = try input()
        try require(blob.rank >= 3, "expected an input of rank 3 or more, found shape \(blob.dims)")
        let factors = try scale.map { try pattern($0, "scale", blob) }
        let offsets = try bias.map { try pattern($0, "bias", blob) }
        let channels = blob.extent(fromBack: -3)
        func perChannel(_ tensor: Tensor?, _ standard: Float) -> [Float]? {
            guard let tensor else { return [Float](repeating: standard, count: channels) }
            guard tensor.count == tensor.shape[0] else { return nil }
            let values = tensor.floatArray()
            return values.count == 1 ? [Float](repeating: values[0], count: channels) : values
        }
        if let a = perChannel(factors, 1), let b = perChannel(offsets, 0) {
            let id = try add(
                ChannelAffine(axis: 1), try self.channels(blob), try constant(a, [channels]), try constant(b, [channels]))
            try define(Blob(id: id, dims: blob.dims))
            return
        }
        var id = try image(blob)
        if let factors { id = try add(Binary(.multiply), id, try constant(factors)) }
        if let offsets { id = try add(Binary(.add), id, try constant(offsets)) }
        try define(Blob(id: id, dims: blob.dims))
    }

    /// Factors or offsets as [C or 1, H or 1, W or 1].
    private func pattern(_ fields: (shape: Int, weights: Int), _ name: String, _ blob: Blob) throws -> Tensor {
        let stated = try parameters.ints(fields.shape, limit: 16)
        let dims = stated.count == 1 ? [stated[0], 1, 1] : stated
        let image = blob.dims.suffix(3)
        try require(
            dims.count == 3 && zip(dims, image).allSatisfy { $0 == 1 || $0 == $1 },
            "expected a \(name) of shape [1], [C], [1, H, W] or [C, H, W] for \(Array(image)), found \(stated)")
        return try weights(fields.weights, name, dims)
    }
}
