import NTTensor

/// Running sums along an axis. `isExclusive` leaves the element itself out; `isReversed` sums from the end.
package struct CumulativeSum: Operator, Hashable {
    package var axis: Int
    package var isExclusive: Bool
    package var isReversed: Bool

    package init(axis: Int, isExclusive: Bool = false, isReversed: Bool = false) {
        (self.axis, self.isExclusive, self.isReversed) = (axis, isExclusive, isReversed)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        _ = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        return [.float32(inputs[0].shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let (outer, extent, inner) = StridedLoop.split(shape, axis: try OperatorError.normalizedAxis(axis, rank: shape.rank))
        let x = inputs[0].floats
        return [
            try Tensor(float32: shape) { target in
                for o in 0..<outer {
                    for i in 0..<inner {
                        var sum = 0.0
                        for k in 0..<extent {
                            let index = (o * extent + (isReversed ? extent - 1 - k : k)) * inner + i
                            let next = sum + Double(x[index])
                            target[index] = Float(isExclusive ? sum : next)
                            sum = next
                        }
                    }
                }
            }
        ]
    }
}

/// Reverses, for each place along `batchAxis`, as many elements from the start of `sequenceAxis` as that place's length says.
/// Inputs: x; lengths [extent of `batchAxis`], whole floats from 0 to the extent of `sequenceAxis`.
package struct ReverseSequence: Operator, Hashable {
    package var batchAxis: Int
    package var sequenceAxis: Int

    package init(batchAxis: Int, sequenceAxis: Int) { (self.batchAxis, self.sequenceAxis) = (batchAxis, sequenceAxis) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let shape = inputs[0].shape
        let batch = try OperatorError.normalizedAxis(batchAxis, rank: shape.rank)
        let sequence = try OperatorError.normalizedAxis(sequenceAxis, rank: shape.rank)
        try OperatorError.require(batch != sequence, "the batch axis and the sequence axis are both \(batch)")
        try OperatorError.require(inputs[1].shape == [shape[batch]], "expected \(shape[batch]) lengths, found \(inputs[1].shape)")
        return [.float32(shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let strides = shape.strides
        let batch = try OperatorError.normalizedAxis(batchAxis, rank: shape.rank)
        let sequence = try OperatorError.normalizedAxis(sequenceAxis, rank: shape.rank)
        let lengths = try inputs[1].floats.map { value in
            guard let length = Int(exactly: value), (0...shape[sequence]).contains(length) else {
                throw OperatorError("length \(value) lies outside extent \(shape[sequence])")
            }
            return length
        }
        let x = inputs[0].floats
        return [
            try Tensor(float32: shape) { target in
                for element in 0..<x.count {
                    let length = lengths[element / strides[batch] % shape[batch]]
                    let place = element / strides[sequence] % shape[sequence]
                    let source = place < length ? length - 1 - place : place
                    target[element] = x[element + (source - place) * strides[sequence]]
                }
            }
        ]
    }
}
