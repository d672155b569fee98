// Loops of multiply-adds on registers, to measure how fast a core can go in float32, in bfloat16 with float32 sums, and in float16.
#ifndef NT_PEAK_H
#define NT_PEAK_H

#include "../element/element.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_peak {
    const char *name;
    uint32_t isa;
    int element;  ///< NT_ELEMENT_ of the factors
    double flops_per_round;
    void (*run)(size_t rounds);
} nt_peak;

size_t nt_peak_count(void);
const nt_peak *nt_peak_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
