// Loops of multiply-adds on registers, to measure how fast a core can go.
#ifndef NT_PEAK_H
#define NT_PEAK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_peak {
    const char *name;
    uint32_t isa;
    double flops_per_round;
    void (*run)(size_t rounds);
} nt_peak;

size_t nt_peak_count(void);
const nt_peak *nt_peak_at(size_t index);

#ifdef __cplusplus
}
#endif
#endif
