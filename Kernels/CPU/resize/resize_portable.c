#include "resize.h"

static inline uint8_t rounded(int32_t sum) {
    int32_t v = (sum + NT_RESIZE_ROUND) >> NT_RESIZE_SHIFT;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void nt_resample_columns_px4_portable(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t) {
    for (int r = 0; r < 4; ++r)
        for (int32_t i = 0; i < t->count; ++i) {
            const uint8_t *p = rows[r] + 4 * (ptrdiff_t)t->first[i];
            const int16_t *high = t->high + (ptrdiff_t)i * t->taps, *low = t->low + (ptrdiff_t)i * t->taps;
            int32_t sum[4] = {0, 0, 0, 0};
            for (int32_t k = 0; k < t->taps; ++k) {
                int32_t weight = high[k] * 256 + low[k];
                for (int c = 0; c < 4; ++c) sum[c] += weight * p[4 * k + c];
            }
            for (int c = 0; c < 4; ++c) out[r][4 * (ptrdiff_t)i + c] = rounded(sum[c]);
        }
}

void nt_resample_columns_px1_portable(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t) {
    for (int r = 0; r < 4; ++r)
        for (int32_t i = 0; i < t->count; ++i) {
            const uint8_t *p = rows[r] + t->first[i];
            const int16_t *high = t->high + (ptrdiff_t)i * t->taps, *low = t->low + (ptrdiff_t)i * t->taps;
            int32_t sum = 0;
            for (int32_t k = 0; k < t->taps; ++k) sum += (high[k] * 256 + low[k]) * p[k];
            out[r][i] = rounded(sum);
        }
}

void nt_resample_rows_portable(
    const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count) {
    enum { BLOCK = 64 };  // sums stay in the first-level cache and the inner loop has no carried dependence
    int32_t sum[BLOCK];
    for (size_t start = 0; start < byte_count; start += BLOCK) {
        const size_t count = byte_count - start < BLOCK ? byte_count - start : BLOCK;
        for (size_t b = 0; b < count; ++b) sum[b] = 0;
        for (int32_t k = 0; k < taps; ++k) {
            const int32_t weight = high[k] * 256 + low[k];
            const uint8_t *row = rows[k] + start;
            if (weight == 0) continue;
            for (size_t b = 0; b < count; ++b) sum[b] += weight * row[b];
        }
        for (size_t b = 0; b < count; ++b) out[start + b] = rounded(sum[b]);
    }
}
