// Depthwise convolution of one output row or two, N H W C layout, float32, bfloat16 or float16 with float32 weights and sums.
//
//   y[q][ox][c] = clamp(bias[c] + sum over r, kx of rows[q * stride + r][ox * stride - pad_left + kx * dilation][c] * w[r][kx][c], lo, hi)
//
// Rows that are NULL, and columns outside 0..<in_width, are padding: they count as zero. Sums run over r, then kx, in order, whatever
// the instruction set's lanes and however many rows are computed at a time, so results do not depend on how work is split.
//
//   weights  [KH][KW][nt_depthwise_padded]     bias [nt_depthwise_padded]      (nt_depthwise_pack)
//
// Kernels of bfloat16 and float16 keep x and y in slots of two channels (element/element.h) and take 32 channels at a time: of bfloat16
// first the lower ones of their slots, then the upper ones, but for a last 16 and fewer, in channel order. Weights and bias are packed so.
// Nothing is read or written past `channels` of a pixel. y overlaps no input.
#ifndef NT_DEPTHWISE_H
#define NT_DEPTHWISE_H

#include "../element/element.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_depthwise_rows {
    const float *const *rows;  ///< kernel_height + (out_rows - 1) * stride pointers, each to column 0 of an input row, or NULL
    size_t out_rows;           ///< 1 or 2
    size_t in_width;
    size_t x_stride;           ///< slots from column to column of the input
    const float *weights;      ///< [kernel_height][kernel_width][weight_stride]
    size_t weight_stride;      ///< nt_depthwise_padded
    const float *bias;
    size_t channels;
    size_t kernel_height, kernel_width, stride, dilation, pad_left;
    float *y;
    size_t y_stride;           ///< slots from column to column of the output
    size_t y_row_stride;       ///< slots from row to row of the output
    size_t out_width;
    float lo, hi;
} nt_depthwise_rows;

typedef void (*nt_depthwise_fn)(const nt_depthwise_rows *rows);

typedef struct nt_depthwise_kernel {
    const char *name;
    uint32_t isa;
    int element;               ///< NT_ELEMENT_ of x and y
    int lanes;
    nt_depthwise_fn run;
} nt_depthwise_kernel;

size_t nt_depthwise_kernel_count(void);
const nt_depthwise_kernel *nt_depthwise_kernel_at(size_t index);

/// The kernel that the instruction sets in `isa` allow and that needs fewest multiply-adds of 16 lanes' time for `channels`; of equals the widest.
const nt_depthwise_kernel *nt_depthwise_choose(size_t channels, uint32_t isa);

/// The kernel for images in bfloat16 or float16; NULL when `isa` has none.
const nt_depthwise_kernel *nt_depthwise_choose_pairs(int element, uint32_t isa);

/// Channels rounded up to the 32 that weights and biases are padded to.
static inline size_t nt_depthwise_padded(size_t channels) { return (channels + 31) / 32 * 32; }

/// Packs weights [channels][taps] (row-major) to [taps][padded channels] in the kernel's order, zero-filled. A bias has one tap; NULL gives zeros.
void nt_depthwise_pack(const nt_depthwise_kernel *kernel, size_t channels, size_t taps, const float *weights, float *packed);

#ifdef __cplusplus
}
#endif
#endif
