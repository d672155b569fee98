// Antialiased resampling of 8-bit rows, one pass at a time. The contract is in CNTImageKernels.h.
//
//   source rows  --resample_columns-->  narrow rows (8 bit, rounded)  --resample_rows-->  output row
//
// Rounding to 8 bits between the passes is part of the result: it is what common imaging libraries do.
#ifndef NT_RESIZE_H
#define NT_RESIZE_H

#include "../include/CNTImageKernels.h"

#define NT_RESIZE_ROUND (1 << 21)
#define NT_RESIZE_SHIFT 22

#define NT_DECLARE_RESIZE(tier)                                                                                          \
    void nt_resample_columns_px4_##tier(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t); \
    void nt_resample_columns_px1_##tier(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t); \
    void nt_resample_rows_##tier(                                                                                        \
        const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count)

NT_DECLARE_RESIZE(portable);
NT_DECLARE_RESIZE(avx2);
NT_DECLARE_RESIZE(avx512);
NT_DECLARE_RESIZE(avx512vnni);

/// A weight's three signed digits of base 256.
static inline void nt_resample_split(int32_t weight, int32_t *d0, int32_t *d1, int32_t *d2) {
    *d0 = (int8_t)(uint8_t)weight;
    weight = (weight - *d0) / 256;
    *d1 = (int8_t)(uint8_t)weight;
    *d2 = (weight - *d1) / 256;
}

#endif
