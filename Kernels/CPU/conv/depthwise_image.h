// Depthwise convolution of whole images, N H W C, float32, bfloat16 or float16 as the kernel is: rows of `depthwise.h` over a batch.
#ifndef NT_DEPTHWISE_IMAGE_H
#define NT_DEPTHWISE_IMAGE_H

#include "../depthwise/depthwise.h"
#include "conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_DEPTHWISE_MAX_HEIGHT = 64 };

typedef struct nt_depthwise_image {
    nt_window window;
    size_t batch, channels;
    size_t x_stride, y_stride;     ///< slots from pixel to pixel
    const nt_depthwise_kernel *kernel;
    const float *weights;          ///< nt_depthwise_pack: [KH][KW][nt_depthwise_padded]
    const float *bias;             ///< nt_depthwise_pack of one tap
    nt_activation activation;
} nt_depthwise_image;

/// One output row: y points to its column 0, `rows` holds one pointer for each input row in first..<last of the window's taps.
void nt_depthwise_image_row(
    const nt_depthwise_image *d, const float *const *rows, size_t first, size_t last, size_t x_stride, float *y,
    size_t y_stride);

/// Computes share `part` of `parts` of the output rows. The window is at most NT_DEPTHWISE_MAX_HEIGHT high.
void nt_depthwise_image_run(const nt_depthwise_image *d, const float *x, float *y, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
