// The loops of every depthwise kernel. The file that includes this one says what a vector of channels is:
//
//   dv                                            the vector
//   depthwise_load(p, slots, kind)                from an image
//   depthwise_weights(p, kind)                    from weights or bias
//   depthwise_add(x, w, sum, kind)                sum + x * w
//   depthwise_store(d, p, v, slots, kind)         clamped, to the output
//
// `kind` is a constant at each use; `c` is the vector's first channel among weights, `at` its first slot of a pixel.

#include "../simd/unroll.h"

enum { depthwise_columns = 4 };  // output columns of a group

// Output columns from..<to, any window, columns outside the input left out.
VINLINE void depthwise_any(
    const nt_depthwise_rows *d, size_t c, size_t at, size_t slots, const int kind, ptrdiff_t from, ptrdiff_t to) {
    const dv bias = depthwise_weights(d->bias + c, kind);
    for (size_t q = 0; q < d->out_rows; q++) {
        const float *const *rows = d->rows + q * d->stride;
        for (ptrdiff_t ox = from; ox < to; ox++) {
            const ptrdiff_t left = ox * (ptrdiff_t)d->stride - (ptrdiff_t)d->pad_left;
            dv sum = bias;
            for (size_t r = 0; r < d->kernel_height; r++) {
                if (!rows[r]) continue;
                const float *w = d->weights + r * d->kernel_width * d->weight_stride + c;
                for (size_t kx = 0; kx < d->kernel_width; kx++) {
                    const ptrdiff_t x = left + (ptrdiff_t)(kx * d->dilation);
                    if (x < 0 || x >= (ptrdiff_t)d->in_width) continue;
                    const dv value = depthwise_load(rows[r] + (size_t)x * d->x_stride + at, slots, kind);
                    sum = depthwise_add(value, depthwise_weights(w + kx * d->weight_stride, kind), sum, kind);
                }
            }
            depthwise_store(d, d->y + q * d->y_row_stride + (size_t)ox * d->y_stride + at, sum, slots, kind);
        }
    }
}

// `count` neighbouring output columns of `out_rows` rows under a window of 3 x 3. Of the input columns that they see only the first and the
// last may lie outside.
VINLINE void depthwise_group(
    const nt_depthwise_rows *d, size_t c, size_t at, size_t slots, const int kind, const int out_rows, const int stride,
    const int count, dv weights[3][3], ptrdiff_t ox) {
    const int columns = (count - 1) * stride + 3;
    const ptrdiff_t x = ox * stride - (ptrdiff_t)d->pad_left;
    const int first = x < 0, last = columns - (x + columns > (ptrdiff_t)d->in_width);
    const dv bias = depthwise_weights(d->bias + c, kind);
    dv sums[2][depthwise_columns];
    NT_UNROLL for (int q = 0; q < out_rows; q++) {
        NT_UNROLL for (int i = 0; i < count; i++) sums[q][i] = bias;
    }
    NT_UNROLL for (int row = 0; row < 3 + (out_rows - 1) * stride; row++) {
        const float *p = d->rows[row];
        if (!p) continue;
        NT_UNROLL for (int j = 0; j < columns; j++) {
            if ((j == 0 && first) || (j == columns - 1 && j == last)) continue;
            const dv value = depthwise_load(p + (size_t)(x + j) * d->x_stride + at, slots, kind);
            NT_UNROLL for (int q = 0; q < out_rows; q++) {
                const int r = row - q * stride;
                NT_UNROLL for (int i = 0; i < count; i++) {
                    const int kx = j - i * stride;
                    if (r >= 0 && r < 3 && kx >= 0 && kx < 3) sums[q][i] = depthwise_add(value, weights[r][kx], sums[q][i], kind);
                }
            }
        }
    }
    NT_UNROLL for (int q = 0; q < out_rows; q++) {
        NT_UNROLL for (int i = 0; i < count; i++) {
            depthwise_store(
                d, d->y + (size_t)q * d->y_row_stride + (size_t)(ox + i) * d->y_stride + at, sums[q][i], slots, kind);
        }
    }
}

// Output columns under a window of 3 x 3.
VINLINE void depthwise_3x3(
    const nt_depthwise_rows *d, size_t c, size_t at, size_t slots, const int kind, const int out_rows, const int stride) {
    dv weights[3][3];
    NT_UNROLL for (int t = 0; t < 9; t++) weights[t / 3][t % 3] = depthwise_weights(d->weights + (size_t)t * d->weight_stride + c, kind);
    // Columns first..<last see at most one input column outside at either end.
    const ptrdiff_t pad = (ptrdiff_t)d->pad_left, out_width = (ptrdiff_t)d->out_width, in_width = (ptrdiff_t)d->in_width;
    ptrdiff_t first = pad > 1 ? (pad - 1 + stride - 1) / stride : 0, last = in_width + pad >= 2 ? (in_width + pad - 2) / stride + 1 : 0;
    if (last > out_width) last = out_width;
    if (first > last) first = last;
    depthwise_any(d, c, at, slots, kind, 0, first);
    ptrdiff_t ox = first;
    for (; ox + 4 <= last; ox += 4) depthwise_group(d, c, at, slots, kind, out_rows, stride, 4, weights, ox);
    switch (last - ox) {
    case 3: depthwise_group(d, c, at, slots, kind, out_rows, stride, 3, weights, ox); break;
    case 2: depthwise_group(d, c, at, slots, kind, out_rows, stride, 2, weights, ox); break;
    case 1: depthwise_group(d, c, at, slots, kind, out_rows, stride, 1, weights, ox); break;
    default: break;
    }
    depthwise_any(d, c, at, slots, kind, last, out_width);
}

VINLINE void depthwise_channels(const nt_depthwise_rows *d, size_t c, size_t at, size_t slots, const int kind) {
    if (d->kernel_height == 3 && d->kernel_width == 3 && d->dilation == 1 && d->stride <= 2) {
        switch (d->out_rows * 2 + d->stride) {
        case 3: depthwise_3x3(d, c, at, slots, kind, 1, 1); return;
        case 4: depthwise_3x3(d, c, at, slots, kind, 1, 2); return;
        case 5: depthwise_3x3(d, c, at, slots, kind, 2, 1); return;
        case 6: depthwise_3x3(d, c, at, slots, kind, 2, 2); return;
        default: break;
        }
    }
    depthwise_any(d, c, at, slots, kind, 0, (ptrdiff_t)d->out_width);
}
