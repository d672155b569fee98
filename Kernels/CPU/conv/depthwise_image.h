// Depthwise convolution of whole images, N H W C, float32, bfloat16 or float16 as the kernel is: rows of `depthwise.h` over a batch.
#ifndef NT_DEPTHWISE_IMAGE_H
#define NT_DEPTHWISE_IMAGE_H

#include "../depthwise/depthwise.h"
#include "conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_DEPTHWISE_MAX_HEIGHT = 64, NT_DEPTHWISE_MAX_ROWS = 64 };

typedef struct nt_depthwise_image {
    nt_window window;
    size_t batch, channels;
    size_t x_stride, y_stride;     ///< slots from pixel to pixel
    const nt_depthwise_kernel *kernel;
    const float *weights;          ///< nt_depthwise_pack: [KH][KW][nt_depthwise_padded]
    const float *bias;             ///< nt_depthwise_pack of one tap
    nt_activation activation;
} nt_depthwise_image;

/// One or two output rows from `oy` on, of at most `left`: how many, and in `rows` which input rows they see, -1 for padding.
size_t nt_depthwise_image_window(const nt_depthwise_image *d, size_t oy, size_t left, ptrdiff_t rows[NT_DEPTHWISE_MAX_ROWS]);

/// As many output rows as nt_depthwise_image_window says, whose input rows `rows` points to, or NULL: y points to the first one's column 0.
void nt_depthwise_image_rows(
    const nt_depthwise_image *d, const float *const *rows, size_t out_rows, size_t x_stride, float *y, size_t y_stride);

/// Computes share `part` of `parts` of the output rows. The window is at most NT_DEPTHWISE_MAX_HEIGHT high.
void nt_depthwise_image_run(const nt_depthwise_image *d, const float *x, float *y, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
