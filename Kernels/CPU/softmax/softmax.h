// Softmax along one axis, float32: y = e^(x - max) / sum of e^(x - max), or its logarithm x - max - ln sum.
//
// x and y are [outer][extent][inner], contiguous; the axis is `extent`. y may be x. Sums are float32 in vector lanes: the
// relative error is about 1e-7 times the logarithm of the extent, plus e^x's own.
#ifndef NT_SOFTMAX_H
#define NT_SOFTMAX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*nt_softmax_fn)(size_t outer, size_t extent, size_t inner, int is_log, const float *x, float *y);

typedef struct nt_softmax_kernel {
    const char *name;
    uint32_t isa;
    int lanes;
    nt_softmax_fn run;
} nt_softmax_kernel;

size_t nt_softmax_kernel_count(void);
const nt_softmax_kernel *nt_softmax_kernel_at(size_t index);

/// The kernel with most lanes that the instruction sets in `isa` allow.
const nt_softmax_kernel *nt_softmax_choose(uint32_t isa);

#ifdef __cplusplus
}
#endif
#endif
