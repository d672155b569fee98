// The body of the depthwise kernels on slots of two: 16 slots, 32 channels, at a time; 16 channels and fewer in a vector of their own,
// in channel order (`narrow`). Weights, sums and clamp are float32.

#pragma clang diagnostic ignored "-Wpass-failed"
#define NT_UNROLL _Pragma("clang loop unroll(full)")

enum { group = 2 * VL };  // channels of 16 slots

enum { whole_group, part_group, narrow_group };  // constants at each use

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

VINLINE void depthwise_store(const nt_depthwise_row *d, float *p, vhalves v, size_t slots, const int kind) {
    const vf lo = vset1(d->lo), hi = vset1(d->hi);
    if (kind == narrow_group) {
        store_pairs(p, vmax(lo, vmin(hi, v.first)), slots);
        return;
    }
    const vhalves clamped = {vmax(lo, vmin(hi, v.first)), vmax(lo, vmin(hi, v.second))};
    store_halves(p, clamped, kind == whole_group ? VL : slots);
}

// Output columns from..<to of the channels from c on, any window, columns outside the input left out.
VINLINE void depthwise_any(const nt_depthwise_row *d, size_t c, size_t slots, const int kind, size_t from, size_t to) {
    const vhalves bias = depthwise_weights(d->bias + c, kind);
    for (size_t ox = from; ox < to; ox++) {
        const ptrdiff_t left = (ptrdiff_t)(ox * d->stride) - (ptrdiff_t)d->pad_left;
        vhalves sum = bias;
        for (size_t r = 0; r < d->row_count; r++) {
            const float *w = d->weights + r * d->kernel_width * d->weight_stride + c;
            for (size_t kx = 0; kx < d->kernel_width; kx++) {
                const ptrdiff_t x = left + (ptrdiff_t)(kx * d->dilation);
                if (x < 0 || x >= (ptrdiff_t)d->in_width) continue;
                const vhalves value = depthwise_load(d->rows[r] + (size_t)x * d->x_stride + c / 2, slots, kind);
                sum = depthwise_add(value, depthwise_weights(w + kx * d->weight_stride, kind), sum, kind);
            }
        }
        depthwise_store(d, d->y + ox * d->y_stride + c / 2, sum, slots, kind);
    }
}

// `count` neighbouring output columns of a window 3 wide, all of whose columns lie inside the input.
VINLINE void depthwise_group(
    const nt_depthwise_row *d, size_t c, size_t slots, const int kind, const int rows, const int stride, const int count,
    size_t ox) {
    const vhalves bias = depthwise_weights(d->bias + c, kind);
    const size_t x = ox * (size_t)stride - d->pad_left;
    const int columns = (count - 1) * stride + 3;
    vhalves sums[4];
    NT_UNROLL for (int i = 0; i < count; i++) sums[i] = bias;
    NT_UNROLL for (int r = 0; r < rows; r++) {
        const float *p = d->rows[r] + x * d->x_stride + c / 2;
        vhalves w[3];
        NT_UNROLL for (int kx = 0; kx < 3; kx++)
            w[kx] = depthwise_weights(d->weights + (size_t)(r * 3 + kx) * d->weight_stride + c, kind);
        NT_UNROLL for (int j = 0; j < columns; j++) {
            const vhalves value = depthwise_load(p + (size_t)j * d->x_stride, slots, kind);
            NT_UNROLL for (int i = 0; i < count; i++) {
                const int kx = j - i * stride;
                if (kx >= 0 && kx < 3) sums[i] = depthwise_add(value, w[kx], sums[i], kind);
            }
        }
    }
    NT_UNROLL for (int i = 0; i < count; i++)
        depthwise_store(d, d->y + (ox + (size_t)i) * d->y_stride + c / 2, sums[i], slots, kind);
}

// 16 slots of a row under a window 3 wide and `rows` high.
VINLINE void depthwise_3(const nt_depthwise_row *d, size_t c, size_t slots, const int kind, const int rows, const int stride) {
    // Columns inside: first..<last.
    const size_t s = (size_t)stride;
    size_t first = (d->pad_left + s - 1) / s;
    size_t last = d->in_width + d->pad_left >= 3 ? (d->in_width + d->pad_left - 3) / s + 1 : 0;
    if (last > d->out_width) last = d->out_width;
    if (first > last) first = last;
    depthwise_any(d, c, slots, kind, 0, first);
    size_t ox = first;
    for (; ox + 4 <= last; ox += 4) depthwise_group(d, c, slots, kind, rows, stride, 4, ox);
    for (; ox < last; ox++) depthwise_group(d, c, slots, kind, rows, stride, 1, ox);
    depthwise_any(d, c, slots, kind, last, d->out_width);
}

VINLINE void depthwise_channels(const nt_depthwise_row *d, size_t c, size_t slots, const int kind) {
    if (d->kernel_width == 3 && d->dilation == 1 && d->stride <= 2) {
        switch (d->row_count * 2 + d->stride) {
        case 7: depthwise_3(d, c, slots, kind, 3, 1); return;
        case 8: depthwise_3(d, c, slots, kind, 3, 2); return;
        case 5: depthwise_3(d, c, slots, kind, 2, 1); return;
        case 6: depthwise_3(d, c, slots, kind, 2, 2); return;
        default: break;
        }
    }
    depthwise_any(d, c, slots, kind, 0, d->out_width);
}

void VNAME(nt_depthwise)(const nt_depthwise_row *d);
void VNAME(nt_depthwise)(const nt_depthwise_row *d) {
    size_t c = 0;
    for (; c + group <= d->channels; c += group) depthwise_channels(d, c, VL, whole_group);
    const size_t rest = d->channels - c, slots = nt_slots(NT_PAIRS, rest);
    if (rest > VL) depthwise_channels(d, c, slots, part_group);
    else if (rest > 0) depthwise_channels(d, c, slots, narrow_group);
}
