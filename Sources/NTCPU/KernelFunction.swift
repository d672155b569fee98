import CNTKernels
import NTGraph

/// A function of one number as the elementwise kernels name it.
struct KernelFunction {
    var function: Int32
    var alpha: Float
    var beta: Float

    private init(_ function: Int, _ alpha: Float = 0, _ beta: Float = 0) {
        (self.function, self.alpha, self.beta) = (Int32(function), alpha, beta)
    }

    init(_ function: UnaryFunction) {
        switch function {
        case .identity: self.init(NT_UNARY_CLAMP, -.infinity, .infinity)
        case .relu: self.init(NT_UNARY_CLAMP, 0, .infinity)
        case .clip(let lo, let hi): self.init(NT_UNARY_CLAMP, lo, hi)
        case .threshold(let alpha): self.init(NT_UNARY_CLAMP, alpha, .infinity)
        case .leakyReLU(let alpha): self.init(NT_UNARY_LEAKY_RELU, alpha)
        case .thresholdedReLU(let alpha): self.init(NT_UNARY_THRESHOLDED_RELU, alpha)
        case .scaledTanh(let alpha, let beta): self.init(NT_UNARY_SCALED_TANH, alpha, beta)
        case .hardSigmoid(let alpha, let beta): self.init(NT_UNARY_HARD_SIGMOID, alpha, beta)
        case .elu(let alpha): self.init(NT_UNARY_ELU, alpha)
        case .linear(let alpha, let beta): self.init(NT_UNARY_LINEAR, alpha, beta)
        case .power(let alpha): self.init(NT_UNARY_POWER, alpha)
        case .rsqrt(let epsilon): self.init(NT_UNARY_RSQRT, epsilon)
        case .inverse(let epsilon): self.init(NT_UNARY_INVERSE, epsilon)
        case .log(let epsilon): self.init(NT_UNARY_LOG, epsilon)
        default: self.init(Self.plain(function))
        }
    }

    /// The functions without parameters.
    private static func plain(_ function: UnaryFunction) -> Int {
        switch function {
        case .sigmoid: NT_UNARY_SIGMOID
        case .silu: NT_UNARY_SILU
        case .tanh: NT_UNARY_TANH
        case .hardSwish: NT_UNARY_HARD_SWISH
        case .softsign: NT_UNARY_SOFTSIGN
        case .softplus: NT_UNARY_SOFTPLUS
        case .geluExact: NT_UNARY_GELU_EXACT
        case .geluTanh: NT_UNARY_GELU_TANH
        case .geluSigmoid: NT_UNARY_GELU_SIGMOID
        case .sqrt: NT_UNARY_SQRT
        case .square: NT_UNARY_SQUARE
        case .exp: NT_UNARY_EXP
        case .exp2: NT_UNARY_EXP2
        case .abs: NT_UNARY_ABS
        case .negate: NT_UNARY_NEGATE
        case .sign: NT_UNARY_SIGN
        case .ceil: NT_UNARY_CEIL
        case .floor: NT_UNARY_FLOOR
        case .round: NT_UNARY_ROUND
        case .erf: NT_UNARY_ERF
        case .sin: NT_UNARY_SIN
        case .cos: NT_UNARY_COS
        case .tan: NT_UNARY_TAN
        case .asin: NT_UNARY_ASIN
        case .acos: NT_UNARY_ACOS
        case .atan: NT_UNARY_ATAN
        case .sinh: NT_UNARY_SINH
        case .cosh: NT_UNARY_COSH
        case .asinh: NT_UNARY_ASINH
        case .acosh: NT_UNARY_ACOSH
        case .atanh: NT_UNARY_ATANH
        default: NT_UNARY_LOGICAL_NOT
        }
    }

    /// A function of two numbers as the elementwise kernels name it.
    static func binary(_ function: BinaryFunction) -> Int32 {
        let code: Int
        switch function {
        case .add: code = NT_BINARY_ADD
        case .subtract: code = NT_BINARY_SUBTRACT
        case .multiply: code = NT_BINARY_MULTIPLY
        case .divide: code = NT_BINARY_DIVIDE
        case .floorDivide: code = NT_BINARY_FLOOR_DIVIDE
        case .modulo: code = NT_BINARY_MODULO
        case .power: code = NT_BINARY_POWER
        case .maximum: code = NT_BINARY_MAXIMUM
        case .minimum: code = NT_BINARY_MINIMUM
        case .equal: code = NT_BINARY_EQUAL
        case .notEqual: code = NT_BINARY_NOT_EQUAL
        case .less: code = NT_BINARY_LESS
        case .lessEqual: code = NT_BINARY_LESS_EQUAL
        case .greater: code = NT_BINARY_GREATER
        case .greaterEqual: code = NT_BINARY_GREATER_EQUAL
        case .logicalAnd: code = NT_BINARY_AND
        case .logicalOr: code = NT_BINARY_OR
        case .logicalXor: code = NT_BINARY_XOR
        }
        return Int32(code)
    }
}
