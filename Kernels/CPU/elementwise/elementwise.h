// Functions of one and of two numbers over runs of elements, float32.
//
// Accuracy against the exact value, over the whole range (measured by the tests): +, -, *, /, comparisons, clamps and the other
// piecewise linear functions, sqrt, floor, ceil, round are correctly rounded or exact; exp, sigmoid, silu, tanh, elu,
// softplus, erf and the three gelu are within 1e-6 relative or 1e-6 absolute (their vector approximations); trigonometric and
// hyperbolic functions, exp2, logarithms, reciprocals and powers are the C library's (1 ULP or so). NaN gives NaN unless a function says otherwise.
// y may be x, a or b itself; partial overlap is not allowed. Nothing past n is touched.
#ifndef NT_ELEMENTWISE_H
#define NT_ELEMENTWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Functions of one number; `alpha` and `beta` are their parameters.
enum {
    NT_UNARY_CLAMP,              ///< max(alpha, min(beta, x))
    NT_UNARY_LEAKY_RELU,         ///< x < 0 ? alpha x : x
    NT_UNARY_THRESHOLDED_RELU,   ///< x > alpha ? x : 0
    NT_UNARY_SIGMOID, NT_UNARY_SILU, NT_UNARY_TANH,
    NT_UNARY_SCALED_TANH,        ///< alpha tanh(beta x)
    NT_UNARY_HARD_SIGMOID,       ///< max(0, min(1, alpha x + beta))
    NT_UNARY_HARD_SWISH,         ///< x max(0, min(6, x + 3)) / 6
    NT_UNARY_ELU,                ///< x < 0 ? alpha (e^x - 1) : x
    NT_UNARY_SOFTSIGN, NT_UNARY_SOFTPLUS, NT_UNARY_GELU_EXACT, NT_UNARY_GELU_TANH, NT_UNARY_GELU_SIGMOID,
    NT_UNARY_LINEAR,             ///< alpha x + beta
    NT_UNARY_POWER,              ///< x^alpha
    NT_UNARY_RSQRT,              ///< 1 / sqrt(x + alpha)
    NT_UNARY_INVERSE,            ///< 1 / (x + alpha)
    NT_UNARY_LOG,                ///< ln(x + alpha)
    NT_UNARY_SQRT, NT_UNARY_SQUARE, NT_UNARY_EXP, NT_UNARY_EXP2, NT_UNARY_ABS, NT_UNARY_NEGATE, NT_UNARY_SIGN,
    NT_UNARY_CEIL, NT_UNARY_FLOOR, NT_UNARY_ROUND, NT_UNARY_ERF,
    NT_UNARY_SIN, NT_UNARY_COS, NT_UNARY_TAN, NT_UNARY_ASIN, NT_UNARY_ACOS, NT_UNARY_ATAN,
    NT_UNARY_SINH, NT_UNARY_COSH, NT_UNARY_ASINH, NT_UNARY_ACOSH, NT_UNARY_ATANH,
    NT_UNARY_LOGICAL_NOT,        ///< x == 0 ? 1 : 0
    NT_UNARY_COUNT
};

/// Functions of two numbers. Comparisons and logic give 1 or 0.
enum {
    NT_BINARY_ADD, NT_BINARY_SUBTRACT, NT_BINARY_MULTIPLY, NT_BINARY_DIVIDE, NT_BINARY_FLOOR_DIVIDE,
    NT_BINARY_MODULO,            ///< with the divisor's sign
    NT_BINARY_POWER,
    NT_BINARY_MAXIMUM, NT_BINARY_MINIMUM,  ///< NaN when either is
    NT_BINARY_EQUAL, NT_BINARY_NOT_EQUAL, NT_BINARY_LESS, NT_BINARY_LESS_EQUAL, NT_BINARY_GREATER, NT_BINARY_GREATER_EQUAL,
    NT_BINARY_AND, NT_BINARY_OR, NT_BINARY_XOR,
    NT_BINARY_COUNT
};

typedef struct nt_elementwise_kernel {
    const char *name;
    uint32_t isa;
    int lanes;
    /// y[i] = f(x[i])
    void (*unary)(int function, size_t n, const float *x, float alpha, float beta, float *y);
    /// y[i] = clamp(f(a[i * a_step], b[i * b_step]), lo, hi); steps are 0 or 1.
    void (*binary)(
        int function, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float lo, float hi, float *y);
    /// y[i] = clamp(x[i] * scale[i * step] + bias[i * step], lo, hi); step is 0 or 1.
    void (*affine)(
        size_t n, const float *x, const float *scale, const float *bias, size_t step, float lo, float hi, float *y);
    /// y[i] = x[i] < 0 ? slope[i * step] x[i] : x[i]; step is 0 or 1.
    void (*prelu)(size_t n, const float *x, const float *slope, size_t step, float *y);
} nt_elementwise_kernel;

size_t nt_elementwise_kernel_count(void);
const nt_elementwise_kernel *nt_elementwise_kernel_at(size_t index);

/// The kernel with most lanes that the instruction sets in `isa` allow.
const nt_elementwise_kernel *nt_elementwise_choose(uint32_t isa);

/// The functions without a vector form, element by element.
void nt_unary_scalar(int function, size_t n, const float *x, float alpha, float beta, float *y);
void nt_binary_scalar(int function, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *y);

#ifdef __cplusplus
}
#endif
#endif
