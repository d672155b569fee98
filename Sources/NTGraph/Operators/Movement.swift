import NTTensor

/// The same elements in the same order under another shape.
package struct Reshape: Operator, Hashable {
    package var shape: Shape

    package init(_ shape: Shape) { self.shape = shape }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = try Shape(checking: shape.dims)
        try OperatorError.require(
            inputs[0].shape.count == shape.count, "\(inputs[0].shape) has \(inputs[0].shape.count) elements, \(shape) has \(shape.count)")
        return [.float32(shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }
    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] { [try inputs[0].reshaped(shape)] }
}

/// Reorders the axes: output axis i is input axis `permutation[i]`.
package struct Transpose: Operator, Hashable {
    package var permutation: [Int]

    package init(_ permutation: [Int]) { self.permutation = permutation }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        try OperatorError.require(
            permutation.sorted() == Array(0..<shape.rank), "\(permutation) is no permutation of \(shape.rank) axes")
        return [.float32(Shape(permutation.map { shape[$0] }))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let strides = inputs[0].shape.strides
        return [try gathered(inputs[0], into: output, strides: permutation.map { strides[$0] }, offset: 0)]
    }
}

/// Joins tensors along an axis; their other extents are equal.
package struct Concat: Operator, Hashable {
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.require(!inputs.isEmpty, "expected at least one input")
        var shape = inputs[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
        shape[axis] = 0
        for input in inputs {
            var other = input.shape
            try OperatorError.require(other.rank == shape.rank, "ranks of \(inputs[0].shape) and \(other) differ")
            let extent = other[axis]
            other[axis] = shape[axis]
            try OperatorError.require(other == shape, "\(inputs[0].shape) and \(input.shape) differ outside axis \(axis)")
            let (sum, overflow) = shape[axis].addingReportingOverflow(extent)
            try OperatorError.require(!overflow, "the joint extent overflows")
            shape[axis] = sum
        }
        return [.float32(shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: output.rank)
        let (outer, extent, inner) = StridedLoop.split(output, axis: axis)
        return [
            try Tensor(float32: output) { target in
                var start = 0
                for input in inputs {
                    let run = input.shape[axis] * inner
                    for o in 0..<outer {
                        for k in 0..<run { target[o * extent * inner + start + k] = input.floats[o * run + k] }
                    }
                    start += run
                }
            }
        ]
    }
}

/// Cuts a tensor along an axis into pieces of the given extents.
package struct Split: Operator, Hashable {
    package var axis: Int
    package var sizes: [Int]

    package init(axis: Int, sizes: [Int]) { (self.axis, self.sizes) = (axis, sizes) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
        try OperatorError.require(
            !sizes.isEmpty && sizes.allSatisfy { $0 >= 0 && $0 <= shape[axis] } && sizes.reduce(0, +) == shape[axis],
            "sizes \(sizes) do not add up to \(shape[axis])")
        return sizes.map { size in
            var piece = shape
            piece[axis] = size
            return .float32(piece)
        }
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let strides = inputs[0].shape.strides
        var start = 0
        return try outputTypes(for: inputs.map(\.type)).map { type in
            defer { start += type.shape[axis] }
            return try gathered(inputs[0], into: type.shape, strides: strides, offset: start * strides[axis])
        }
    }
}

/// Every `strides[i]`-th element from `begins[i]` on, `extents[i]` of them, along each axis. Strides may be negative.
package struct Slice: Operator, Hashable {
    package var begins: [Int]
    package var extents: [Int]
    package var strides: [Int]

    package init(begins: [Int], extents: [Int], strides: [Int]) {
        (self.begins, self.extents, self.strides) = (begins, extents, strides)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        try OperatorError.require(
            begins.count == shape.rank && extents.count == shape.rank && strides.count == shape.rank,
            "expected \(shape.rank) begins, extents and strides, found \(begins.count), \(extents.count), \(strides.count)")
        let limit = Shape.maximumCount
        for axis in 0..<shape.rank {
            // Within these limits nothing below overflows.
            let isSane =
                (0...shape[axis]).contains(begins[axis]) && (0...shape[axis]).contains(extents[axis])
                && (-limit...limit).contains(strides[axis])
            let range = 0..<shape[axis]
            try OperatorError.require(
                isSane
                    && (extents[axis] == 0
                        || range.contains(begins[axis]) && range.contains(begins[axis] + (extents[axis] - 1) * strides[axis])),
                "\(extents[axis]) elements from \(begins[axis]) by \(strides[axis]) lie outside extent \(shape[axis]) of axis \(axis)")
        }
        return [.float32(Shape(extents))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let own = inputs[0].shape.strides
        let offset = zip(begins, own).reduce(0) { $0 + $1.0 * $1.1 }
        return [try gathered(inputs[0], into: Shape(extents), strides: zip(strides, own).map { $0 * $1 }, offset: offset)]
    }
}

/// Repeats a tensor `repeats[i]` times along each axis.
package struct Tile: Operator, Hashable {
    package var repeats: [Int]

    package init(_ repeats: [Int]) { self.repeats = repeats }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        try OperatorError.require(
            repeats.count == shape.rank && repeats.allSatisfy { $0 >= 1 && $0 <= Shape.maximumCount },
            "expected \(shape.rank) repeats of 1 or more, found \(repeats)")
        let dims = try zip(shape.dims, repeats).map { extent, times in
            let (product, overflow) = extent.multipliedReportingOverflow(by: times)
            try OperatorError.require(!overflow, "\(extent) times \(times) overflows")
            return product
        }
        return [.float32(try Shape(checking: dims))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let strides = shape.strides
        // Each axis is seen as (repeat, extent), the repeat standing still in the input.
        let interleaved = Shape(zip(repeats, shape.dims).flatMap { [$0, $1] })
        let moved = try gathered(inputs[0], into: interleaved, strides: strides.flatMap { [0, $0] }, offset: 0)
        return [try moved.reshaped(try outputTypes(for: inputs.map(\.type))[0].shape)]
    }
}

/// Repeats a tensor to a shape it broadcasts to.
package struct BroadcastTo: Operator, Hashable {
    package var shape: Shape

    package init(_ shape: Shape) { self.shape = shape }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = try Shape(checking: shape.dims)
        try OperatorError.require(
            Shape.broadcast(inputs[0].shape, shape) == shape, "\(inputs[0].shape) does not broadcast to \(shape)")
        return [.float32(shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        [try gathered(inputs[0], into: shape, strides: inputs[0].shape.broadcastStrides(to: shape), offset: 0)]
    }
}

/// Reverses the order of elements along axes.
package struct Reverse: Operator, Hashable {
    package var axes: [Int]

    package init(axes: [Int]) { self.axes = axes }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        for axis in axes { _ = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank) }
        return [.float32(inputs[0].shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        var strides = shape.strides
        var offset = 0
        for axis in try Set(axes.map({ try OperatorError.normalizedAxis($0, rank: shape.rank) })) {
            offset += max(0, shape[axis] - 1) * strides[axis]
            strides[axis].negate()
        }
        return [try gathered(inputs[0], into: shape, strides: strides, offset: offset)]
    }
}

/// Elements of x [..., extent, ...] picked along `axis` by an index tensor of whole floats; negative indices count from the back.
/// Inputs: x, indices. Output: x's shape with `axis` replaced by the indices' shape. An index out of range is an error.
package struct Gather: Operator, Hashable {
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let shape = inputs[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
        return [.float32(Shape(shape.dims[..<axis] + inputs[1].shape.dims + shape.dims[(axis + 1)...]))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let (outer, extent, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let picks = try inputs[1].floats.map { value in
            guard let index = Int(exactly: value), (-extent..<extent).contains(index) else {
                throw OperatorError("index \(value) lies outside extent \(extent)")
            }
            return index < 0 ? index + extent : index
        }
        let x = inputs[0].floats
        return [
            try Tensor(float32: output) { target in
                for o in 0..<outer {
                    for (place, pick) in picks.enumerated() {
                        for i in 0..<inner {
                            target[(o * picks.count + place) * inner + i] = x[(o * extent + pick) * inner + i]
                        }
                    }
                }
            }
        ]
    }
}

/// Surrounds a tensor with constants, reflections or copies of its border: `before[i]` and `after[i]` elements along each axis.
package struct Pad: Operator, Hashable {
    package enum Mode: Sendable, Hashable {
        case constant(Float)
        /// Mirrored without repeating the border element.
        case reflection
        case replication
    }

    package var mode: Mode
    package var before: [Int]
    package var after: [Int]

    package init(_ mode: Mode, before: [Int], after: [Int]) { (self.mode, self.before, self.after) = (mode, before, after) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        try OperatorError.require(
            before.count == shape.rank && after.count == shape.rank,
            "expected \(shape.rank) paddings, found \(before.count) and \(after.count)")
        let dims = try (0..<shape.rank).map { axis in
            let allowed = 0...(1 << 24)
            try OperatorError.require(
                allowed.contains(before[axis]) && allowed.contains(after[axis]),
                "padding \(before[axis]), \(after[axis]) of axis \(axis) lies outside \(allowed)")
            if mode == .reflection {
                try OperatorError.require(
                    max(before[axis], after[axis]) < max(1, shape[axis]),
                    "reflection padding \(max(before[axis], after[axis])) needs a larger extent than \(shape[axis])")
            }
            if mode == .replication {
                try OperatorError.require(shape[axis] > 0 || (before[axis] == 0 && after[axis] == 0), "axis \(axis) is empty")
            }
            return shape[axis] + before[axis] + after[axis]
        }
        return [.float32(try Shape(checking: dims))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let shape = inputs[0].shape
        let own = shape.strides
        // Per axis, where each output place reads: an input place, or nil for the constant.
        let sources = (0..<shape.rank).map { axis in
            (0..<output[axis]).map { place -> Int? in
                let index = place - before[axis]
                let last = shape[axis] - 1
                if (0...max(0, last)).contains(index), last >= 0 { return index }
                switch mode {
                case .constant: return nil
                case .reflection: return index < 0 ? -index : 2 * last - index
                case .replication: return index < 0 ? 0 : last
                }
            }
        }
        var filler: Float = 0
        if case .constant(let value) = mode { filler = value }
        let outputStrides = output.strides
        let x = inputs[0].floats
        return [
            try Tensor(float32: output) { target in
                for element in 0..<output.count {
                    var (rest, offset) = (element, 0)
                    var inside = true
                    for axis in 0..<output.rank {
                        let place = rest / outputStrides[axis]
                        rest %= outputStrides[axis]
                        if let source = sources[axis][place] { offset += source * own[axis] } else { inside = false }
                    }
                    target[element] = inside ? x[offset] : filler
                }
            }
        ]
    }
}

/// A new tensor whose element at an index is `source`'s at `offset` plus the dot product of index and `strides`.
func gathered(_ source: Tensor, into shape: Shape, strides: [Int], offset: Int) throws -> Tensor {
    let x = source.floats
    return try Tensor(float32: shape) { target in
        StridedLoop.forEach(shape, strides: strides, offset: offset) { target[$0] = x[$1] }
    }
}
