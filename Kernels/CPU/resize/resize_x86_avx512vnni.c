#include "resize.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"))), apply_to = function)

// A weight is written with three signed digits of base 256, so that VPDPBUSD (unsigned bytes times signed bytes, four to a sum) gives exact
// sums: weight = d[0] + 256 d[1] + 65536 d[2].
static inline __m512i joined(const __m512i sum[3]) {
    const __m512i half = _mm512_set1_epi32(NT_RESIZE_ROUND);
    const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(sum[2], 16), _mm512_slli_epi32(sum[1], 8));
    return _mm512_srai_epi32(_mm512_add_epi32(_mm512_add_epi32(upper, sum[0]), half), NT_RESIZE_SHIFT);
}

// Four output pixels a step, one in each 128-bit lane; four taps of each at a time, a channel's four taps side by side.
void nt_resample_columns_px4_avx512vnni(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t) {
    const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const __m512i turn = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const int8_t *digits = t->digits;
    const int32_t *first = t->first;
    for (int32_t i = 0; i < t->count; i += 4, first += 4) {
        const ptrdiff_t f0 = 4 * (ptrdiff_t)first[0], f1 = 4 * (ptrdiff_t)first[1];
        const ptrdiff_t f2 = 4 * (ptrdiff_t)first[2], f3 = 4 * (ptrdiff_t)first[3];
        __m512i sum[4][3];
        for (int r = 0; r < 4; ++r) sum[r][0] = sum[r][1] = sum[r][2] = _mm512_setzero_si512();
        for (int32_t k = 0; k < t->taps; k += 4, digits += 48) {
            __m512i w[3];
            for (int d = 0; d < 3; ++d)
                w[d] = _mm512_permutexvar_epi32(spread, _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(digits + 16 * d))));
            for (int r = 0; r < 4; ++r) {
                const uint8_t *p = rows[r] + 4 * (ptrdiff_t)k;
                __m512i px = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(p + f0)));
                px = _mm512_inserti32x4(px, _mm_loadu_si128((const __m128i *)(p + f1)), 1);
                px = _mm512_inserti32x4(px, _mm_loadu_si128((const __m128i *)(p + f2)), 2);
                px = _mm512_inserti32x4(px, _mm_loadu_si128((const __m128i *)(p + f3)), 3);
                px = _mm512_shuffle_epi8(px, turn);
                for (int d = 0; d < 3; ++d) sum[r][d] = _mm512_dpbusd_epi32(sum[r][d], px, w[d]);
            }
        }
        const __mmask8 some = t->count - i >= 4 ? 0xf : (__mmask8)((1u << (t->count - i)) - 1);
        for (int r = 0; r < 4; ++r)
            _mm_mask_storeu_epi32(out[r] + 4 * (ptrdiff_t)i, some, _mm512_cvtusepi32_epi8(joined(sum[r])));
    }
}

static inline uint32_t packed(const int32_t v[4]) {
    uint32_t p = 0;
    for (int k = 0; k < 4; ++k) p |= (uint32_t)(v[k] & 255) << (8 * k);
    return p;
}

enum { MOST_TAPS = 256 };

// Four rows a step: the bytes of a column side by side.
void nt_resample_rows_avx512vnni(
    const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count) {
    if (taps > MOST_TAPS) {
        nt_resample_rows_avx512(rows, taps, high, low, out, byte_count);
        return;
    }
    uint32_t digits[MOST_TAPS / 4][3];
    for (int32_t k = 0; k < taps; k += 4) {
        int32_t d[3][4];
        for (int j = 0; j < 4; ++j) {
            int32_t weight = high[k + j] * 256 + low[k + j];
            nt_resample_split(weight, &d[0][j], &d[1][j], &d[2][j]);
        }
        for (int n = 0; n < 3; ++n) digits[k / 4][n] = packed(d[n]);
    }
    for (size_t b = 0; b < byte_count; b += 64) {
        const __mmask64 some = byte_count - b >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << (byte_count - b)) - 1;
        __m512i sum[4][3];
        for (int q = 0; q < 4; ++q) sum[q][0] = sum[q][1] = sum[q][2] = _mm512_setzero_si512();
        for (int32_t k = 0; k < taps; k += 4) {
            const __m512i r0 = _mm512_maskz_loadu_epi8(some, rows[k] + b), r1 = _mm512_maskz_loadu_epi8(some, rows[k + 1] + b);
            const __m512i r2 = _mm512_maskz_loadu_epi8(some, rows[k + 2] + b), r3 = _mm512_maskz_loadu_epi8(some, rows[k + 3] + b);
            const __m512i a0 = _mm512_unpacklo_epi8(r0, r1), a1 = _mm512_unpackhi_epi8(r0, r1);
            const __m512i b0 = _mm512_unpacklo_epi8(r2, r3), b1 = _mm512_unpackhi_epi8(r2, r3);
            const __m512i px[4] = {
                _mm512_unpacklo_epi16(a0, b0), _mm512_unpackhi_epi16(a0, b0), _mm512_unpacklo_epi16(a1, b1), _mm512_unpackhi_epi16(a1, b1)};
            for (int n = 0; n < 3; ++n) {
                const __m512i w = _mm512_set1_epi32((int32_t)digits[k / 4][n]);
                for (int q = 0; q < 4; ++q) sum[q][n] = _mm512_dpbusd_epi32(sum[q][n], px[q], w);
            }
        }
        const __m512i low16 = _mm512_packs_epi32(joined(sum[0]), joined(sum[1]));
        const __m512i high16 = _mm512_packs_epi32(joined(sum[2]), joined(sum[3]));
        _mm512_mask_storeu_epi8(out + b, some, _mm512_packus_epi16(low16, high16));
    }
}

#pragma clang attribute pop
#endif
