import NTTensor

/// Matrix products over broadcast leading dimensions: a [..., M, K] times b [..., K, N]; either may come transposed.
package struct MatMul: Operator, Hashable {
    package var transposeA: Bool
    package var transposeB: Bool

    package init(transposeA: Bool = false, transposeB: Bool = false) {
        (self.transposeA, self.transposeB) = (transposeA, transposeB)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let (a, b) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(a.rank >= 2 && b.rank >= 2, "expected matrices, found \(a) and \(b)")
        let (m, ka) = transposeA ? (a[a.rank - 1], a[a.rank - 2]) : (a[a.rank - 2], a[a.rank - 1])
        let (kb, n) = transposeB ? (b[b.rank - 1], b[b.rank - 2]) : (b[b.rank - 2], b[b.rank - 1])
        try OperatorError.require(ka == kb, "inner extents \(ka) and \(kb) of \(a) and \(b) differ")
        guard let batch = Shape.broadcast(Shape(Array(a.dims.dropLast(2))), Shape(Array(b.dims.dropLast(2)))) else {
            throw OperatorError("leading extents of \(a) and \(b) do not broadcast")
        }
        return [.float32(Shape(batch.dims + [m, n]))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        let a = inputs[0].shape
        return SaturatingArithmetic.product(2, outputs[0].shape.count, transposeA ? a[a.rank - 2] : a[a.rank - 1])
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (a, b) = (inputs[0], inputs[1])
        let (m, n) = (output[output.rank - 2], output[output.rank - 1])
        let depth = transposeA ? a.shape[a.shape.rank - 2] : a.shape[a.shape.rank - 1]
        let batch = Shape(Array(output.dims.dropLast(2)))
        let stridesA = Shape(Array(a.shape.dims.dropLast(2))).broadcastStrides(to: batch)
        let stridesB = Shape(Array(b.shape.dims.dropLast(2))).broadcastStrides(to: batch)
        let (x, y) = (a.floats, b.floats)
        return [
            try Tensor(float32: output) { target in
                StridedLoop.forEach(batch, stridesA, stridesB) { index, batchA, batchB in
                    for row in 0..<m {
                        for column in 0..<n {
                            var sum = 0.0
                            for k in 0..<depth {
                                let left = x[batchA * m * depth + (transposeA ? k * m + row : row * depth + k)]
                                let right = y[batchB * n * depth + (transposeB ? column * depth + k : k * n + column)]
                                sum += Double(left) * Double(right)
                            }
                            target[(index * m + row) * n + column] = Float(sum)
                        }
                    }
                }
            }
        ]
    }
}
