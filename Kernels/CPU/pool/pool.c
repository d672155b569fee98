#include "pool.h"

#include <CNTPlatform.h>

#define NT_POOL_KERNEL(suffix, name, isa, element, lanes) \
    void nt_pool_pixels_##suffix(int, const float *const *, size_t, size_t, float, size_t, size_t, float *, size_t); \
    void nt_pool_sum_##suffix(const float *, size_t, size_t, size_t, size_t, size_t, float, float *);
#include "pool.inc"
#undef NT_POOL_KERNEL

static const nt_pool_kernel kernels[] = {
#define NT_POOL_KERNEL(suffix, name, isa, element, lanes) {name, isa, element, lanes, nt_pool_pixels_##suffix, nt_pool_sum_##suffix},
#include "pool.inc"
#undef NT_POOL_KERNEL
};

size_t nt_pool_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_pool_kernel *nt_pool_kernel_at(size_t index) { return index < nt_pool_kernel_count() ? &kernels[index] : NULL; }

const nt_pool_kernel *nt_pool_choose_element(int element, uint32_t isa) {
    const nt_pool_kernel *best = NULL;
    for (size_t i = 0; i < nt_pool_kernel_count(); i++) {
        const nt_pool_kernel *kernel = &kernels[i];
        if (kernel->element != element || (kernel->isa & isa) != kernel->isa) continue;
        if (!best || kernel->lanes > best->lanes) best = kernel;
    }
    return best;
}

const nt_pool_kernel *nt_pool_choose(uint32_t isa) { return nt_pool_choose_element(NT_ELEMENT_FLOAT32, isa); }
