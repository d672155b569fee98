import NTGraph
import NTTensor

// Layers that change shapes, for any rank. Shapes are known while the graph is built; a shape that depends on the network's inputs is
// refused.
extension NeuralNetworkImporter {
    /// Names a result whose graph shape is the blob's.
    mutating func defineExact(_ id: ValueID, output index: Int = 0) throws {
        try define(Blob(id: id, dims: builder.shape(id).dims), output: index)
    }

    /// Names the blob's elements under another shape.
    private mutating func defineReshaped(_ blob: Blob, _ dims: [Int]) throws {
        try define(Blob(id: try reshape(try exact(blob), dims), dims: dims))
    }

    /// Axes counted from the front, each once, sorted.
    private func axes(_ values: [Int], rank: Int) throws -> [Int] {
        let result = try values.map { try OperatorError.normalizedAxis($0, rank: rank) }
        try require(Set(result).count == result.count, "an axis of \(values) stands twice")
        return result.sorted()
    }

    mutating func squeeze() throws {
        let blob = try input()
        let removed =
            try parameters.bool(2)
            ? blob.dims.indices.filter { blob.dims[$0] == 1 } : try axes(try parameters.ints(1, limit: 16), rank: blob.rank)
        for axis in removed { try require(blob.dims[axis] == 1, "axis \(axis) of shape \(blob.dims) is not 1") }
        let dims = blob.dims.indices.filter { !removed.contains($0) }.map { blob.dims[$0] }
        try defineReshaped(blob, dims.isEmpty ? [1] : dims)
    }

    mutating func expandDims() throws {
        let blob = try input()
        let stated = try parameters.ints(1, limit: 16)
        let rank = blob.rank + stated.count
        let added = try axes(stated, rank: rank)
        var source = blob.dims.makeIterator()
        try defineReshaped(blob, (0..<rank).map { added.contains($0) ? 1 : source.next() ?? 1 })
    }

    mutating func flattenTo2D() throws {
        let blob = try input()
        let stated = try parameters.int(1)
        let axis = stated < 0 ? stated + blob.rank : stated
        try require((0...blob.rank).contains(axis), "axis \(stated) lies outside rank \(blob.rank)")
        try defineReshaped(blob, [blob.dims[..<axis].reduce(1, *), blob.dims[axis...].reduce(1, *)])
    }

    /// A target with at most one -1, and 0 for "as the input" where `keepsZeros`, made concrete.
    private func resolved(_ target: [Int], for blob: Blob, keepsZeros: Bool) throws -> [Int] {
        var dims = target
        try require(dims.count <= Shape.maximumRank, "expected up to \(Shape.maximumRank) extents, found \(dims.count)")
        if keepsZeros {
            try require(dims.count == blob.rank, "expected \(blob.rank) extents, found \(target)")
            for axis in dims.indices where dims[axis] == 0 { dims[axis] = blob.dims[axis] }
        }
        let open = dims.indices.filter { dims[$0] == -1 }
        try require(open.count <= 1 && dims.allSatisfy { $0 >= -1 }, "target shape \(target) is not understood")
        let count = blob.dims.reduce(1, *)
        let known = try Shape(checking: dims.filter { $0 != -1 }).count
        if let axis = open.first {
            try require(known > 0 && count % known == 0, "target shape \(target) does not divide the \(count) elements of \(blob.dims)")
            dims[axis] = count / known
        } else if known != count, batch > 1, dims.first == 1, known == count / batch, blob.dims.first == batch {
            // A shape written for one image: its leading 1 is the batch.
            dims[0] = batch
        } else {
            try require(known == count, "expected a target of \(count) elements for shape \(blob.dims), found \(target)")
        }
        return dims
    }

    mutating func reshapeStatic(keepsZeros: Bool) throws {
        let blob = try input()
        try defineReshaped(blob, try resolved(try parameters.ints(1, limit: 64), for: blob, keepsZeros: keepsZeros))
    }

    mutating func reshapeDynamic() throws {
        let inputs = try inputs(2...2)
        let target = try knownInts(inputs[1], "the target shape")
        try defineReshaped(inputs[0], try resolved(target, for: inputs[0], keepsZeros: target.contains(0) && target.count == inputs[0].rank))
    }

    mutating func reshapeLike() throws {
        let inputs = try inputs(2...2)
        try defineReshaped(inputs[0], inputs[1].dims)
    }

    mutating func transpose() throws {
        let blob = try input()
        let axes = try parameters.ints(1, limit: 16)
        try defineExact(try add(Transpose(axes), try exact(blob)))
    }

    mutating func tile() throws {
        let inputs = try inputs(1...2)
        let repeats = inputs.count == 2 ? try knownInts(inputs[1], "the number of repeats") : try parameters.ints(1, limit: 16)
        // A short list is for the last axes.
        let missing = max(0, inputs[0].rank - repeats.count)
        try defineExact(try add(Tile([Int](repeating: 1, count: missing) + repeats), try exact(inputs[0])))
    }

    /// A tensor of one value.
    mutating func fill(_ dims: [Int]) throws {
        let value = try scalar(try parameters.float(1))
        try defineExact(try add(BroadcastTo(try Shape(checking: dims)), value))
    }

    mutating func broadcast(to dims: [Int], _ blob: Blob) throws {
        try defineExact(try add(BroadcastTo(try Shape(checking: dims)), try exact(blob)))
    }

    mutating func getShape() throws {
        let blob = try input()
        try defineExact(try constant(blob.dims.map { Float($0) }, [blob.rank]))
    }

    /// start, start + step, ... below end, from the parameters and the inputs (end, start, step).
    mutating func range(isStatic: Bool) throws {
        let inputs = try inputs(0...3)
        func value(_ index: Int, _ field: Int?) throws -> Double {
            guard index < inputs.count else { return Double(try field.map { try parameters.float($0) } ?? 0) }
            let values = try known(inputs[index], "the range")
            try require(values.count == 1, "expected a scalar, found shape \(inputs[index].dims)")
            return Double(values[0])
        }
        let (end, start, step) = (try value(0, isStatic ? 1 : nil), try value(1, 2), try value(2, 3))
        try require(isStatic || !inputs.isEmpty, "expected the end as input")
        let steps = ((end - start) / step).rounded(.up)
        try require(step != 0 && steps.isFinite && steps <= Double(GraphBuilder.maximumFoldedCount), "range \(start) to \(end) by \(step)")
        let count = max(0, Int(steps))
        try defineExact(try constant((0..<count).map { Float(start + Double($0) * step) }, [count]))
    }

    mutating func concatND() throws {
        let blobs = try inputs(1...4096)
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blobs[0].rank)
        guard try parameters.bool(2) else {
            try require(
                blobs.allSatisfy { $0.rank == blobs[0].rank }, "expected inputs of one rank, found shapes \(blobs.map(\.dims))")
            try define(try joined(blobs, axis: axis))
            return
        }
        // Interleaved: the inputs' first slices, then their second ones.
        try require(
            blobs.allSatisfy { $0.dims == blobs[0].dims }, "interleaving needs inputs of one shape, found \(blobs.map(\.dims))")
        var dims = blobs[0].dims
        let pieces = try blobs.map { try reshape(try exact($0), dims[...axis] + [1] + dims[(axis + 1)...]) }
        let id = try builder.apply(Concat(axis: axis + 1), pieces, layer: current.name)[0]
        dims[axis] *= blobs.count
        try defineExact(try reshape(id, dims))
    }

    mutating func stack() throws {
        let blobs = try inputs(1...4096)
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blobs[0].rank + 1)
        try require(blobs.allSatisfy { $0.dims == blobs[0].dims }, "expected inputs of one shape, found \(blobs.map(\.dims))")
        let dims = blobs[0].dims[..<axis] + [1] + blobs[0].dims[axis...]
        let pieces = try blobs.map { try reshape(try exact($0), Array(dims)) }
        try defineExact(try builder.apply(Concat(axis: axis), pieces, layer: current.name)[0])
    }

    mutating func splitND() throws {
        let blob = try input()
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blob.rank)
        let extent = blob.dims[axis]
        var sizes = try parameters.ints(3)
        if sizes.isEmpty {
            let stated = try parameters.int(2)
            let count = stated == 0 ? current.outputs.count : stated
            try require(count >= 1 && count <= max(1, extent) && extent % count == 0, "\(count) parts do not divide extent \(extent)")
            sizes = [Int](repeating: extent / count, count: count)
        }
        try require(current.outputs.count == sizes.count, "expected \(sizes.count) outputs, found \(current.outputs.count)")
        let ids = try builder.apply(Split(axis: axis, sizes: sizes), [try exact(blob)], layer: current.name)
        for (index, id) in ids.enumerated() { try defineExact(id, output: index) }
    }

    mutating func constantPad() throws {
        let inputs = try inputs(1...2)
        let blob = inputs[0]
        let amounts =
            inputs.count == 2 ? try knownInts(inputs[1], "the padding") : try parameters.ints(2, limit: 64)
        try require(
            amounts.count == 2 * blob.rank && amounts.allSatisfy { (0...Shape.maximumCount).contains($0) },
            "expected \(2 * blob.rank) padding amounts for shape \(blob.dims), found \(amounts)")
        let toSize = try parameters.bool(3)
        var (before, after) = ([Int](), [Int]())
        for axis in 0..<blob.rank {
            let (low, high) = (amounts[2 * axis], amounts[2 * axis + 1])
            if toSize, low > 0 || high > 0 {
                // One of the two is the extent after padding, which is added on that side.
                try require(low == 0 || high == 0, "axis \(axis) states two output extents, \(low) and \(high)")
                let extra = max(low, high) - blob.dims[axis]
                try require(extra >= 0, "expected an output extent of \(blob.dims[axis]) or more, found \(max(low, high))")
                before.append(low > 0 ? extra : 0)
                after.append(high > 0 ? extra : 0)
            } else {
                before.append(low)
                after.append(high)
            }
        }
        try defineExact(try add(Pad(.constant(try parameters.float(1)), before: before, after: after), try exact(blob)))
    }
}
