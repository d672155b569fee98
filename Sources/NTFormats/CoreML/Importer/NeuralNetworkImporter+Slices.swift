import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// NumPy's slices along every axis, with masks for open ends and for axes to drop.
    mutating func slice(isStatic: Bool) throws {
        let inputs = try isStatic ? inputs(1...1) : inputs(2...7)
        let blob = inputs[0]
        // The dynamic layer's further inputs: begins, then ends, strides and the three masks.
        func list(_ index: Int, _ field: Int, _ name: String) throws -> [Int] {
            if !isStatic, index < inputs.count { return try knownInts(inputs[index], name) }
            return field == 0 ? [] : try parameters.ints(field, limit: 64)
        }
        let begins = try list(1, isStatic ? 1 : 0, "the slice's begin")
        let ends = try list(2, 3, "the slice's end")
        let strides = try list(3, 5, "the slice's stride")
        let beginMask = try list(4, 2, "the slice's begin mask")
        let endMask = try list(5, 4, "the slice's end mask")
        let squeezeMask = try list(6, 6, "the slice's squeeze mask")
        let rank = blob.rank
        for (name, values) in [("begins", begins), ("ends", ends), ("strides", strides)] {
            try require(values.count == rank || (values.isEmpty && name == "strides"), "expected \(rank) \(name), found \(values.count)")
        }
        var (starts, extents, steps) = ([Int](), [Int](), [Int]())
        var kept: [Int] = []
        for axis in 0..<rank {
            func isMasked(_ mask: [Int]) -> Bool { axis < mask.count && mask[axis] != 0 }
            let step = strides.isEmpty ? 1 : strides[axis]
            try require(step != 0 && step.magnitude <= UInt(Shape.maximumCount), "stride \(step) of axis \(axis) is out of range")
            if isMasked(squeezeMask) {
                let start = begins[axis] < 0 ? begins[axis] + blob.dims[axis] : begins[axis]
                try require((0..<blob.dims[axis]).contains(start), "index \(begins[axis]) lies outside extent \(blob.dims[axis])")
                starts.append(start)
                extents.append(1)
                steps.append(1)
                continue
            }
            let (start, count) = Self.span(
                isMasked(beginMask) ? nil : begins[axis], isMasked(endMask) ? nil : ends[axis], step: step, extent: blob.dims[axis])
            try require(count > 0, "the slice of axis \(axis) (extent \(blob.dims[axis])) is empty")
            starts.append(start)
            extents.append(count)
            steps.append(step)
            kept.append(count)
        }
        let id = try add(Slice(begins: starts, extents: extents, strides: steps), try exact(blob))
        try defineExact(try reshape(id, kept.isEmpty ? [1] : kept))
    }

    /// The first index and the number of elements of a NumPy slice; nil stands for an open end.
    private static func span(_ begin: Int?, _ end: Int?, step: Int, extent: Int) -> (start: Int, count: Int) {
        let (low, high) = step > 0 ? (0, extent) : (-1, extent - 1)
        func place(_ index: Int) -> Int {
            let absolute = index < 0 ? index.addingReportingOverflow(extent).partialValue : index
            return min(max(absolute, low), high)
        }
        let start = begin.map(place) ?? (step > 0 ? low : high)
        let stop = end.map(place) ?? (step > 0 ? high : low)
        let distance = step > 0 ? stop - start : start - stop
        let stride = Int(step.magnitude)
        return (start, distance <= 0 ? 0 : (distance - 1) / stride + 1)
    }

    /// `size` elements along an axis from a place that the second input gives.
    mutating func sliceBySize() throws {
        let inputs = try inputs(2...2)
        let blob = inputs[0]
        let axis = try OperatorError.normalizedAxis(try parameters.int(3), rank: blob.rank)
        let size = try parameters.int(2)
        try require((1...max(1, blob.dims[axis])).contains(size), "size \(size) lies outside extent \(blob.dims[axis])")
        try require(inputs[1].dims.reduce(1, *) == 1, "expected a scalar as second input, found shape \(inputs[1].dims)")
        let steps = try constant((0..<size).map { Float($0) }, [size])
        let indices = try add(Binary(.add), try reshape(inputs[1].id, [1]), steps)
        try defineExact(try add(Gather(axis: axis), try exact(blob), indices))
    }

    mutating func reverse() throws {
        let blob = try input()
        let flags = try parameters.ints(1, limit: 64)
        try require(flags.count == blob.rank, "expected \(blob.rank) flags for shape \(blob.dims), found \(flags.count)")
        try defineExact(try add(Reverse(axes: flags.indices.filter { flags[$0] != 0 }), try exact(blob)))
    }

    mutating func reverseSequence() throws {
        let inputs = try inputs(2...2)
        let lengths = try reshape(inputs[1].id, [inputs[1].dims.reduce(1, *)])
        let op = ReverseSequence(batchAxis: try parameters.int(1), sequenceAxis: try parameters.int(2))
        try defineExact(try add(op, try exact(inputs[0]), lengths))
    }

    mutating func gather() throws {
        let inputs = try inputs(2...2)
        try defineExact(try add(Gather(axis: try parameters.int(1)), try exact(inputs[0]), try exact(inputs[1])))
    }

    /// Gathering with two inputs, scattering with three.
    mutating func address(_ op: any Operator, count: Int) throws {
        let values = try inputs(count...count).map { try exact($0) }
        try defineExact(try builder.apply(op, values, layer: current.name)[0])
    }

    func scatterMode(_ field: Int) throws -> Scatter.Mode {
        let number = try parameters.int(field)
        guard let mode = Scatter.Mode(rawValue: number) else { throw failure("scatter mode \(number) is unknown") }
        return mode
    }

    /// All windows of one size along an axis: its extent becomes (number of windows, size).
    mutating func slidingWindows() throws {
        let blob = try input()
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blob.rank)
        let (size, step) = (try parameters.int(2), try parameters.int(3))
        try require(
            size >= 1 && step >= 1 && size <= blob.dims[axis], "windows of \(size) by \(step) do not fit extent \(blob.dims[axis])")
        let count = (blob.dims[axis] - size) / step + 1
        let shape = try Shape(checking: [count, size])
        try require(shape.count <= GraphBuilder.maximumFoldedCount, "\(count) windows of \(size) are too many")
        let indices = (0..<count).flatMap { window in (0..<size).map { Float(window * step + $0) } }
        try defineExact(try add(Gather(axis: axis), try exact(blob), try constant(indices, shape.dims)))
    }

    mutating func topK() throws {
        let inputs = try inputs(1...2)
        var k = try parameters.int(2)
        if inputs.count == 2 {
            let values = try knownInts(inputs[1], "K")
            try require(values.count == 1, "expected one K, found \(values.count)")
            k = values[0]
        }
        let op = TopK(k: k, axis: try parameters.int(1), isSmallest: try parameters.bool(3))
        let ids = try builder.apply(op, [try exact(inputs[0])], layer: current.name)
        for (index, id) in ids.enumerated() where index < current.outputs.count { try defineExact(id, output: index) }
    }

    /// Indices that sort an axis: the second output of a top-K of its whole extent.
    mutating func argSort() throws {
        let blob = try input()
        let axis = try OperatorError.normalizedAxis(try parameters.int(1), rank: blob.rank)
        let op = TopK(k: blob.dims[axis], axis: axis, isSmallest: !(try parameters.bool(2)))
        try defineExact(try builder.apply(op, [try exact(blob)], layer: current.name)[1])
    }

    mutating func argReduce(isMinimum: Bool) throws {
        let blob = try input()
        let removes = try parameters.bool(2) && blob.rank > 1
        let op = ArgReduce(isMinimum: isMinimum, axis: try parameters.int(1), keepsDimension: !removes)
        try defineExact(try add(op, try exact(blob)))
    }

    mutating func reduce(_ function: Reduce.Function) throws {
        let blob = try input()
        var axes = try parameters.ints(1, limit: 64)
        if try parameters.bool(3) { axes = [] }
        let keeps = try parameters.bool(2)
        if keeps, !axes.isEmpty, blob.rank >= 4 {
            // Reductions of pixels or channels that keep the rank work on images as well.
            let back = try axes.map { try OperatorError.normalizedAxis($0, rank: blob.rank) - blob.rank }
            if back.allSatisfy({ $0 >= -3 }) {
                let id = try add(Reduce(function, axes: back, keepsDimensions: true), try image(blob))
                try define(imageResult(id, like: blob))
                return
            }
        }
        let id = try add(Reduce(function, axes: axes, keepsDimensions: keeps), try exact(blob))
        let dims = builder.shape(id).dims
        try defineExact(try reshape(id, dims.isEmpty ? [1] : dims))
    }

    /// Keeps elements near the diagonals of the last two axes, zeroes the rest. A negative bound keeps all on that side.
    mutating func band(lower: Int?, upper: Int?) throws {
        let blob = try input()
        try require(blob.rank >= 2, "expected an input of rank 2 or more, found shape \(blob.dims)")
        let (rows, columns) = (blob.extent(fromBack: -2), blob.extent(fromBack: -1))
        try require(rows * columns <= GraphBuilder.maximumFoldedCount, "matrices of \(rows)x\(columns) are too large")
        var mask = [Float](repeating: 0, count: rows * columns)
        for row in 0..<rows {
            for column in 0..<columns {
                let below = lower.map { row - column <= $0 } ?? true
                let above = upper.map { column - row <= $0 } ?? true
                mask[row * columns + column] = below && above ? 1 : 0
            }
        }
        let id = try add(Select(), try constant(mask, [rows, columns]), try exact(blob), try scalar(0))
        try defineExact(id)
    }

    /// On at the places that whole numbers name, off elsewhere, along a new axis.
    mutating func oneHot() throws {
        let inputs = try inputs(1...2)
        let blob = inputs[0]
        var size = try parameters.int(1)
        if inputs.count == 2 { size = try knownInts(inputs[1], "the vector's size").first ?? 0 }
        try require((1...GraphBuilder.maximumFoldedCount).contains(size), "vector size \(size) is out of range")
        let axis = try OperatorError.normalizedAxis(try parameters.int(2), rank: blob.rank + 1)
        let (on, off) = (try scalar(try parameters.float(3)), try scalar(try parameters.float(4)))
        let x = try reshape(try exact(blob), blob.dims[..<axis] + [1] + blob.dims[axis...])
        var dims = [Int](repeating: 1, count: blob.rank + 1)
        dims[axis] = size
        let places = try constant((0..<size).map { Float($0) }, dims)
        let wrapped = try constant((0..<size).map { Float($0 - size) }, dims)
        let hit = try add(Binary(.logicalOr), try add(Binary(.equal), x, places), try add(Binary(.equal), x, wrapped))
        try defineExact(try add(Select(), hit, on, off))
    }

    mutating func cumulativeSum() throws {
        let blob = try inputs(1...2)[0]
        var axis = try parameters.int(1)
        if current.inputs.count == 2 { axis = try knownInts(try inputs(2...2)[1], "the axis").first ?? 0 }
        let op = CumulativeSum(axis: axis, isExclusive: try parameters.bool(2), isReversed: try parameters.bool(3))
        try defineExact(try add(op, try exact(blob)))
    }

    /// The coordinates of nonzero elements, whose number depends on the values.
    mutating func whereNonZero() throws {
        let blob = try input()
        let values = try known(blob, "the number of nonzero elements")
        let strides = Shape(blob.dims).strides
        let hits = values.indices.filter { values[$0] != 0 }
        let coordinates = hits.flatMap { hit in blob.dims.indices.map { Float(hit / strides[$0] % blob.dims[$0]) } }
        try defineExact(try constant(coordinates, [hits.count, blob.rank]))
    }
}
