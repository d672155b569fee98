import Foundation

/// A function of one number: activations and element-wise mathematics. Parameters are those of the Core ML layers of the same names.
package enum UnaryFunction: Sendable, Hashable {
    case identity
    case relu
    /// max(lo, min(hi, x)); ReLU6 is clip(0, 6).
    case clip(Float, Float)
    /// x < 0 ? alpha x : x
    case leakyReLU(Float)
    /// x > alpha ? x : 0
    case thresholdedReLU(Float)
    case sigmoid
    /// max(0, min(1, alpha x + beta))
    case hardSigmoid(Float, Float)
    /// x max(0, min(6, x + 3)) / 6
    case hardSwish
    /// x sigmoid(x)
    case silu
    case tanh
    /// alpha tanh(beta x)
    case scaledTanh(Float, Float)
    /// x < 0 ? alpha (e^x - 1) : x
    case elu(Float)
    /// x / (1 + |x|)
    case softsign
    /// ln(1 + e^x)
    case softplus
    /// x (1 + erf(x / sqrt 2)) / 2
    case geluExact
    /// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
    case geluTanh
    /// x sigmoid(1.702 x)
    case geluSigmoid
    /// alpha x + beta
    case linear(Float, Float)
    /// max(alpha, x)
    case threshold(Float)
    /// x^alpha
    case power(Float)
    /// 1 / sqrt(x + epsilon)
    case rsqrt(Float)
    /// 1 / (x + epsilon)
    case inverse(Float)
    /// ln(x + epsilon)
    case log(Float)
    case sqrt, square, exp, exp2, abs, negate, sign, ceil, floor
    /// To the nearest whole number, ties to even.
    case round
    case sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, erf
    /// x == 0 ? 1 : 0
    case logicalNot

    /// For example `relu` or `clip(0.0, 6.0)`: the case as Swift prints it.
    package var description: String { String(describing: self) }

    /// The value in double precision.
    package func evaluate(_ x: Double) -> Double {
        switch self {
        case .identity: x
        case .relu: x > 0 || x.isNaN ? x : 0
        case .clip(let lo, let hi): x.isNaN ? x : Swift.max(Double(lo), Swift.min(Double(hi), x))
        case .leakyReLU(let alpha): x < 0 ? Double(alpha) * x : x
        case .thresholdedReLU(let alpha): x > Double(alpha) || x.isNaN ? x : 0
        case .sigmoid: Self.sigmoid(x)
        case .hardSigmoid(let alpha, let beta):
            x.isNaN ? x : Swift.max(0, Swift.min(1, Double(alpha) * x + Double(beta)))
        case .hardSwish: x.isNaN ? x : x * Swift.max(0, Swift.min(6, x + 3)) / 6
        case .silu: x * Self.sigmoid(x)
        case .tanh: Foundation.tanh(x)
        case .scaledTanh(let alpha, let beta): Double(alpha) * Foundation.tanh(Double(beta) * x)
        case .elu(let alpha): x < 0 ? Double(alpha) * Foundation.expm1(x) : x
        case .softsign: x / (1 + Swift.abs(x))
        case .softplus: Swift.max(x, 0) + Foundation.log1p(Foundation.exp(-Swift.abs(x)))
        case .geluExact: 0.5 * x * (1 + Foundation.erf(x * 0.5.squareRoot()))
        case .geluTanh: 0.5 * x * (1 + Foundation.tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
        case .geluSigmoid: x * Self.sigmoid(1.702 * x)
        case .linear(let alpha, let beta): Double(alpha) * x + Double(beta)
        case .threshold(let alpha): x.isNaN ? x : Swift.max(Double(alpha), x)
        case .power(let alpha): Foundation.pow(x, Double(alpha))
        case .rsqrt(let epsilon): 1 / (x + Double(epsilon)).squareRoot()
        case .inverse(let epsilon): 1 / (x + Double(epsilon))
        case .log(let epsilon): Foundation.log(x + Double(epsilon))
        default: evaluatePlain(x)
        }
    }

    private static func sigmoid(_ x: Double) -> Double {
        if x >= 0 { return 1 / (1 + Foundation.exp(-x)) }
        let e = Foundation.exp(x)
        return e / (1 + e)
    }

    /// The functions without parameters.
    private func evaluatePlain(_ x: Double) -> Double {
        switch self {
        case .sqrt: x.squareRoot()
        case .square: x * x
        case .exp: Foundation.exp(x)
        case .exp2: Foundation.exp2(x)
        case .abs: Swift.abs(x)
        case .negate: -x
        case .sign: x > 0 ? 1 : x < 0 ? -1 : x
        case .ceil: x.rounded(.up)
        case .floor: x.rounded(.down)
        case .round: x.rounded(.toNearestOrEven)
        case .sin: Foundation.sin(x)
        case .cos: Foundation.cos(x)
        case .tan: Foundation.tan(x)
        case .asin: Foundation.asin(x)
        case .acos: Foundation.acos(x)
        case .atan: Foundation.atan(x)
        case .sinh: Foundation.sinh(x)
        case .cosh: Foundation.cosh(x)
        case .asinh: Foundation.asinh(x)
        case .acosh: Foundation.acosh(x)
        case .atanh: Foundation.atanh(x)
        case .erf: Foundation.erf(x)
        case .logicalNot: x == 0 ? 1 : 0
        default: x
        }
    }

    /// The bounds when the function is a clamp: ReLU is (0, inf), identity (-inf, inf); nil for anything else.
    package var clampBounds: (lower: Float, upper: Float)? {
        switch self {
        case .identity: (-.infinity, .infinity)
        case .relu: (0, .infinity)
        case .clip(let lo, let hi): (lo, hi)
        case .threshold(let alpha): (alpha, .infinity)
        default: nil
        }
    }
}
