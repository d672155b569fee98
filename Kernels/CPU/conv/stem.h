// The first convolution of a network, from planar float32 N C H W input to N H W C output, float32, bfloat16 or float16.
//
// With few input channels a tap's depth is its window row: the kernel's KW columns, which lie side by side in a plane. Where there is
// no padding and nothing to convert they are read from the input itself. Else each share copies the rows it needs into a scratch with
// the padding written out, strip by strip, so that no pixel needs a test.
// On the way the copy can apply the network's preprocessing, x * scale[c] + offset[c]; padding stays zero.
//
// With a kernel of bfloat16 or float16 and stride_x 2 the scratch is of that element, the channels of a pixel lie side by side, and a window's
// row, KW pixels, is one tap that begins at a whole slot. Where it ends within a slot, what follows is multiplied by zero, so that a NaN
// there reaches one pixel more.
#ifndef NT_STEM_H
#define NT_STEM_H

#include "conv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_stem {
    nt_window window;              ///< dilation_x is 1
    size_t batch, channels, outputs;
    size_t y_stride;               ///< slots from pixel to pixel
    int y_element;                 ///< NT_ELEMENT_ of y
    const nt_gemm_kernel *kernel;  ///< of float32, or of bfloat16 or float16 when stride_x is 2
    const float *packed;           ///< nt_gemm_pack: taps c, ky and depth kx; or taps ky and depth kx, c, see nt_stem_interleaves
    const float *bias;             ///< nt_gemm_bias_count floats
    const float *scale, *offset;   ///< `channels` floats each, or NULL
    nt_activation activation;
    size_t strip_rows;             ///< output rows of a strip
} nt_stem;

enum { NT_STEM_MAX_TAPS = 64 };    ///< of channels * kernel_height

/// Whether a kernel of this element reads pixels whose channels lie side by side.
static inline int nt_stem_interleaves(int element) { return element != NT_ELEMENT_FLOAT32; }

/// Weights [outputs][channels][kernel_height][kernel_width] in the order that such a kernel takes: [outputs][kernel_height][kernel_width][channels].
void nt_stem_interleave(const nt_window *window, size_t channels, size_t outputs, const float *weights, float *interleaved);

/// Output rows of a strip whose scratch fits `cache_bytes`.
size_t nt_stem_strip_rows(const nt_stem *stem, size_t cache_bytes);

/// Slots of scratch that one share needs.
size_t nt_stem_scratch_count(const nt_stem *stem);

/// Floats of one input image.
static inline size_t nt_stem_image_count(const nt_stem *stem) {
    return stem->channels * stem->window.in_height * stem->window.in_width;
}

/// Computes output rows oy..<oy + count of one image; y is the first of these rows.
void nt_stem_rows(const nt_stem *stem, const float *image, float *y, float *scratch, size_t oy, size_t count);

/// Computes share `part` of `parts` of the output rows.
void nt_stem_run(const nt_stem *stem, const float *x, float *y, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
