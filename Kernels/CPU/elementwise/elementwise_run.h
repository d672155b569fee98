// The body of every elementwise kernel, written in the primitives of simd/*.h.
#include "../simd/functions.h"

// Walks n elements in vectors; LOAD(p) reads the vector of p that belongs to the current place.
#define EACH_VECTOR(n, BODY) \
    { \
        size_t i = 0; \
        for (; i + VL <= (n); i += VL) { \
            const size_t lanes = VL; \
            const int whole = 1; \
            (void)lanes; \
            BODY \
        } \
        if (i < (n)) { \
            const size_t lanes = (n)-i; \
            const int whole = 0; \
            BODY \
        } \
    }
#define LOAD(p) (whole ? vload((p) + i) : vload_n((p) + i, lanes))
#define STORE(p, v) \
    { \
        const vf stored = (v); \
        if (whole) vstore((p) + i, stored); \
        else vstore_n((p) + i, stored, lanes); \
    }

VINLINE vf unary_hard(vf x, vf upper) { return vmax(vset1(0), vmin(upper, x)); }

VINLINE vf unary_softplus(vf x) { return vmax(vset1(0), x) + vlog1p(vexp(-vabs(x))); }

VINLINE vf unary_gelu_tanh(vf x) {
    const vf inner = vset1(0.7978845608028654f) * vfma(vset1(0.044715f) * x * x, x, x);
    // (1 + tanh u) / 2 = sigmoid(2 u), which does not cancel for negative u
    return x * vsigmoid(inner + inner);
}

// (1 + erf(x / sqrt 2)) / 2, for negative x through the complement so that it does not cancel: the error is absolute, 2e-7.
VINLINE vf unary_gelu_exact(vf x) {
    return vset1(0.5f) * x * (vset1(1.0f) + verf(x * vset1(0.7071067811865476f)));
}

#define ONE(expression) \
    EACH_VECTOR(n, { \
        const vf v = LOAD(x); \
        STORE(y, (expression)); \
    }) \
    return

void VNAME(nt_unary)(int, size_t, const float *, float, float, float *);
void VNAME(nt_unary)(int function, size_t n, const float *x, float alpha, float beta, float *y) {
    const vf a = vset1(alpha), b = vset1(beta), zero = vset1(0), one = vset1(1);
    switch (function) {
    case NT_UNARY_CLAMP: ONE(vmax(a, vmin(b, v)));
    case NT_UNARY_LEAKY_RELU: ONE(vselect(v < zero, a * v, v));
    case NT_UNARY_THRESHOLDED_RELU: ONE(vselect((v > a) | (v != v), v, zero));
    case NT_UNARY_SIGMOID: ONE(vsigmoid(v));
    case NT_UNARY_SILU: ONE(v * vsigmoid(v));
    case NT_UNARY_TANH: ONE(vtanh(v));
    case NT_UNARY_SCALED_TANH: ONE(a * vtanh(b * v));
    case NT_UNARY_HARD_SIGMOID: ONE(unary_hard(vfma(a, v, b), one));
    case NT_UNARY_HARD_SWISH: ONE(v * unary_hard(v + vset1(3), vset1(6)) / vset1(6));
    case NT_UNARY_ELU: ONE(vselect(v < zero, a * vexpm1(v), v));
    case NT_UNARY_SOFTSIGN: ONE(v / (one + vabs(v)));
    case NT_UNARY_SOFTPLUS: ONE(unary_softplus(v));
    case NT_UNARY_GELU_EXACT: ONE(unary_gelu_exact(v));
    case NT_UNARY_GELU_TANH: ONE(unary_gelu_tanh(v));
    case NT_UNARY_GELU_SIGMOID: ONE(v * vsigmoid(vset1(1.702f) * v));
    case NT_UNARY_LINEAR: ONE(vfma(a, v, b));
    case NT_UNARY_SQRT: ONE(vsqrt(v));
    case NT_UNARY_SQUARE: ONE(v * v);
    case NT_UNARY_EXP: ONE(vexp(v));
    case NT_UNARY_ABS: ONE(vabs(v));
    case NT_UNARY_NEGATE: ONE(-v);
    case NT_UNARY_SIGN: ONE(vselect(v > zero, one, vselect(v < zero, -one, v)));
    case NT_UNARY_CEIL: ONE(vceil(v));
    case NT_UNARY_FLOOR: ONE(vfloor(v));
    case NT_UNARY_ROUND: ONE(vround(v));
    case NT_UNARY_ERF: ONE(verf(v));
    case NT_UNARY_LOGICAL_NOT: ONE(vselect(v == zero, one, zero));
    default: nt_unary_scalar(function, n, x, alpha, beta, y);
    }
}
#undef ONE

#define TWO(expression) \
    EACH_VECTOR(n, { \
        const vf p = a_step ? LOAD(a) : vset1(a[0]); \
        const vf q = b_step ? LOAD(b) : vset1(b[0]); \
        STORE(y, vmax(bottom, vmin(top, (expression)))); \
    }) \
    return

void VNAME(nt_binary)(int, size_t, const float *, size_t, const float *, size_t, float, float, float *);
void VNAME(nt_binary)(
    int function, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float lo, float hi, float *y) {
    const vf bottom = vset1(lo), top = vset1(hi), zero = vset1(0), one = vset1(1);
#define TRUTH(condition) vselect((condition), one, zero)
    switch (function) {
    case NT_BINARY_ADD: TWO(p + q);
    case NT_BINARY_SUBTRACT: TWO(p - q);
    case NT_BINARY_MULTIPLY: TWO(p * q);
    case NT_BINARY_DIVIDE: TWO(p / q);
    case NT_BINARY_MAXIMUM: TWO(vselect(p == p, vmax(p, q), p));
    case NT_BINARY_MINIMUM: TWO(vselect(p == p, vmin(p, q), p));
    case NT_BINARY_EQUAL: TWO(TRUTH(p == q));
    case NT_BINARY_NOT_EQUAL: TWO(TRUTH(p != q));
    case NT_BINARY_LESS: TWO(TRUTH(p < q));
    case NT_BINARY_LESS_EQUAL: TWO(TRUTH(p <= q));
    case NT_BINARY_GREATER: TWO(TRUTH(p > q));
    case NT_BINARY_GREATER_EQUAL: TWO(TRUTH(p >= q));
    case NT_BINARY_AND: TWO(TRUTH((p != zero) & (q != zero)));
    case NT_BINARY_OR: TWO(TRUTH((p != zero) | (q != zero)));
    case NT_BINARY_XOR: TWO(TRUTH((p != zero) ^ (q != zero)));
    default: break;
    }
    nt_binary_scalar(function, n, a, a_step, b, b_step, y);
    VNAME(nt_unary)(NT_UNARY_CLAMP, n, y, lo, hi, y);
#undef TRUTH
}
#undef TWO

void VNAME(nt_affine)(size_t, const float *, const float *, const float *, size_t, float, float, float *);
void VNAME(nt_affine)(
    size_t n, const float *x, const float *scale, const float *bias, size_t step, float lo, float hi, float *y) {
    const vf bottom = vset1(lo), top = vset1(hi);
    EACH_VECTOR(n, {
        const vf s = step ? LOAD(scale) : vset1(scale[0]);
        const vf b = step ? LOAD(bias) : vset1(bias[0]);
        STORE(y, vmax(bottom, vmin(top, vfma(LOAD(x), s, b))));
    })
}

void VNAME(nt_prelu)(size_t, const float *, const float *, size_t, float *);
void VNAME(nt_prelu)(size_t n, const float *x, const float *slope, size_t step, float *y) {
    EACH_VECTOR(n, {
        const vf v = LOAD(x);
        const vf s = step ? LOAD(slope) : vset1(slope[0]);
        STORE(y, vselect(v < vset1(0), s * v, v));
    })
}
