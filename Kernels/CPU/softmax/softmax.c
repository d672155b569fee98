#include "softmax.h"

#include <CNTPlatform.h>

#define NT_SOFTMAX_KERNEL(suffix, name, isa, lanes) \
    void nt_softmax_##suffix(size_t, size_t, size_t, int, const float *, float *);
#include "softmax.inc"
#undef NT_SOFTMAX_KERNEL

static const nt_softmax_kernel kernels[] = {
#define NT_SOFTMAX_KERNEL(suffix, name, isa, lanes) {name, isa, lanes, nt_softmax_##suffix},
#include "softmax.inc"
#undef NT_SOFTMAX_KERNEL
};

size_t nt_softmax_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_softmax_kernel *nt_softmax_kernel_at(size_t index) {
    return index < nt_softmax_kernel_count() ? &kernels[index] : NULL;
}

const nt_softmax_kernel *nt_softmax_choose(uint32_t isa) {
    const nt_softmax_kernel *best = NULL;
    for (size_t i = 0; i < nt_softmax_kernel_count(); i++) {
        const nt_softmax_kernel *kernel = &kernels[i];
        if ((kernel->isa & isa) == kernel->isa && (!best || kernel->lanes > best->lanes)) best = kernel;
    }
    return best;
}
