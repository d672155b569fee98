import Foundation

/// A function of two numbers, applied with NumPy broadcasting. Comparisons and logic give 1 or 0; nonzero is true.
package enum BinaryFunction: String, Sendable, Hashable, CaseIterable {
    case add, subtract, multiply, divide, floorDivide, modulo, power, maximum, minimum
    case equal, notEqual, less, lessEqual, greater, greaterEqual
    case logicalAnd, logicalOr, logicalXor

    /// The value in double precision. `modulo` has the divisor's sign, as Python's.
    package func evaluate(_ a: Double, _ b: Double) -> Double {
        switch self {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        case .divide: a / b
        case .floorDivide: (a / b).rounded(.down)
        case .modulo: a - b * (a / b).rounded(.down)
        case .power: Foundation.pow(a, b)
        case .maximum: a.isNaN || b.isNaN ? .nan : Swift.max(a, b)
        case .minimum: a.isNaN || b.isNaN ? .nan : Swift.min(a, b)
        case .equal: a == b ? 1 : 0
        case .notEqual: a != b ? 1 : 0
        case .less: a < b ? 1 : 0
        case .lessEqual: a <= b ? 1 : 0
        case .greater: a > b ? 1 : 0
        case .greaterEqual: a >= b ? 1 : 0
        case .logicalAnd: a != 0 && b != 0 ? 1 : 0
        case .logicalOr: a != 0 || b != 0 ? 1 : 0
        case .logicalXor: (a != 0) != (b != 0) ? 1 : 0
        }
    }
}
