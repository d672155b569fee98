extension UnaryFunction {
    /// The number of functions, which are counted from 0.
    package static let count = 46

    /// The function's number, as compiled models keep it, and its parameters; 0 for those that it lacks.
    package var parts: (number: Int, alpha: Float, beta: Float) {
        switch self {
        case .clip(let alpha, let beta): (0, alpha, beta)
        case .leakyReLU(let alpha): (1, alpha, 0)
        case .thresholdedReLU(let alpha): (2, alpha, 0)
        case .hardSigmoid(let alpha, let beta): (3, alpha, beta)
        case .scaledTanh(let alpha, let beta): (4, alpha, beta)
        case .elu(let alpha): (5, alpha, 0)
        case .linear(let alpha, let beta): (6, alpha, beta)
        case .threshold(let alpha): (7, alpha, 0)
        case .power(let alpha): (8, alpha, 0)
        case .rsqrt(let alpha): (9, alpha, 0)
        case .inverse(let alpha): (10, alpha, 0)
        case .log(let alpha): (11, alpha, 0)
        case .identity: (12, 0, 0)
        case .relu: (13, 0, 0)
        case .sigmoid: (14, 0, 0)
        case .hardSwish: (15, 0, 0)
        case .silu: (16, 0, 0)
        case .tanh: (17, 0, 0)
        case .softsign: (18, 0, 0)
        case .softplus: (19, 0, 0)
        case .geluExact: (20, 0, 0)
        case .geluTanh: (21, 0, 0)
        case .geluSigmoid: (22, 0, 0)
        case .sqrt: (23, 0, 0)
        case .square: (24, 0, 0)
        case .exp: (25, 0, 0)
        case .exp2: (26, 0, 0)
        case .abs: (27, 0, 0)
        case .negate: (28, 0, 0)
        case .sign: (29, 0, 0)
        case .ceil: (30, 0, 0)
        case .floor: (31, 0, 0)
        case .round: (32, 0, 0)
        case .sin: (33, 0, 0)
        case .cos: (34, 0, 0)
        case .tan: (35, 0, 0)
        case .asin: (36, 0, 0)
        case .acos: (37, 0, 0)
        case .atan: (38, 0, 0)
        case .sinh: (39, 0, 0)
        case .cosh: (40, 0, 0)
        case .asinh: (41, 0, 0)
        case .acosh: (42, 0, 0)
        case .atanh: (43, 0, 0)
        case .erf: (44, 0, 0)
        case .logicalNot: (45, 0, 0)
        }
    }

    /// The function of a number, or nil. Parameters that it lacks are ignored.
    package init?(number: Int, _ alpha: Float, _ beta: Float) {
        switch number {
        case 0: self = .clip(alpha, beta)
        case 1: self = .leakyReLU(alpha)
        case 2: self = .thresholdedReLU(alpha)
        case 3: self = .hardSigmoid(alpha, beta)
        case 4: self = .scaledTanh(alpha, beta)
        case 5: self = .elu(alpha)
        case 6: self = .linear(alpha, beta)
        case 7: self = .threshold(alpha)
        case 8: self = .power(alpha)
        case 9: self = .rsqrt(alpha)
        case 10: self = .inverse(alpha)
        case 11: self = .log(alpha)
        case 12: self = .identity
        case 13: self = .relu
        case 14: self = .sigmoid
        case 15: self = .hardSwish
        case 16: self = .silu
        case 17: self = .tanh
        case 18: self = .softsign
        case 19: self = .softplus
        case 20: self = .geluExact
        case 21: self = .geluTanh
        case 22: self = .geluSigmoid
        case 23: self = .sqrt
        case 24: self = .square
        case 25: self = .exp
        case 26: self = .exp2
        case 27: self = .abs
        case 28: self = .negate
        case 29: self = .sign
        case 30: self = .ceil
        case 31: self = .floor
        case 32: self = .round
        case 33: self = .sin
        case 34: self = .cos
        case 35: self = .tan
        case 36: self = .asin
        case 37: self = .acos
        case 38: self = .atan
        case 39: self = .sinh
        case 40: self = .cosh
        case 41: self = .asinh
        case 42: self = .acosh
        case 43: self = .atanh
        case 44: self = .erf
        case 45: self = .logicalNot
        default: return nil
        }
    }
}
