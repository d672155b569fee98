// Depthwise convolution fused with the pointwise convolution that follows it, and optionally with the one before it: a pointwise
// convolution (expand, depthwise, project: an inverted residual), a network's first (stem.h) or another such chain. N H W C, float32,
// bfloat16 or float16; strides are counted in slots (element/element.h).
//
// The image is computed in strips of output rows. What passes between the stages lives in a scratch that stays in cache:
//
//   x  --expand, stem or chain-->  ring: the last ring_rows rows of the wide image  --depthwise-->  strip: strip_rows rows  --project-->  y
//
// Without a stage before it the depthwise stage reads x itself. Every element is computed by the same sums in the same order as
// by the three stages one after the other; shares (`part` of `parts`, output rows) differ in the expanded rows at their
// border alone, which both compute. A projection by Strassen's method has a strip for its block: shares are whole strips then, and
// where those are few also shares of columns, which all compute the strip. A chain before this one gives its rows as this one needs them,
// which keeps what passes between the two in cache as well; shares then compute more rows twice.
#ifndef NT_SEPARABLE_H
#define NT_SEPARABLE_H

#include "../strassen/strassen.h"
#include "depthwise_image.h"
#include "stem.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A pointwise stage.
typedef struct nt_pointwise {
    size_t channels;       ///< in slots
    size_t outputs;        ///< in numbers
    const nt_gemm_kernel *kernel;
    const float *packed;   ///< nt_gemm_pack, one tap
    const float *bias;     ///< nt_gemm_bias_count floats
    nt_activation activation;
    const nt_strassen *strassen;  ///< NULL, or how the product is computed in place of kernel, packed and bias; a projection's alone
} nt_pointwise;

typedef struct nt_separable {
    int has_expansion;
    nt_pointwise expand;           ///< from x's channels to depthwise.channels
    const nt_stem *stem;           ///< NULL, or what makes the ring from a planar x in place of expand; y_stride: nt_separable_wide_stride
    /// NULL, or the chain that makes the ring from its own x, without Strassen's method; y_stride: nt_separable_wide_stride.
    const struct nt_separable *before;
    nt_depthwise_image depthwise;  ///< its batch and window; x_stride is x's when no stage is before it; y_stride unused
    nt_pointwise project;
    size_t x_stride, y_stride, residual_stride;
    int y_element;                 ///< NT_ELEMENT_ of y and the residual; what lies between the stages is of the depthwise kernel's element
    size_t strip_rows;             ///< output rows computed at a time
} nt_separable;

enum { NT_SEPARABLE_MAX_CHAINS = 8 };

/// Slots from pixel to pixel of what lies between the stages.
size_t nt_separable_wide_stride(const nt_separable *s);

/// Output rows of a strip so that the scratch takes about `cache_bytes`, at least one.
size_t nt_separable_strip_rows(const nt_separable *s, size_t cache_bytes);

/// Slots of scratch that one share needs.
size_t nt_separable_scratch_count(const nt_separable *s);

/// Computes share `part` of `parts`. `residual` is NULL or added before the projection's activation; y overlaps neither x nor scratch.
void nt_separable_run(
    const nt_separable *s, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
