// The body of every depthwise kernel, written in the primitives of simd/*.h.

#pragma clang diagnostic ignored "-Wpass-failed"
#define NT_UNROLL _Pragma("clang loop unroll(full)")

// One vector of channels, n of its lanes in use. `whole` is a constant at each use.
VINLINE vf depthwise_load(const float *p, size_t n, const int whole) { return whole ? vload(p) : vload_n(p, n); }
VINLINE void depthwise_store(float *p, vf v, size_t n, const int whole) {
    if (whole) vstore(p, v);
    else vstore_n(p, v, n);
}

// Output columns from..<to of channels c..<c+n, any window, columns outside the input left out.
VINLINE void depthwise_any(const nt_depthwise_row *d, size_t c, size_t n, const int whole, size_t from, size_t to) {
    const vf lo = vset1(d->lo), hi = vset1(d->hi), bias = vload(d->bias + c);
    for (size_t ox = from; ox < to; ox++) {
        const ptrdiff_t left = (ptrdiff_t)(ox * d->stride) - (ptrdiff_t)d->pad_left;
        vf sum = bias;
        for (size_t r = 0; r < d->row_count; r++) {
            const float *w = d->weights + r * d->kernel_width * d->weight_stride + c;
            for (size_t kx = 0; kx < d->kernel_width; kx++) {
                const ptrdiff_t x = left + (ptrdiff_t)(kx * d->dilation);
                if (x < 0 || x >= (ptrdiff_t)d->in_width) continue;
                const vf value = depthwise_load(d->rows[r] + (size_t)x * d->x_stride + c, n, whole);
                sum = vfma(value, vload(w + kx * d->weight_stride), sum);
            }
        }
        depthwise_store(d->y + ox * d->y_stride + c, vmax(lo, vmin(hi, sum)), n, whole);
    }
}

// `count` neighbouring output columns of a window 3 wide, all of whose columns lie inside the input.
VINLINE void depthwise_group(
    const nt_depthwise_row *d, size_t c, size_t n, const int whole, const int rows, const int stride, const int count,
    const vf weights[3][3], size_t ox) {
    const vf lo = vset1(d->lo), hi = vset1(d->hi);
    const vf bias = vload(d->bias + c);
    const size_t x = ox * (size_t)stride - d->pad_left;
    const int columns = (count - 1) * stride + 3;
    vf sums[4];
    NT_UNROLL for (int i = 0; i < count; i++) sums[i] = bias;
    NT_UNROLL for (int r = 0; r < rows; r++) {
        const float *p = d->rows[r] + x * d->x_stride + c;
        NT_UNROLL for (int j = 0; j < columns; j++) {
            const vf value = depthwise_load(p + (size_t)j * d->x_stride, n, whole);
            NT_UNROLL for (int i = 0; i < count; i++) {
                const int kx = j - i * stride;
                if (kx >= 0 && kx < 3) sums[i] = vfma(value, weights[r][kx], sums[i]);
            }
        }
    }
    NT_UNROLL for (int i = 0; i < count; i++) {
        depthwise_store(d->y + (ox + (size_t)i) * d->y_stride + c, vmax(lo, vmin(hi, sums[i])), n, whole);
    }
}

// One vector of channels of a row under a window 3 wide and `rows` high.
VINLINE void depthwise_3(const nt_depthwise_row *d, size_t c, size_t n, const int whole, const int rows, const int stride) {
    vf weights[3][3];
    NT_UNROLL for (int r = 0; r < rows; r++) {
        NT_UNROLL for (int kx = 0; kx < 3; kx++)
            weights[r][kx] = vload(d->weights + (size_t)(r * 3 + kx) * d->weight_stride + c);
    }
    // Columns inside: first..<last.
    const size_t s = (size_t)stride;
    size_t first = (d->pad_left + s - 1) / s;
    size_t last = d->in_width + d->pad_left >= 3 ? (d->in_width + d->pad_left - 3) / s + 1 : 0;
    if (last > d->out_width) last = d->out_width;
    if (first > last) first = last;
    depthwise_any(d, c, n, whole, 0, first);
    size_t ox = first;
    for (; ox + 4 <= last; ox += 4) depthwise_group(d, c, n, whole, rows, stride, 4, weights, ox);
    for (; ox < last; ox++) depthwise_group(d, c, n, whole, rows, stride, 1, weights, ox);
    depthwise_any(d, c, n, whole, last, d->out_width);
}

VINLINE void depthwise_channels(const nt_depthwise_row *d, size_t c, size_t n, const int whole) {
    if (d->kernel_width == 3 && d->dilation == 1 && d->stride <= 2) {
        switch (d->row_count * 2 + d->stride) {
        case 7: depthwise_3(d, c, n, whole, 3, 1); return;
        case 8: depthwise_3(d, c, n, whole, 3, 2); return;
        case 5: depthwise_3(d, c, n, whole, 2, 1); return;
        case 6: depthwise_3(d, c, n, whole, 2, 2); return;
        default: break;
        }
    }
    depthwise_any(d, c, n, whole, 0, d->out_width);
}

void VNAME(nt_depthwise)(const nt_depthwise_row *d);
void VNAME(nt_depthwise)(const nt_depthwise_row *d) {
    size_t c = 0;
    for (; c + VL <= d->channels; c += VL) depthwise_channels(d, c, VL, 1);
    if (c < d->channels) depthwise_channels(d, c, d->channels - c, 0);
}
