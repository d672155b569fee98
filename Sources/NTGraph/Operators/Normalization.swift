import Foundation
import NTTensor

/// exp(x - max) / sum along one axis; its logarithm when `isLog`.
package struct Softmax: Operator, Hashable {
    package var axis: Int
    package var isLog: Bool

    package init(axis: Int, isLog: Bool = false) { (self.axis, self.isLog) = (axis, isLog) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        _ = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        return [.float32(inputs[0].shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 4 * outputs[0].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let (outer, extent, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let x = inputs[0].floats
        return [
            try Tensor(float32: inputs[0].shape) { target in
                for o in 0..<outer {
                    for i in 0..<inner {
                        let lane = (0..<extent).map { Double(x[(o * extent + $0) * inner + i]) }
                        let largest = lane.max() ?? 0
                        let total = lane.reduce(0) { $0 + exp($1 - largest) }
                        for k in 0..<extent {
                            let value = isLog ? lane[k] - largest - log(total) : exp(lane[k] - largest) / total
                            target[(o * extent + k) * inner + i] = Float(value)
                        }
                    }
                }
            }
        ]
    }
}

/// x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta, x [N, C, ...]; the window is centred and clipped.
package struct LocalResponseNormalization: Operator, Hashable {
    package var size: Int
    package var alpha: Float
    package var beta: Float
    package var k: Float

    package init(size: Int, alpha: Float, beta: Float, k: Float) {
        (self.size, self.alpha, self.beta, self.k) = (size, alpha, beta, k)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        try OperatorError.require(inputs[0].shape.rank >= 2, "expected rank 2 or more, found \(inputs[0].shape)")
        try OperatorError.require((1...Window.maximumExtent).contains(size), "size \(size) is out of range")
        return [.float32(inputs[0].shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { outputs[0].shape.count * (2 * min(size, inputs[0].shape[1]) + 3) }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let (outer, channels, inner) = StridedLoop.split(inputs[0].shape, axis: 1)
        let x = inputs[0].floats
        let before = (size - 1) / 2
        return [
            try Tensor(float32: inputs[0].shape) { target in
                for o in 0..<outer {
                    for c in 0..<channels {
                        let window = max(0, c - before)...min(channels - 1, c - before + size - 1)
                        for i in 0..<inner {
                            var squares = 0.0
                            for j in window {
                                let value = Double(x[(o * channels + j) * inner + i])
                                squares += value * value
                            }
                            let index = (o * channels + c) * inner + i
                            let scale = Double(k) + Double(alpha) / Double(size) * squares
                            target[index] = Float(Double(x[index]) * pow(scale, -Double(beta)))
                        }
                    }
                }
            }
        ]
    }
}

/// Subtracts the mean over `axes` and, when `normalizesVariance`, divides by the deviation: sqrt(variance + epsilon), or
/// sqrt(variance) + epsilon when `epsilonOutside`. Instance and layer normalisation and Core ML's mvn.
package struct MeanVarianceNormalization: Operator, Hashable {
    package var axes: [Int]
    package var normalizesVariance: Bool
    package var epsilon: Float
    package var epsilonOutside: Bool

    package init(axes: [Int], normalizesVariance: Bool = true, epsilon: Float, epsilonOutside: Bool = false) {
        (self.axes, self.normalizesVariance, self.epsilon, self.epsilonOutside) =
            (axes, normalizesVariance, epsilon, epsilonOutside)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        for axis in axes { _ = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank) }
        return [.float32(inputs[0].shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 5 * outputs[0].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let reduced = try Set(axes.map { try OperatorError.normalizedAxis($0, rank: shape.rank) })
        let x = inputs[0].floats
        var kept = shape
        for axis in reduced { kept[axis] = 1 }
        let strides = kept.broadcastStrides(to: shape)
        var (sums, squares) = ([Double](repeating: 0, count: kept.count), [Double](repeating: 0, count: kept.count))
        let size = Double(max(1, shape.count / max(1, kept.count)))
        StridedLoop.forEach(shape, strides: strides) { sums[$1] += Double(x[$0]) / size }
        StridedLoop.forEach(shape, strides: strides) {
            let difference = Double(x[$0]) - sums[$1]
            squares[$1] += difference * difference / size
        }
        return [
            try Tensor(float32: shape) { target in
                StridedLoop.forEach(shape, strides: strides) {
                    let centred = Double(x[$0]) - sums[$1]
                    let deviation =
                        epsilonOutside
                        ? squares[$1].squareRoot() + Double(epsilon) : (squares[$1] + Double(epsilon)).squareRoot()
                    target[$0] = Float(normalizesVariance ? centred / deviation : centred)
                }
            }
        ]
    }
}

/// x / sqrt(sum of squares over `axes` + epsilon).
package struct L2Normalization: Operator, Hashable {
    package var axes: [Int]
    package var epsilon: Float

    package init(axes: [Int], epsilon: Float) { (self.axes, self.epsilon) = (axes, epsilon) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        for axis in axes { _ = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank) }
        return [.float32(inputs[0].shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let reduced = try Set(axes.map { try OperatorError.normalizedAxis($0, rank: shape.rank) })
        var kept = shape
        for axis in reduced { kept[axis] = 1 }
        let strides = kept.broadcastStrides(to: shape)
        let x = inputs[0].floats
        var squares = [Double](repeating: Double(epsilon), count: kept.count)
        StridedLoop.forEach(shape, strides: strides) { squares[$1] += Double(x[$0]) * Double(x[$0]) }
        return [
            try Tensor(float32: shape) { target in
                StridedLoop.forEach(shape, strides: strides) { target[$0] = Float(Double(x[$0]) / squares[$1].squareRoot()) }
            }
        ]
    }
}
