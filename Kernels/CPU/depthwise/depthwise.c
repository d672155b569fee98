#include "depthwise.h"

#include <CNTPlatform.h>

#define NT_DEPTHWISE_KERNEL(suffix, name, isa, element, lanes) void nt_depthwise_##suffix(const nt_depthwise_rows *rows);
#include "depthwise.inc"
#undef NT_DEPTHWISE_KERNEL

static const nt_depthwise_kernel kernels[] = {
#define NT_DEPTHWISE_KERNEL(suffix, name, isa, element, lanes) {name, isa, element, lanes, nt_depthwise_##suffix},
#include "depthwise.inc"
#undef NT_DEPTHWISE_KERNEL
};

size_t nt_depthwise_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_depthwise_kernel *nt_depthwise_kernel_at(size_t index) {
    return index < nt_depthwise_kernel_count() ? &kernels[index] : NULL;
}

const nt_depthwise_kernel *nt_depthwise_choose(size_t channels, uint32_t isa) {
    const nt_depthwise_kernel *best = NULL;
    size_t best_lanes = 0;
    for (size_t i = 0; i < nt_depthwise_kernel_count(); i++) {
        const nt_depthwise_kernel *kernel = &kernels[i];
        if (kernel->element != NT_ELEMENT_FLOAT32 || (kernel->isa & isa) != kernel->isa) continue;
        const size_t lanes = (size_t)kernel->lanes, computed = (channels + lanes - 1) / lanes * lanes;
        // Portable code has no fused multiply-add and half of AVX2's rate per lane at best.
        const size_t cost = kernel->isa == NT_ISA_PORTABLE ? 4 * computed : computed;
        if (!best || cost < best_lanes || (cost == best_lanes && kernel->lanes > best->lanes)) {
            best = kernel;
            best_lanes = cost;
        }
    }
    return best;
}

const nt_depthwise_kernel *nt_depthwise_choose_pairs(int element, uint32_t isa) {
    for (size_t i = 0; i < nt_depthwise_kernel_count(); i++) {
        const nt_depthwise_kernel *kernel = &kernels[i];
        if (kernel->element == element && (kernel->isa & isa) == kernel->isa) return kernel;
    }
    return NULL;
}

// The place of a channel among the packed ones: in bfloat16 the lower halves of 16 slots before the upper ones, but for a last 16
// channels and fewer.
static size_t packed_place(const nt_depthwise_kernel *kernel, size_t c, size_t channels) {
    const size_t group = c / 32 * 32;
    if (kernel->element != NT_ELEMENT_BFLOAT16 || channels - group <= 16) return c;
    return group + c % 2 * 16 + c % 32 / 2;
}

void nt_depthwise_pack(const nt_depthwise_kernel *kernel, size_t channels, size_t taps, const float *weights, float *packed) {
    const size_t padded = nt_depthwise_padded(channels);
    memset(packed, 0, padded * taps * sizeof(float));
    if (!weights) return;
    for (size_t c = 0; c < channels; c++) {
        const size_t place = packed_place(kernel, c, channels);
        for (size_t t = 0; t < taps; t++) packed[t * padded + place] = weights[c * taps + t];
    }
}
