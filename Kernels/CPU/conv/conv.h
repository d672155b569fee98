// Two-dimensional convolution over N H W C images through the GEMM micro-kernels, float32, bfloat16 or float16.
//
//   y[n, oy, ox, o] = activation(bias[o] + sum over ky, kx, c of x[n, iy, ix, c] * w[o, ky, kx, c] (+ residual[n, oy, ox, o]))
//
// Output pixels are rows of a GEMM whose A is never gathered: each row and tap is a pointer into the image, or to zeros.
// Pixels may lie further apart than their channels (`x_stride`, `y_stride`), so that an image can be a slice of the channels
// of a larger one. Strides and input channels are counted in slots (element/element.h). A plain matrix product is a convolution over images of 1 x 1.
//
// One call computes a share, `part` of `parts`; shares may run at the same time. The result's bits do not depend on `parts`.
#ifndef NT_CONV_H
#define NT_CONV_H

#include "../elementwise/elementwise.h"
#include "../gemm/gemm.h"
#include "window.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What follows the sum: a clamp in registers, then a function of the stored tile when `function` is not negative.
typedef struct nt_activation {
    float lo, hi;
    int function;  ///< NT_UNARY_, or -1
    float alpha, beta;
    const nt_elementwise_kernel *elementwise;
} nt_activation;

/// Applies the function, if there is one, in place: rows of `columns` values of an element type, `stride` slots apart.
void nt_activation_apply(const nt_activation *activation, int element, size_t rows, size_t columns, float *y, size_t stride);

typedef struct nt_conv {
    nt_window window;
    size_t batch, groups;
    size_t channels;               ///< of one group, in slots of the kernel's element; with several groups whole slots
    size_t outputs;                ///< of one group, in numbers; with several groups whole slots
    size_t x_stride, y_stride;     ///< slots from pixel to pixel
    size_t residual_stride;
    int y_element;                 ///< NT_ELEMENT_ of y and the residual: float32, or the kernel's; with that at most 64 taps
    const nt_gemm_kernel *kernel;
    const float *packed;           ///< nt_gemm_pack of each group: taps ky, kx; depth c
    size_t packed_stride;          ///< slots from group to group
    const float *bias;             ///< nt_gemm_bias_count floats a group, zeros when there is none
    size_t bias_stride;
    const float *zeros;            ///< kernel_width * channels zeros
    nt_activation activation;
    size_t block_rows;             ///< pixels whose inputs should stay in the second-level cache
} nt_conv;

/// A block_rows for these sizes and a cache of `cache_bytes`.
size_t nt_conv_block_rows(const nt_conv *conv, size_t cache_bytes);

/// The most threads that this convolution deserves, given at least `minimum_cycles` of work for each.
size_t nt_conv_parts(const nt_conv *conv, size_t threads, double minimum_cycles);

/// Computes share `part` of `parts`. `residual` is NULL or laid out like y with a stride of its own; y may be the residual.
void nt_conv_run(const nt_conv *conv, const float *x, float *y, const float *residual, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
