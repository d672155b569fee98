// The geometry of a sliding window over an image, shared by convolution, depthwise convolution and pooling.
#ifndef NT_WINDOW_H
#define NT_WINDOW_H

#include <stddef.h>

/// Output pixel (oy, ox) sees input rows oy * stride_y - pad_top + ky * dilation_y for ky in 0..<kernel_height, columns alike;
/// those outside the input are padding. Extents are positive.
typedef struct nt_window {
    size_t in_height, in_width, out_height, out_width;
    size_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
} nt_window;

/// The window's taps first..<last whose rows (or columns) lie inside an extent: one dimension at a time.
static inline void nt_window_taps(
    size_t out, size_t stride, size_t pad, size_t dilation, size_t kernel, size_t extent, size_t *first, size_t *last) {
    const ptrdiff_t start = (ptrdiff_t)(out * stride) - (ptrdiff_t)pad;
    size_t f = 0, l = kernel;
    if (start < 0) f = ((size_t)-start + dilation - 1) / dilation;
    if (f > kernel) f = kernel;
    if (start >= (ptrdiff_t)extent) l = 0;
    else if (start + (ptrdiff_t)((kernel - 1) * dilation) >= (ptrdiff_t)extent)
        l = (size_t)((ptrdiff_t)extent - 1 - start) / dilation + 1;
    if (l < f) l = f;
    *first = f;
    *last = l;
}

#endif
