// The body of the depthwise kernels on float32, written in the primitives of simd/*.h: one vector of channels at a time.

typedef vf dv;
enum { whole_vector, part_vector };

VINLINE vf depthwise_load(const float *p, size_t n, const int kind) { return kind == whole_vector ? vload(p) : vload_n(p, n); }
VINLINE vf depthwise_weights(const float *p, const int kind) {
    (void)kind;
    return vload(p);
}
VINLINE vf depthwise_add(vf x, vf w, vf sum, const int kind) {
    (void)kind;
    return vfma(x, w, sum);
}
VINLINE void depthwise_store(const nt_depthwise_rows *d, float *p, vf v, size_t n, const int kind) {
    v = vmax(vset1(d->lo), vmin(vset1(d->hi), v));
    if (kind == whole_vector) vstore(p, v);
    else vstore_n(p, v, n);
}

#include "depthwise_window.h"

void VNAME(nt_depthwise)(const nt_depthwise_rows *d);
void VNAME(nt_depthwise)(const nt_depthwise_rows *d) {
    size_t c = 0;
    for (; c + VL <= d->channels; c += VL) depthwise_channels(d, c, c, VL, whole_vector);
    if (c < d->channels) depthwise_channels(d, c, c, d->channels - c, part_vector);
}
