import NTGraph

/// A function of one number as `functions.cl` knows it: a macro and two parameters.
struct Activation: Sendable, Hashable {
    var macro: String?
    var p: Float = 0
    var q: Float = 0

    static let none = Activation(macro: nil)

    init(macro: String?, p: Float = 0, q: Float = 0) { (self.macro, self.p, self.q) = (macro, p, q) }

    /// The same function, nothing being a clamp without bounds: one program serves both.
    var asClamp: Activation { macro == nil ? Activation(macro: "ACT_CLAMP", p: -.infinity, q: .infinity) : self }

    init(_ function: UnaryFunction) {
        if function == .identity {
            self = .none
        } else if let bounds = function.clampBounds {
            self.init(macro: "ACT_CLAMP", p: bounds.lower, q: bounds.upper)
        } else {
            self = Self.parametric(function) ?? Activation(macro: Self.plain(function))
        }
    }

    private static func parametric(_ function: UnaryFunction) -> Activation? {
        switch function {
        case .leakyReLU(let alpha): Activation(macro: "ACT_LEAKY", p: alpha)
        case .thresholdedReLU(let alpha): Activation(macro: "ACT_THRESHOLDED", p: alpha)
        case .hardSigmoid(let alpha, let beta): Activation(macro: "ACT_HARD_SIGMOID", p: alpha, q: beta)
        case .scaledTanh(let alpha, let beta): Activation(macro: "ACT_SCALED_TANH", p: alpha, q: beta)
        case .elu(let alpha): Activation(macro: "ACT_ELU", p: alpha)
        case .linear(let alpha, let beta): Activation(macro: "ACT_LINEAR", p: alpha, q: beta)
        case .power(let alpha): Activation(macro: "ACT_POWER", p: alpha)
        case .rsqrt(let epsilon): Activation(macro: "ACT_RSQRT", p: epsilon)
        case .inverse(let epsilon): Activation(macro: "ACT_INVERSE", p: epsilon)
        case .log(let epsilon): Activation(macro: "ACT_LOG", p: epsilon)
        default: nil
        }
    }

    private static func plain(_ function: UnaryFunction) -> String? {
        switch function {
        case .sigmoid: "ACT_SIGMOID"
        case .hardSwish: "ACT_HARD_SWISH"
        case .silu: "ACT_SILU"
        case .tanh: "ACT_TANH"
        case .softsign: "ACT_SOFTSIGN"
        case .softplus: "ACT_SOFTPLUS"
        case .geluExact: "ACT_GELU_EXACT"
        case .geluTanh: "ACT_GELU_TANH"
        case .geluSigmoid: "ACT_GELU_SIGMOID"
        case .sqrt: "ACT_SQRT"
        case .square: "ACT_SQUARE"
        case .exp: "ACT_EXP"
        case .exp2: "ACT_EXP2"
        case .abs: "ACT_ABS"
        case .negate: "ACT_NEGATE"
        case .sign: "ACT_SIGN"
        case .ceil: "ACT_CEIL"
        case .floor: "ACT_FLOOR"
        case .round: "ACT_ROUND"
        case .logicalNot: "ACT_LOGICAL_NOT"
        case .erf: "ACT_ERF"
        default: trigonometric(function)
        }
    }

    private static func trigonometric(_ function: UnaryFunction) -> String? {
        switch function {
        case .sin: "ACT_SIN"
        case .cos: "ACT_COS"
        case .tan: "ACT_TAN"
        case .asin: "ACT_ASIN"
        case .acos: "ACT_ACOS"
        case .atan: "ACT_ATAN"
        case .sinh: "ACT_SINH"
        case .cosh: "ACT_COSH"
        case .asinh: "ACT_ASINH"
        case .acosh: "ACT_ACOSH"
        case .atanh: "ACT_ATANH"
        default: nil
        }
    }

    /// The macro of a function of two arguments.
    static func macro(of function: BinaryFunction) -> String {
        switch function {
        case .add: "OP_ADD"
        case .subtract: "OP_SUBTRACT"
        case .multiply: "OP_MULTIPLY"
        case .divide: "OP_DIVIDE"
        case .floorDivide: "OP_FLOOR_DIVIDE"
        case .modulo: "OP_MODULO"
        case .power: "OP_POWER"
        case .maximum: "OP_MAXIMUM"
        case .minimum: "OP_MINIMUM"
        case .equal: "OP_EQUAL"
        case .notEqual: "OP_NOT_EQUAL"
        case .less: "OP_LESS"
        case .lessEqual: "OP_LESS_EQUAL"
        case .greater: "OP_GREATER"
        case .greaterEqual: "OP_GREATER_EQUAL"
        case .logicalAnd: "OP_LOGICAL_AND"
        case .logicalOr: "OP_LOGICAL_OR"
        case .logicalXor: "OP_LOGICAL_XOR"
        }
    }
}
