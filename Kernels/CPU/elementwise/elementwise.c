#include "elementwise.h"

#include <CNTPlatform.h>
#include <math.h>

#define NT_ELEMENTWISE_KERNEL(suffix, name, isa, lanes) \
    void nt_unary_##suffix(int, size_t, const float *, float, float, float *); \
    void nt_binary_##suffix(int, size_t, const float *, size_t, const float *, size_t, float, float, float *); \
    void nt_affine_##suffix(size_t, const float *, const float *, const float *, size_t, float, float, float *); \
    void nt_prelu_##suffix(size_t, const float *, const float *, size_t, float *);
#include "elementwise.inc"
#undef NT_ELEMENTWISE_KERNEL

static const nt_elementwise_kernel kernels[] = {
#define NT_ELEMENTWISE_KERNEL(suffix, name, isa, lanes) \
    {name, isa, lanes, nt_unary_##suffix, nt_binary_##suffix, nt_affine_##suffix, nt_prelu_##suffix},
#include "elementwise.inc"
#undef NT_ELEMENTWISE_KERNEL
};

size_t nt_elementwise_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_elementwise_kernel *nt_elementwise_kernel_at(size_t index) {
    return index < nt_elementwise_kernel_count() ? &kernels[index] : NULL;
}

const nt_elementwise_kernel *nt_elementwise_choose(uint32_t isa) {
    const nt_elementwise_kernel *best = NULL;
    for (size_t i = 0; i < nt_elementwise_kernel_count(); i++) {
        const nt_elementwise_kernel *kernel = &kernels[i];
        if ((kernel->isa & isa) == kernel->isa && (!best || kernel->lanes > best->lanes)) best = kernel;
    }
    return best;
}

void nt_unary_scalar(int function, size_t n, const float *x, float alpha, float beta, float *y) {
#define EACH(expression) \
    for (size_t i = 0; i < n; i++) { \
        const float v = x[i]; \
        y[i] = (float)(expression); \
    } \
    return
    (void)beta;
    switch (function) {
    case NT_UNARY_POWER: EACH(pow((double)v, (double)alpha));
    case NT_UNARY_EXP2: EACH(exp2f(v));
    case NT_UNARY_SIN: EACH(sinf(v));
    case NT_UNARY_COS: EACH(cosf(v));
    case NT_UNARY_TAN: EACH(tanf(v));
    case NT_UNARY_ASIN: EACH(asinf(v));
    case NT_UNARY_ACOS: EACH(acosf(v));
    case NT_UNARY_ATAN: EACH(atanf(v));
    case NT_UNARY_SINH: EACH(sinhf(v));
    case NT_UNARY_COSH: EACH(coshf(v));
    case NT_UNARY_ASINH: EACH(asinhf(v));
    case NT_UNARY_ACOSH: EACH(acoshf(v));
    case NT_UNARY_ATANH: EACH(atanhf(v));
    // The sum is formed in double so that it is rounded once, with the function's value.
    case NT_UNARY_RSQRT: EACH(1.0 / sqrt((double)v + (double)alpha));
    case NT_UNARY_INVERSE: EACH(1.0 / ((double)v + (double)alpha));
    case NT_UNARY_LOG: EACH(log((double)v + (double)alpha));
    default: EACH(v);
    }
#undef EACH
}

void nt_binary_scalar(int function, size_t n, const float *a, size_t a_step, const float *b, size_t b_step, float *y) {
    for (size_t i = 0; i < n; i++) {
        const double p = a[i * a_step], q = b[i * b_step];
        switch (function) {
        case NT_BINARY_FLOOR_DIVIDE: y[i] = (float)floor(p / q); break;
        case NT_BINARY_MODULO: y[i] = (float)(p - q * floor(p / q)); break;
        default: y[i] = (float)pow(p, q); break;
        }
    }
}
