import NTGraph
import NTTensor

// The layers of the older, image-shaped world: they know Seq, B, C, H and W.
extension NeuralNetworkImporter {
    /// Everything of one image on the channel axis, in the order C H W or H W C.
    mutating func flatten() throws {
        let blob = try input()
        var id = try image(blob)
        let dims = builder.shape(id).dims
        if try parameters.int(1) == 1 { id = try add(Transpose([0, 2, 3, 1]), id) }
        let count = dims[1] * dims[2] * dims[3]
        try define(Blob(id: try reshape(id, [dims[0], count]), dims: blob.dims.dropLast(3) + [count, 1, 1]))
    }

    /// Images of another shape, [C, H, W] or [Seq, C, H, W], filled in the order C H W or H W C.
    mutating func legacyReshape() throws {
        let blob = try input()
        let target = try parameters.ints(1, limit: 16)
        try require(
            (target.count == 3 || target.count == 4) && target.allSatisfy { $0 > 0 },
            "expected a target of 3 or 4 positive extents, found \(target)")
        let x = try image(blob)
        let shape = builder.shape(x)
        let goal = Array(target.suffix(3))
        var lead = Array(blob.dims.dropLast(3))
        if target.count == 4, let position = lead.indices.first {
            let others = lead[1...].reduce(1, *)
            try require(
                lead[position] == target[0] || others == 1, "a new sequence length needs a batch of 1, found shape \(blob.dims)")
            lead[position] = target[0]
        }
        let total = try Shape(checking: lead + goal)
        try require(
            total.count == shape.count, "expected a target of \(shape.count) elements for shape \(blob.dims), found \(lead + goal)")
        let rows = lead.reduce(1, *)
        var id = x
        if try parameters.int(2) == 1 {
            id = try add(Transpose([0, 2, 3, 1]), id)
            id = try reshape(id, [rows, goal[1], goal[2], goal[0]])
            id = try add(Transpose([0, 3, 1, 2]), id)
        } else {
            id = try reshape(id, [rows] + goal)
        }
        try define(Blob(id: id, dims: lead + goal))
    }

    /// Permutes Seq, C, H, W; the batch stays where it is.
    mutating func permute() throws {
        let blob = try input()
        let stated = try parameters.ints(1, limit: 16)
        let axes = stated.isEmpty ? [0, 1, 2, 3] : stated
        try require(axes.sorted() == [0, 1, 2, 3], "expected a permutation of 0, 1, 2, 3, found \(axes)")
        if axes[0] == 0 {
            let id = axes == [0, 1, 2, 3] ? try image(blob) : try add(Transpose(axes), try image(blob))
            try define(imageResult(id, like: blob))
            return
        }
        try require(blob.rank == 5, "moving the sequence axis needs an input of rank 5, found shape \(blob.dims)")
        // Seq, C, H, W are axes 0, 2, 3, 4 of the rank-5 shape.
        let full = axes.map { $0 == 0 ? 0 : $0 + 1 }
        let id = try add(Transpose([full[0], 1] + full[1...]), try exact(blob))
        try define(Blob(id: id, dims: builder.shape(id).dims))
    }

    /// Joins along the channels, or along the sequence.
    mutating func concat() throws {
        let blobs = try inputs(1...4096)
        let rank = blobs[0].rank
        try require(blobs.allSatisfy { $0.rank == rank }, "expected inputs of one rank, found shapes \(blobs.map(\.dims))")
        if try parameters.bool(100) {
            try require(rank >= 5, "joining sequences needs inputs of rank 5, found shape \(blobs[0].dims)")
            try define(try joined(blobs, axis: rank - 5))
        } else {
            try require(rank >= 3, "expected inputs of rank 3 or more, found shape \(blobs[0].dims)")
            try define(try joined(blobs, axis: rank - 3))
        }
    }

    /// The blobs joined along an axis, as images where that is the channels.
    mutating func joined(_ blobs: [Blob], axis: Int) throws -> Blob {
        if let first = blobs.first, axis == first.rank - 3, areImagesOfOneLead(blobs) {
            let id = try builder.apply(Concat(axis: 1), try blobs.map { try image($0) }, layer: current.name)[0]
            return imageResult(id, like: first)
        }
        let id = try builder.apply(Concat(axis: axis), try blobs.map { try exact($0) }, layer: current.name)[0]
        return Blob(id: id, dims: builder.shape(id).dims)
    }

    /// Cuts the channels into equal parts.
    mutating func split() throws {
        let blob = try input()
        let x = try image(blob)
        let (count, channels) = (try parameters.int(1), builder.shape(x)[1])
        try require(
            count >= 1 && count <= max(1, channels) && channels % count == 0, "\(count) parts do not divide \(channels) channels")
        let sizes = [Int](repeating: channels / count, count: count)
        try require(current.outputs.count == count, "expected \(count) outputs, found \(current.outputs.count)")
        for (index, id) in try builder.apply(Split(axis: 1, sizes: sizes), [x], layer: current.name).enumerated() {
            try define(imageResult(id, like: blob), output: index)
        }
    }

    mutating func sequenceRepeat() throws {
        let blob = try input()
        try require(blob.rank >= 5, "expected an input of rank 5, found shape \(blob.dims)")
        let count = max(1, try parameters.int(1))
        var repeats = [Int](repeating: 1, count: blob.rank)
        repeats[blob.rank - 5] = count
        let id = try add(Tile(repeats), try exact(blob))
        try define(Blob(id: id, dims: builder.shape(id).dims))
    }

    /// Part of an axis: start inclusive, end exclusive, negative ones from the back. An end of -1 leaves the last element out.
    mutating func legacySlice() throws {
        let blob = try input()
        let number = try parameters.int(4)
        try require((0...2).contains(number), "slice axis \(number) is unknown")
        let axis = blob.rank - 3 + number
        try require(axis >= 0, "expected an input of rank \(3 - number) or more, found shape \(blob.dims)")
        let extent = blob.dims[axis]
        let stride = max(1, try parameters.int(3))
        func place(_ index: Int) -> Int { min(max(index < 0 ? index + extent : index, 0), extent) }
        let (start, end) = (place(try parameters.int(1)), place(try parameters.int(2)))
        try require(start < end, "the slice from \(start) to \(end) of extent \(extent) is empty")
        let count = (end - start - 1) / stride + 1
        let isImage = blob.rank >= 4
        let x = isImage ? try image(blob) : try exact(blob)
        let dims = builder.shape(x).dims
        let position = dims.count - 3 + number
        var (begins, extents, strides) = (dims.map { _ in 0 }, dims, dims.map { _ in 1 })
        (begins[position], extents[position], strides[position]) = (start, count, stride)
        let id = try add(Slice(begins: begins, extents: extents, strides: strides), x)
        try define(isImage ? imageResult(id, like: blob) : Blob(id: id, dims: extents))
    }

    /// Combines the elements along C, H, W, H and W, or all three; their extents become 1.
    mutating func legacyReduce() throws {
        let blob = try input()
        let axes: [Int]
        switch try parameters.int(3) {
        case 0: axes = [-3, -2, -1]
        case 1: axes = [-2, -1]
        case 2: axes = [-3]
        case 3: axes = [-2]
        case 4: axes = [-1]
        case let other: throw failure("reduction axis \(other) is unknown")
        }
        try require(blob.rank >= -axes[0], "expected an input of rank \(-axes[0]) or more, found shape \(blob.dims)")
        let functions: [Reduce.Function] = [.sum, .mean, .product, .sumLog, .sumSquare, .l1, .l2, .maximum, .minimum]
        let mode = try parameters.int(1)
        let op: any Operator
        if mode == 9 {
            try require(axes.count == 1, "the index of the largest element needs one axis")
            op = ArgReduce(axis: axes[0])
        } else {
            try require(functions.indices.contains(mode), "reduction \(mode) is unknown")
            op = Reduce(functions[mode], axes: axes, keepsDimensions: true, epsilon: try float(2, zeroMeans: 1e-6))
        }
        let isImage = blob.rank >= 4
        let id = try add(op, isImage ? try image(blob) : try exact(blob))
        try define(isImage ? imageResult(id, like: blob) : Blob(id: id, dims: builder.shape(id).dims))
    }

    mutating func loadConstant(isND: Bool) throws {
        _ = try inputs(0...0)
        let dims = try parameters.ints(1, limit: 16)
        try require(
            isND || dims.count == 3, "expected a shape of 3 extents, found \(dims)")
        let id = try constant(try weights(2, "values", dims))
        if isND {
            try define(Blob(id: id, dims: dims))
        } else {
            try define(Blob(id: try reshape(id, [1] + dims), dims: [1, 1] + dims))
        }
    }
}
