// The body of the depthwise kernels on slots of two: 16 slots, 32 channels, at a time; 16 channels and fewer in a vector of their own,
// in channel order (`narrow`). Weights, sums and clamp are float32.

typedef vhalves dv;
enum { group = 2 * VL };  // channels of 16 slots

enum { whole_group, part_group, narrow_group };

// Narrow, up to 16 channels in the first vector alone.
VINLINE vhalves depthwise_load(const float *p, size_t slots, const int kind) {
    if (kind == narrow_group) return (vhalves){load_pairs(p, slots), vset1(0)};
    return load_halves(p, kind == whole_group ? VL : slots);
}

VINLINE vhalves depthwise_weights(const float *p, const int kind) {
    return (vhalves){vload(p), kind == narrow_group ? vset1(0) : vload(p + VL)};
}

VINLINE vhalves depthwise_add(vhalves x, vhalves w, vhalves sum, const int kind) {
    if (kind == narrow_group) return (vhalves){vfma(x.first, w.first, sum.first), sum.second};
    return (vhalves){vfma(x.first, w.first, sum.first), vfma(x.second, w.second, sum.second)};
}

VINLINE void depthwise_store(const nt_depthwise_rows *d, float *p, vhalves v, size_t slots, const int kind) {
    const vf lo = vset1(d->lo), hi = vset1(d->hi);
    if (kind == narrow_group) {
        store_pairs(p, vmax(lo, vmin(hi, v.first)), slots);
        return;
    }
    const vhalves clamped = {vmax(lo, vmin(hi, v.first)), vmax(lo, vmin(hi, v.second))};
    store_halves(p, clamped, kind == whole_group ? VL : slots);
}

#include "depthwise_window.h"

void VNAME(nt_depthwise)(const nt_depthwise_rows *d);
void VNAME(nt_depthwise)(const nt_depthwise_rows *d) {
    size_t c = 0;
    for (; c + group <= d->channels; c += group) depthwise_channels(d, c, c / 2, VL, whole_group);
    const size_t rest = d->channels - c, slots = nt_slots(NT_PAIRS, rest);
    if (rest > VL) depthwise_channels(d, c, c / 2, slots, part_group);
    else if (rest > 0) depthwise_channels(d, c, c / 2, slots, narrow_group);
}
