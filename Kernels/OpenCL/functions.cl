// Activations and element-wise functions, written once and included once per vector width: FT is the type, FN(name) the name.
// The macro ACT_... chooses the activation, OP_... the function of two or three arguments; p and q are its parameters.
// NaN passes through everything, as in the operators' definitions.

FT FN(activate)(FT x, float p, float q)
{
#if defined(ACT_CLAMP)
    FT y = x > (FT)(q) ? (FT)(q) : x;
    return y < (FT)(p) ? (FT)(p) : y;
#elif defined(ACT_LEAKY)
    return x < (FT)(0.0f) ? x * p : x;
#elif defined(ACT_THRESHOLDED)
    return x <= (FT)(p) ? (FT)(0.0f) : x;
#elif defined(ACT_SIGMOID)
    return 1.0f / (1.0f + exp(-x));
#elif defined(ACT_HARD_SIGMOID)
    FT y = fma((FT)(p), x, (FT)(q));
    y = y > (FT)(1.0f) ? (FT)(1.0f) : y;
    return y < (FT)(0.0f) ? (FT)(0.0f) : y;
#elif defined(ACT_HARD_SWISH)
    FT y = x + 3.0f;
    y = y > (FT)(6.0f) ? (FT)(6.0f) : y;
    y = y < (FT)(0.0f) ? (FT)(0.0f) : y;
    return x * y / 6.0f;
#elif defined(ACT_SILU)
    return x / (1.0f + exp(-x));
#elif defined(ACT_TANH)
    return tanh(x);
#elif defined(ACT_SCALED_TANH)
    return p * tanh(q * x);
#elif defined(ACT_ELU)
    return x < (FT)(0.0f) ? p * expm1(x) : x;
#elif defined(ACT_SOFTSIGN)
    return x / (1.0f + fabs(x));
#elif defined(ACT_SOFTPLUS)
    return fmax(x, (FT)(0.0f)) + log1p(exp(-fabs(x)));
#elif defined(ACT_GELU_EXACT)
    // 1 + erf(z) = erfc(-z), which keeps its digits where the sum would lose them.
    return 0.5f * x * erfc(-0.70710678118654752f * x);
#elif defined(ACT_GELU_TANH)
    // 1 + tanh(u) = 2 sigmoid(2 u), for the same reason.
    FT u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
    return x / (1.0f + exp(-2.0f * u));
#elif defined(ACT_GELU_SIGMOID)
    return x / (1.0f + exp(-1.702f * x));
#elif defined(ACT_LINEAR)
    return fma((FT)(p), x, (FT)(q));
#elif defined(ACT_POWER)
    return pow(x, (FT)(p));
#elif defined(ACT_RSQRT)
    return 1.0f / sqrt(x + p);
#elif defined(ACT_INVERSE)
    return 1.0f / (x + p);
#elif defined(ACT_LOG)
    return log(x + p);
#elif defined(ACT_SQRT)
    return sqrt(x);
#elif defined(ACT_SQUARE)
    return x * x;
#elif defined(ACT_EXP)
    return exp(x);
#elif defined(ACT_EXP2)
    return exp2(x);
#elif defined(ACT_ABS)
    return fabs(x);
#elif defined(ACT_NEGATE)
    return -x;
#elif defined(ACT_SIGN)
    return x > (FT)(0.0f) ? (FT)(1.0f) : (x < (FT)(0.0f) ? (FT)(-1.0f) : x);
#elif defined(ACT_CEIL)
    return ceil(x);
#elif defined(ACT_FLOOR)
    return floor(x);
#elif defined(ACT_ROUND)
    return rint(x);
#elif defined(ACT_SIN)
    return sin(x);
#elif defined(ACT_COS)
    return cos(x);
#elif defined(ACT_TAN)
    return tan(x);
#elif defined(ACT_ASIN)
    return asin(x);
#elif defined(ACT_ACOS)
    return acos(x);
#elif defined(ACT_ATAN)
    return atan(x);
#elif defined(ACT_SINH)
    return sinh(x);
#elif defined(ACT_COSH)
    return cosh(x);
#elif defined(ACT_ASINH)
    return asinh(x);
#elif defined(ACT_ACOSH)
    return acosh(x);
#elif defined(ACT_ATANH)
    return atanh(x);
#elif defined(ACT_ERF)
    return erf(x);
#elif defined(ACT_LOGICAL_NOT)
    return x == (FT)(0.0f) ? (FT)(1.0f) : (FT)(0.0f);
#else
    return x;
#endif
}

#if defined(OP_FLOOR_DIVIDE) || defined(OP_MODULO)
// The remainder with the divisor's sign; exact, where a - b floor(a / b) in float is not.
FT FN(remainder)(FT a, FT b)
{
    FT r = fmod(a, b);
    return r != (FT)(0.0f) && (r < (FT)(0.0f)) != (b < (FT)(0.0f)) ? r + b : r;
}
#endif

FT FN(combine)(FT a, FT b, FT c)
{
#if defined(OP_ADD)
    return a + b;
#elif defined(OP_SUBTRACT)
    return a - b;
#elif defined(OP_MULTIPLY)
    return a * b;
#elif defined(OP_DIVIDE)
    return a / b;
#elif defined(OP_FLOOR_DIVIDE)
    FT whole = rint((a - FN(remainder)(a, b)) / b);
    FT plain = floor(a / b);
    return fabs(b) > (FT)(0.0f) && fabs(b) < (FT)(INFINITY) && fabs(plain) < (FT)(INFINITY) ? whole : plain;
#elif defined(OP_MODULO)
    return fabs(b) < (FT)(INFINITY) ? FN(remainder)(a, b) : (FT)(NAN);
#elif defined(OP_POWER)
    return pow(a, b);
#elif defined(OP_MAXIMUM)
    FT m = a < b ? b : a;
    return b != b ? b : m;
#elif defined(OP_MINIMUM)
    FT m = b < a ? b : a;
    return b != b ? b : m;
#elif defined(OP_EQUAL)
    return a == b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_NOT_EQUAL)
    return a != b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_LESS)
    return a < b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_LESS_EQUAL)
    return a <= b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_GREATER)
    return a > b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_GREATER_EQUAL)
    return a >= b ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_LOGICAL_AND)
    return a != (FT)(0.0f) && b != (FT)(0.0f) ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_LOGICAL_OR)
    return a != (FT)(0.0f) || b != (FT)(0.0f) ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_LOGICAL_XOR)
    return (a != (FT)(0.0f)) != (b != (FT)(0.0f)) ? (FT)(1.0f) : (FT)(0.0f);
#elif defined(OP_SELECT)
    return a != (FT)(0.0f) ? b : c;
#elif defined(OP_AFFINE)
    return fma(a, b, c);
#elif defined(OP_PRELU)
    return a < (FT)(0.0f) ? a * b : a;
#else
    return a;
#endif
}
