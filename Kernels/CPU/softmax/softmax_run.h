// The body of every softmax kernel, written in the primitives of simd/*.h.
#include "../simd/functions.h"

// A lane of neighbouring elements.
VINLINE void softmax_row(size_t extent, int is_log, const float *x, float *y) {
    const float infinity = __builtin_inff();
    vf largest = vset1(-infinity);
    size_t i = 0;
    for (; i + VL <= extent; i += VL) largest = vmax(largest, vload(x + i));
    float top = vhmax(largest);
    for (size_t j = i; j < extent; j++) top = x[j] > top ? x[j] : top;
    const vf shift = vset1(top);
    vf sum = vset1(0);
    for (i = 0; i < extent; i += VL) {
        const size_t n = extent - i < VL ? extent - i : VL;
        float buffer[VL];
        vf e = vexp((n == VL ? vload(x + i) : vload_n(x + i, n)) - shift);
        if (n < VL) {
            // Lanes past the end must not count.
            vstore(buffer, e);
            e = vload_n(buffer, n);
        }
        sum += e;
        if (!is_log) vstore_n(y + i, e, n);
    }
    const float total = vsum(sum);
    const vf scale = vset1(1.0f / total);
    const vf lower = vlog(vset1(total));
    for (i = 0; i < extent; i += VL) {
        const size_t n = extent - i < VL ? extent - i : VL;
        const vf value = is_log ? vload_n(x + i, n) - shift - lower : vload_n(y + i, n) * scale;
        vstore_n(y + i, value, n);
    }
}

// `n` lanes side by side, their elements `inner` apart.
VINLINE void softmax_columns(size_t extent, size_t inner, size_t n, int is_log, const float *x, float *y) {
    vf largest = vset1(-__builtin_inff());
    for (size_t k = 0; k < extent; k++) largest = vmax(largest, vload_n(x + k * inner, n));
    vf sum = vset1(0);
    for (size_t k = 0; k < extent; k++) {
        const vf e = vexp(vload_n(x + k * inner, n) - largest);
        sum += e;
        if (!is_log) vstore_n(y + k * inner, e, n);
    }
    const vf scale = vset1(1.0f) / sum, lower = vlog(sum);
    for (size_t k = 0; k < extent; k++) {
        const size_t at = k * inner;
        vstore_n(y + at, is_log ? vload_n(x + at, n) - largest - lower : vload_n(y + at, n) * scale, n);
    }
}

void VNAME(nt_softmax)(size_t, size_t, size_t, int, const float *, float *);
void VNAME(nt_softmax)(size_t outer, size_t extent, size_t inner, int is_log, const float *x, float *y) {
    for (size_t o = 0; o < outer; o++) {
        const float *from = x + o * extent * inner;
        float *to = y + o * extent * inner;
        if (inner == 1) {
            softmax_row(extent, is_log, from, to);
            continue;
        }
        for (size_t i = 0; i < inner; i += VL) {
            softmax_columns(extent, inner, inner - i < VL ? inner - i : VL, is_log, from + i, to + i);
        }
    }
}
