// Pooling of neighbouring output pixels and sums over pixels, N H W C layout, float32, bfloat16 or float16 with float32 sums.
//
//   maximum  y[c] = max over taps of x[c]; a NaN wins
//   average  y[c] = scale * sum over taps of x[c]
//   l2       y[c] = sqrt(sum over taps of x[c]^2)
//
// Taps are pointers to the pixels inside the input; no taps give 0. Taps are taken in order. y may be none of the taps.
#ifndef NT_POOL_H
#define NT_POOL_H

#include "../element/element.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_POOL_MAXIMUM, NT_POOL_AVERAGE, NT_POOL_L2 };

/// `pixels` pixels, y_stride apart: `tap_count` pointers to `channels` numbers each for the first, `step` slots further for each next.
typedef void (*nt_pool_pixels_fn)(
    int function, const float *const *taps, size_t tap_count, size_t channels, float scale, size_t pixels, size_t step,
    float *y, size_t y_stride);

/// y[c] = scale * sum over rows and columns of x[(row * row_stride + column * x_stride) + c]: global average pooling. Each
/// row is summed apart and then added to the total, which keeps the rounding error of large images small. Strides in slots; y is float32.
typedef void (*nt_pool_sum_fn)(
    const float *x, size_t rows, size_t columns, size_t row_stride, size_t x_stride, size_t channels, float scale, float *y);

typedef struct nt_pool_kernel {
    const char *name;
    uint32_t isa;
    int element;  ///< NT_ELEMENT_ of x and of the pixels written
    int lanes;
    nt_pool_pixels_fn pixels;
    nt_pool_sum_fn sum;
} nt_pool_kernel;

size_t nt_pool_kernel_count(void);
const nt_pool_kernel *nt_pool_kernel_at(size_t index);

/// The kernel with most lanes that the instruction sets in `isa` allow.
const nt_pool_kernel *nt_pool_choose(uint32_t isa);

/// The same for images of an element type; NULL when `isa` has none.
const nt_pool_kernel *nt_pool_choose_element(int element, uint32_t isa);

#ifdef __cplusplus
}
#endif
#endif
