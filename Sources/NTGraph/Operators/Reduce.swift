import Foundation
import NTTensor

/// Combines the elements along some axes into one.
package struct Reduce: Operator, Hashable {
    package enum Function: String, Sendable, Hashable, CaseIterable {
        case sum, mean, product, maximum, minimum, l1, l2, sumSquare
        /// ln of the sum.
        case logSum
        /// The sum of ln(x + epsilon), Core ML's older `reduce` layer.
        case sumLog
        /// ln of the sum of e^x.
        case logSumExp
    }

    package var function: Function
    /// The axes to combine; empty means all of them.
    package var axes: [Int]
    package var keepsDimensions: Bool
    /// Used by `sumLog` alone.
    package var epsilon: Float

    package init(_ function: Function, axes: [Int], keepsDimensions: Bool = true, epsilon: Float = 0) {
        (self.function, self.axes, self.keepsDimensions, self.epsilon) = (function, axes, keepsDimensions, epsilon)
    }

    /// The axes to combine, counted from the front and sorted.
    package func reducedAxes(rank: Int) throws -> [Int] {
        if axes.isEmpty { return Array(0..<rank) }
        return try Set(axes.map { try OperatorError.normalizedAxis($0, rank: rank) }).sorted()
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        let reduced = try reducedAxes(rank: shape.rank)
        let dims = shape.dims.enumerated().compactMap { axis, extent in
            reduced.contains(axis) ? (keepsDimensions ? 1 : nil) : extent
        }
        return [.float32(Shape(dims))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { inputs[0].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        var kept = shape
        for axis in try reducedAxes(rank: shape.rank) { kept[axis] = 1 }
        let strides = kept.broadcastStrides(to: shape)
        let x = inputs[0].floats
        let size = Double(shape.count / max(1, kept.count))
        var totals = [Double](repeating: start, count: kept.count)
        var largest = [Double](repeating: -.infinity, count: function == .logSumExp ? kept.count : 0)
        if function == .logSumExp {
            StridedLoop.forEach(shape, strides: strides) { largest[$1] = max(largest[$1], Double(x[$0])) }
        }
        StridedLoop.forEach(shape, strides: strides) { element, slot in
            let value = Double(x[element])
            switch function {
            case .sum, .mean, .logSum: totals[slot] += value
            case .product: totals[slot] *= value
            case .maximum: totals[slot] = value > totals[slot] || value.isNaN ? value : totals[slot]
            case .minimum: totals[slot] = value < totals[slot] || value.isNaN ? value : totals[slot]
            case .l1: totals[slot] += abs(value)
            case .l2, .sumSquare: totals[slot] += value * value
            case .sumLog: totals[slot] += log(value + Double(epsilon))
            case .logSumExp: totals[slot] += exp(value - largest[slot])
            }
        }
        return [
            try Tensor(float32: output) { target in
                for slot in 0..<output.count {
                    switch function {
                    case .mean: target[slot] = Float(totals[slot] / size)
                    case .l2: target[slot] = Float(totals[slot].squareRoot())
                    case .logSum: target[slot] = Float(log(totals[slot]))
                    case .logSumExp: target[slot] = Float(log(totals[slot]) + largest[slot])
                    default: target[slot] = Float(totals[slot])
                    }
                }
            }
        ]
    }

    private var start: Double {
        switch function {
        case .product: 1
        case .maximum: -.infinity
        case .minimum: .infinity
        default: 0
        }
    }
}

/// The index of the largest or smallest element along an axis, as a whole float; the first of equals.
package struct ArgReduce: Operator, Hashable {
    package var isMinimum: Bool
    package var axis: Int
    package var keepsDimension: Bool

    package init(isMinimum: Bool = false, axis: Int, keepsDimension: Bool = true) {
        (self.isMinimum, self.axis, self.keepsDimension) = (isMinimum, axis, keepsDimension)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        var dims = inputs[0].shape.dims
        let axis = try OperatorError.normalizedAxis(axis, rank: dims.count)
        try OperatorError.require(dims[axis] > 0, "axis \(axis) of \(inputs[0].shape) is empty")
        if keepsDimension { dims[axis] = 1 } else { dims.remove(at: axis) }
        return [.float32(Shape(dims))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { inputs[0].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let (outer, extent, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let x = inputs[0].floats
        return [
            try Tensor(float32: output) { target in
                for o in 0..<outer {
                    for i in 0..<inner {
                        var best = 0
                        for k in 1..<max(1, extent) {
                            let (value, current) = (x[(o * extent + k) * inner + i], x[(o * extent + best) * inner + i])
                            if isMinimum ? value < current : value > current { best = k }
                        }
                        target[o * inner + i] = Float(best)
                    }
                }
            }
        ]
    }
}

/// The `k` largest (or smallest) elements along an axis in order, and their indices as whole floats; equals in order of index.
/// NaN counts as larger than everything.
/// Outputs: values, indices, both with extent k along `axis`.
package struct TopK: Operator, Hashable {
    package var k: Int
    package var axis: Int
    package var isSmallest: Bool

    package init(k: Int, axis: Int, isSmallest: Bool = false) { (self.k, self.axis, self.isSmallest) = (k, axis, isSmallest) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        var shape = inputs[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: shape.rank)
        try OperatorError.require((1...max(1, shape[axis])).contains(k) && shape[axis] > 0, "k \(k) lies outside 1...\(shape[axis])")
        shape[axis] = k
        return [.float32(shape), .float32(shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let axis = try OperatorError.normalizedAxis(axis, rank: output.rank)
        let (outer, extent, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let x = inputs[0].floats
        var indices = [Float](repeating: 0, count: output.count)
        let values = try Tensor(float32: output) { target in
            for o in 0..<outer {
                for i in 0..<inner {
                    let lane = (0..<extent).map { x[(o * extent + $0) * inner + i] }
                    let order = (0..<extent).sorted {
                        let (first, second) = (isSmallest ? ($0, $1) : ($1, $0))
                        if precedes(lane[first], lane[second]) { return true }
                        return precedes(lane[second], lane[first]) ? false : $0 < $1
                    }
                    for place in 0..<k {
                        target[(o * k + place) * inner + i] = lane[order[place]]
                        indices[(o * k + place) * inner + i] = Float(order[place])
                    }
                }
            }
        }
        return [values, try Tensor(output, indices)]
    }

    /// Ascending order with NaN after everything.
    private func precedes(_ a: Float, _ b: Float) -> Bool { a < b || (!a.isNaN && b.isNaN) }
}
