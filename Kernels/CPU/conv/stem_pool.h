// A network's first convolution fused with the pooling that follows it: only a ring of the convolution's rows is ever there, in cache.
//
// Every element is computed by the same operations in the same order as by the two stages one after the other; shares (`part` of `parts`,
// rows of the pooled image) differ in the convolution's rows at their border alone, which both compute.
#ifndef NT_STEM_POOL_H
#define NT_STEM_POOL_H

#include "pool_image.h"
#include "stem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_stem_pool {
    nt_stem stem;        ///< y_stride is pool.x_stride, y_element the pool kernel's
    nt_pool_image pool;  ///< its batch and window; x_stride as wished
} nt_stem_pool;

/// Slots of scratch that one share needs.
size_t nt_stem_pool_scratch_count(const nt_stem_pool *s);

/// Computes share `part` of `parts`: x planar float32, y pixels of the pool's element.
void nt_stem_pool_run(const nt_stem_pool *s, const float *x, float *y, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
