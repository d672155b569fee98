// Vector primitives in the compiler's own vector types: 4 lanes of float on any processor. `end.h` closes the region.
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang attribute push(__attribute__((annotate("portable"))), apply_to = function)

#define VL 4
#define VNAME(name) name##_portable
typedef float vf __attribute__((vector_size(16)));
typedef float vf_unaligned __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(16)));

#define VINLINE static inline __attribute__((always_inline, unused))

VINLINE vf vload(const float *p) { return *(const vf_unaligned *)p; }
VINLINE void vstore(float *p, vf v) { *(vf_unaligned *)p = v; }
/// The first n lanes (0 to 4) from memory, zeros in the others. Reads nothing past them.
VINLINE vf vload_n(const float *p, size_t n) {
    if (n == VL) return vload(p);
    vf v = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i++) v[i] = p[i];
    return v;
}
/// Stores the first n lanes. Writes nothing past them.
VINLINE void vstore_n(float *p, vf v, size_t n) {
    if (n == VL) { vstore(p, v); return; }
    for (size_t i = 0; i < n; i++) p[i] = v[i];
}
VINLINE vf vset1(float x) { return (vf){x, x, x, x}; }
VINLINE vf vfma(vf a, vf b, vf c) { return a * b + c; }
/// *a in all lanes, times b plus c.
VINLINE vf vfma_spread(const float *a, vf b, vf c) { return vfma(vset1(*a), b, c); }
/// mask ? a : b, lane by lane; the lanes of mask are all ones or all zeros.
VINLINE vf vselect(vi mask, vf a, vf b) { return (vf)(((vi)a & mask) | ((vi)b & ~mask)); }
/// max(a, b); b when either is NaN.
VINLINE vf vmax(vf a, vf b) { return vselect(a > b, a, b); }
/// min(a, b); b when either is NaN.
VINLINE vf vmin(vf a, vf b) { return vselect(a < b, a, b); }
VINLINE vf vsqrt(vf a) { return __builtin_elementwise_sqrt(a); }
VINLINE vf vfloor(vf a) { return __builtin_elementwise_floor(a); }
VINLINE vf vceil(vf a) { return __builtin_elementwise_ceil(a); }
VINLINE vf vround(vf a) { return __builtin_elementwise_roundeven(a); }
/// Of whole numbers; those outside int32, and NaN, give any value.
VINLINE vi vtoint(vf a) {
    const vf safe = vmax(vset1(-2147483648.0f), vmin(vset1(2147483520.0f), vselect(a == a, a, vset1(0))));
    return __builtin_convertvector(safe, vi);
}
VINLINE vf vfromint(vi a) { return __builtin_convertvector(a, vf); }
VINLINE float vsum(vf a) { return (a[0] + a[2]) + (a[1] + a[3]); }
VINLINE float vhmax(vf a) {
    const float x = a[0] > a[2] ? a[0] : a[2], y = a[1] > a[3] ? a[1] : a[3];
    return x > y ? x : y;
}
