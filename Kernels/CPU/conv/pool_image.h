// Pooling of whole images, N H W C, of the kernel's element: pixels of `pool.h` over a batch.
#ifndef NT_POOL_IMAGE_H
#define NT_POOL_IMAGE_H

#include "../pool/pool.h"
#include "window.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_POOL_MAX_TAPS = 4096 };

typedef struct nt_pool_image {
    nt_window window;
    size_t batch, channels;
    size_t x_stride, y_stride;      ///< slots from pixel to pixel
    const nt_pool_kernel *kernel;
    int function;                   ///< NT_POOL_
    /// An average divides by the window's extent inside the padded input (input plus pad_top, pad_bottom, ...) rather than
    /// inside the input.
    int counts_padding;
    size_t pad_bottom, pad_right;
} nt_pool_image;

/// Output row `oy` of one image into y. Input row iy lies at row iy % ring_rows of `image`.
void nt_pool_image_row(const nt_pool_image *p, const float *image, size_t ring_rows, size_t oy, float *y);

/// Computes share `part` of `parts` of the output rows. At most NT_POOL_MAX_TAPS taps in the window.
void nt_pool_image_run(const nt_pool_image *p, const float *x, float *y, size_t part, size_t parts);

/// Sums or averages over whole images: y[n][c] = scale * sum over pixels; y is float32, y_stride in floats.
void nt_pool_image_sum(
    const nt_pool_kernel *kernel, size_t batch, size_t height, size_t width, size_t x_stride, size_t channels, float scale,
    const float *x, float *y, size_t y_stride);

#ifdef __cplusplus
}
#endif
#endif
