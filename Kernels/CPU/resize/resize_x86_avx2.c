#include "resize.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)

static inline int32_t load_dword(const void *p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return v;
}

static inline void store_dword(void *p, int32_t v) { __builtin_memcpy(p, &v, 4); }

// Four taps a step: pixels 0, 1 in the low lane and 2, 3 in the high one, each channel's pair side by side for the 16-bit multiply-add.
void nt_resample_columns_px4_avx2(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t) {
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    const __m256i pair = _mm256_setr_epi8(
        0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1,
        8, -1, 12, -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1);
    const __m128i half = _mm_set1_epi32(NT_RESIZE_ROUND);
    const int32_t taps = t->taps;
    for (int32_t i = 0; i < t->count; ++i) {
        const int16_t *high = t->high + (ptrdiff_t)i * taps, *low = t->low + (ptrdiff_t)i * taps;
        const ptrdiff_t at = 4 * (ptrdiff_t)t->first[i];
        __m256i h[4], l[4];
        for (int r = 0; r < 4; ++r) h[r] = l[r] = _mm256_setzero_si256();
        for (int32_t k = 0; k < taps; k += 4) {
            const __m256i wh = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(high + k))), spread);
            const __m256i wl = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(low + k))), spread);
            for (int r = 0; r < 4; ++r) {
                const __m128i px = _mm_loadu_si128((const __m128i *)(rows[r] + at + 4 * k));
                const __m256i p = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(px), pair);
                h[r] = _mm256_add_epi32(h[r], _mm256_madd_epi16(p, wh));
                l[r] = _mm256_add_epi32(l[r], _mm256_madd_epi16(p, wl));
            }
        }
        __m128i s[4];
        for (int r = 0; r < 4; ++r) {
            const __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(h[r], 8), l[r]);
            s[r] = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
            s[r] = _mm_srai_epi32(_mm_add_epi32(s[r], half), NT_RESIZE_SHIFT);
        }
        const __m128i b = _mm_packus_epi16(_mm_packs_epi32(s[0], s[1]), _mm_packs_epi32(s[2], s[3]));
        const ptrdiff_t o = 4 * (ptrdiff_t)i;
        store_dword(out[0] + o, _mm_extract_epi32(b, 0));
        store_dword(out[1] + o, _mm_extract_epi32(b, 1));
        store_dword(out[2] + o, _mm_extract_epi32(b, 2));
        store_dword(out[3] + o, _mm_extract_epi32(b, 3));
    }
}

void nt_resample_columns_px1_avx2(const uint8_t *const rows[4], uint8_t *const out[4], const nt_resample_table *t) {
    const __m128i half = _mm_set1_epi32(NT_RESIZE_ROUND);
    const int32_t taps = t->taps;
    for (int32_t i = 0; i < t->count; ++i) {
        const int16_t *high = t->high + (ptrdiff_t)i * taps, *low = t->low + (ptrdiff_t)i * taps;
        const ptrdiff_t at = t->first[i];
        __m128i h[4], l[4];
        for (int r = 0; r < 4; ++r) h[r] = l[r] = _mm_setzero_si128();
        for (int32_t k = 0; k < taps; k += 8) {
            const __m128i wh = _mm_loadu_si128((const __m128i *)(high + k)), wl = _mm_loadu_si128((const __m128i *)(low + k));
            for (int r = 0; r < 4; ++r) {
                const __m128i p = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(rows[r] + at + k)));
                h[r] = _mm_add_epi32(h[r], _mm_madd_epi16(p, wh));
                l[r] = _mm_add_epi32(l[r], _mm_madd_epi16(p, wl));
            }
        }
        __m128i s[4];
        for (int r = 0; r < 4; ++r) s[r] = _mm_add_epi32(_mm_slli_epi32(h[r], 8), l[r]);
        __m128i sum = _mm_hadd_epi32(_mm_hadd_epi32(s[0], s[1]), _mm_hadd_epi32(s[2], s[3]));
        sum = _mm_srai_epi32(_mm_add_epi32(sum, half), NT_RESIZE_SHIFT);
        const __m128i b = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
        out[0][i] = (uint8_t)_mm_extract_epi8(b, 0);
        out[1][i] = (uint8_t)_mm_extract_epi8(b, 1);
        out[2][i] = (uint8_t)_mm_extract_epi8(b, 2);
        out[3][i] = (uint8_t)_mm_extract_epi8(b, 3);
    }
}

// Two rows a step, their bytes side by side for the 16-bit multiply-add.
void nt_resample_rows_avx2(
    const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count) {
    const __m256i half = _mm256_set1_epi32(NT_RESIZE_ROUND);
    size_t b = 0;
    for (; b + 16 <= byte_count; b += 16) {
        __m256i h0 = _mm256_setzero_si256(), h1 = h0, l0 = h0, l1 = h0;
        for (int32_t k = 0; k < taps; k += 2) {
            const __m256i wh = _mm256_set1_epi32(load_dword(high + k)), wl = _mm256_set1_epi32(load_dword(low + k));
            const __m256i a = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(rows[k] + b)));
            const __m256i c = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(rows[k + 1] + b)));
            const __m256i p0 = _mm256_unpacklo_epi16(a, c), p1 = _mm256_unpackhi_epi16(a, c);
            h0 = _mm256_add_epi32(h0, _mm256_madd_epi16(p0, wh));
            h1 = _mm256_add_epi32(h1, _mm256_madd_epi16(p1, wh));
            l0 = _mm256_add_epi32(l0, _mm256_madd_epi16(p0, wl));
            l1 = _mm256_add_epi32(l1, _mm256_madd_epi16(p1, wl));
        }
        h0 = _mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(h0, 8), l0), half);
        h1 = _mm256_add_epi32(_mm256_add_epi32(_mm256_slli_epi32(h1, 8), l1), half);
        const __m256i w = _mm256_packs_epi32(_mm256_srai_epi32(h0, NT_RESIZE_SHIFT), _mm256_srai_epi32(h1, NT_RESIZE_SHIFT));
        const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(w, w), 0x08);
        _mm_storeu_si128((__m128i *)(out + b), _mm256_castsi256_si128(bytes));
    }
    for (; b < byte_count; ++b) {
        int32_t sum = NT_RESIZE_ROUND;
        for (int32_t k = 0; k < taps; ++k) sum += (high[k] * 256 + low[k]) * rows[k][b];
        sum >>= NT_RESIZE_SHIFT;
        out[b] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
}

#pragma clang attribute pop
#endif
