import NTTensor

/// Whole-float indices of tensors, checked.
enum IndexTensor {
    /// The index at `value`, negative ones counted from the back. Throws when it lies outside `extent`.
    static func index(_ value: Float, extent: Int) throws -> Int {
        guard let index = Int(exactly: value), (-extent..<extent).contains(index) else {
            throw OperatorError("index \(value) lies outside extent \(extent)")
        }
        return index < 0 ? index + extent : index
    }

    /// The offset of the slice that `count` indices from `start` on pick in a tensor of `shape`.
    static func offset(_ indices: UnsafeBufferPointer<Float>, _ start: Int, count: Int, shape: Shape, strides: [Int]) throws -> Int {
        var result = 0
        for axis in 0..<count { result += try index(indices[start + axis], extent: shape[axis]) * strides[axis] }
        return result
    }
}

/// Elements picked one by one along an axis: out[i, j, k] = x[indices[i, j, k], j, k] for axis 0.
/// Inputs: x; indices of x's rank, equal to x outside `axis`. Output: the indices' shape.
package struct GatherAlongAxis: Operator, Hashable {
    package var axis: Int

    package init(axis: Int) { self.axis = axis }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let (x, indices) = (inputs[0].shape, inputs[1].shape)
        let axis = try OperatorError.normalizedAxis(axis, rank: x.rank)
        var expected = x
        if indices.rank == x.rank { expected[axis] = indices[axis] }
        try OperatorError.require(indices == expected, "expected indices like \(x) outside axis \(axis), found \(indices)")
        return [.float32(indices)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let (shape, picked) = (inputs[0].shape, inputs[1].shape)
        let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
        let (_, extent, inner) = StridedLoop.split(shape, axis: axis)
        let run = picked[axis] * inner
        let (x, indices) = (inputs[0].floats, inputs[1].floats)
        return [
            try Tensor(float32: picked) { target in
                for element in 0..<picked.count {
                    let index = try IndexTensor.index(indices[element], extent: extent)
                    target[element] = x[(element / run * extent + index) * inner + element % inner]
                }
            }
        ]
    }
}

/// Slices picked by coordinates. Inputs: x; indices [..., L], each row the first L coordinates of a slice.
/// Output: the indices' leading extents, then x's extents from L on.
package struct GatherND: Operator, Hashable {
    package init() {}

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let (x, indices) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(indices.rank >= 1, "expected indices of rank 1 or more")
        let depth = indices[indices.rank - 1]
        try OperatorError.require((1...max(1, x.rank)).contains(depth) && x.rank > 0, "\(depth) coordinates do not fit \(x)")
        return [.float32(Shape(indices.dims.dropLast() + x.dims[depth...]))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let (shape, picked) = (inputs[0].shape, inputs[1].shape)
        let depth = picked[picked.rank - 1]
        let inner = shape.dims[depth...].reduce(1, *)
        let strides = shape.strides
        let (x, indices) = (inputs[0].floats, inputs[1].floats)
        return [
            try Tensor(float32: try outputTypes(for: inputs.map(\.type))[0].shape) { target in
                for row in 0..<(picked.count / depth) {
                    let offset = try IndexTensor.offset(indices, row * depth, count: depth, shape: shape, strides: strides)
                    for i in 0..<inner { target[row * inner + i] = x[offset + i] }
                }
            }
        ]
    }
}

/// Writes updates into a copy of a tensor at places given by indices, in order; later updates see earlier ones.
/// Inputs: x, indices (whole floats, negative ones from the back), updates. Output: x's shape.
package struct Scatter: Operator, Hashable {
    package enum Addressing: Sendable, Hashable {
        /// Indices of rank 1 pick slices along an axis; updates are like x with that extent replaced by their number.
        case slices(axis: Int)
        /// Indices and updates of one shape, like x outside the axis: x[indices[i, j], j] takes updates[i, j] for axis 0.
        case elements(axis: Int)
        /// Indices [..., L] are the first L coordinates of slices; updates [..., x's extents from L on].
        case coordinates
    }

    package enum Mode: Int, Sendable, Hashable, CaseIterable { case update, add, subtract, multiply, divide, maximum, minimum }

    package var addressing: Addressing
    package var mode: Mode

    package init(_ addressing: Addressing, mode: Mode) { (self.addressing, self.mode) = (addressing, mode) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 3...3)
        let (x, indices, updates) = (inputs[0].shape, inputs[1].shape, inputs[2].shape)
        var expected = x
        switch addressing {
        case .slices(let axis):
            try OperatorError.require(indices.rank == 1, "expected indices of rank 1, found \(indices)")
            expected[try OperatorError.normalizedAxis(axis, rank: x.rank)] = indices[0]
        case .elements(let axis):
            let axis = try OperatorError.normalizedAxis(axis, rank: x.rank)
            if indices.rank == x.rank { expected[axis] = indices[axis] }
            try OperatorError.require(indices == expected, "expected indices like \(x) outside axis \(axis), found \(indices)")
        case .coordinates:
            expected = try GatherND().outputTypes(for: Array(inputs[..<2]))[0].shape
        }
        try OperatorError.require(updates == expected, "expected updates of shape \(expected), found \(updates)")
        return [.float32(x)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { inputs[2].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let (shape, picked) = (inputs[0].shape, inputs[1].shape)
        let (indices, updates) = (inputs[1].floats, inputs[2].floats)
        var result = inputs[0].floatArray()
        func write(_ offset: Int, _ element: Int) { result[offset] = combined(result[offset], updates[element]) }
        switch addressing {
        case .slices(let axis), .elements(let axis):
            let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
            let (_, extent, inner) = StridedLoop.split(shape, axis: axis)
            let run = inputs[2].shape[axis] * inner
            for element in 0..<updates.count {
                let place = if case .slices = addressing { element % run / inner } else { element }
                let index = try IndexTensor.index(indices[place], extent: extent)
                write((element / run * extent + index) * inner + element % inner, element)
            }
        case .coordinates:
            let depth = picked[picked.rank - 1]
            let inner = shape.dims[depth...].reduce(1, *)
            let strides = shape.strides
            for row in 0..<(picked.count / depth) {
                let offset = try IndexTensor.offset(indices, row * depth, count: depth, shape: shape, strides: strides)
                for i in 0..<inner { write(offset + i, row * inner + i) }
            }
        }
        return [try Tensor(shape, result)]
    }

    private func combined(_ old: Float, _ new: Float) -> Float {
        switch mode {
        case .update: new
        case .add: old + new
        case .subtract: old - new
        case .multiply: old * new
        case .divide: old / new
        case .maximum: old.isNaN || new.isNaN ? .nan : max(old, new)
        case .minimum: old.isNaN || new.isNaN ? .nan : min(old, new)
        }
    }
}
