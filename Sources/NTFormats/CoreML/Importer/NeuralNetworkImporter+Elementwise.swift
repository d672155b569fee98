import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// Combines two inputs or more, from left to right; with one, combines it with the parameter `alpha` where the layer has that.
    mutating func combine(_ function: BinaryFunction, alphaField: Int? = nil) throws {
        let blobs = try inputs(1...4096)
        if blobs.count == 1 {
            guard let alphaField else {
                try define(blobs[0])
                return
            }
            let alpha = try parameters.float(alphaField)
            let id: ValueID
            switch function {
            case .add: id = try add(Unary(.linear(1, alpha)), blobs[0].id)
            case .multiply: id = try add(Unary(.linear(alpha, 0)), blobs[0].id)
            default: id = try add(Binary(function), blobs[0].id, try scalar(alpha))
            }
            try define(Blob(id: id, dims: blobs[0].dims))
            return
        }
        try define(try folded(blobs, function))
    }

    private mutating func folded(_ blobs: [Blob], _ function: BinaryFunction) throws -> Blob {
        let dims = try broadcastDims(blobs)
        let values = try broadcastable(blobs)
        var id = values[0]
        for value in values.dropFirst() { id = try add(Binary(function), id, value) }
        return Blob(id: id, dims: dims)
    }

    /// Exactly two inputs, or one and the parameter `alpha`.
    mutating func compare(_ function: BinaryFunction, alphaField: Int) throws {
        _ = try inputs(1...2)
        try combine(function, alphaField: alphaField)
    }

    /// Exactly two inputs.
    mutating func binary(_ function: BinaryFunction) throws {
        try define(try folded(try inputs(2...2), function))
    }

    mutating func average() throws {
        let blobs = try inputs(1...4096)
        let sum = try folded(blobs, .add)
        try define(Blob(id: try add(Unary(.linear(1 / Float(blobs.count), 0)), sum.id), dims: sum.dims))
    }

    /// condition != 0 ? a : b
    mutating func select() throws {
        let blobs = try inputs(3...3)
        let values = try broadcastable(blobs)
        try define(Blob(id: try add(Select(), values[0], values[1], values[2]), dims: try broadcastDims(blobs)))
    }

    /// The product of two vectors along the channels; of their directions for cosine similarity.
    mutating func dot() throws {
        let blobs = try inputs(2...2)
        try require(
            blobs[0].dims == blobs[1].dims && blobs[0].rank >= 3 && blobs[0].dims.suffix(2) == [1, 1],
            "expected two inputs of one shape with last extents 1, 1, found \(blobs[0].dims) and \(blobs[1].dims)")
        var (a, b) = (try image(blobs[0]), try image(blobs[1]))
        if try parameters.bool(1) {
            // Keeps zero vectors from dividing by zero; far below what float32 vectors of any other length square to.
            let op = L2Normalization(axes: [1], epsilon: 1e-30)
            (a, b) = (try add(op, a), try add(op, b))
        }
        let product = try add(Binary(.multiply), a, b)
        try define(imageResult(try add(Reduce(.sum, axes: [1]), product), like: blobs[0]))
    }

    mutating func batchedMatMul() throws {
        let blobs = try inputs(1...2)
        if blobs.count == 1 {
            let blob = blobs[0]
            try require(blob.rank >= 1, "expected an input of rank 1 or more")
            let (depth, outputs) = (try parameters.int(5), try parameters.int(6))
            try require(blob.dims.last == depth, "expected \(depth) input features, found shape \(blob.dims)")
            // The matrix [depth, outputs] is stored column by column, which is [outputs, depth] row by row.
            let w = try constant(try weights(8, "weights", [outputs, depth]))
            let x = try exact(blob)
            let id: ValueID
            if try parameters.bool(7) {
                id = try add(Dense(hasBias: true), x, w, try constant(try weights(9, "biases", [outputs])))
            } else {
                id = try add(Dense(), x, w)
            }
            try define(Blob(id: id, dims: blob.dims.dropLast() + [outputs]))
            return
        }
        var (a, b) = (try exact(blobs[0]), try exact(blobs[1]))
        try require(blobs.allSatisfy { $0.rank >= 1 }, "expected inputs of rank 1 or more")
        if blobs[0].rank == 1 { a = try reshape(a, [1, blobs[0].dims[0]]) }
        if blobs[1].rank == 1 { b = try reshape(b, [blobs[1].dims[0], 1]) }
        let id = try add(MatMul(transposeA: try parameters.bool(1), transposeB: try parameters.bool(2)), a, b)
        try define(Blob(id: id, dims: builder.shape(id).dims))
    }
}
