#include "resize.h"

#if defined(__x86_64__)
#include <immintrin.h>

#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)

static inline int32_t load_dword(const void *p) {
    int32_t v;
    __builtin_memcpy(&v, p, 4);
    return v;
}

// Two rows a step, their bytes side by side for the 16-bit multiply-add.
void nt_resample_rows_avx512(
    const uint8_t *const *rows, int32_t taps, const int16_t *high, const int16_t *low, uint8_t *out, size_t byte_count) {
    const __m512i half = _mm512_set1_epi32(NT_RESIZE_ROUND);
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    for (size_t b = 0; b < byte_count; b += 32) {
        const __mmask32 some = byte_count - b >= 32 ? 0xffffffffu : (__mmask32)((1u << (byte_count - b)) - 1);
        __m512i h0 = _mm512_setzero_si512(), h1 = h0, l0 = h0, l1 = h0;
        for (int32_t k = 0; k < taps; k += 2) {
            const __m512i wh = _mm512_set1_epi32(load_dword(high + k)), wl = _mm512_set1_epi32(load_dword(low + k));
            const __m512i a = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(some, rows[k] + b));
            const __m512i c = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(some, rows[k + 1] + b));
            const __m512i p0 = _mm512_unpacklo_epi16(a, c), p1 = _mm512_unpackhi_epi16(a, c);
            h0 = _mm512_add_epi32(h0, _mm512_madd_epi16(p0, wh));
            h1 = _mm512_add_epi32(h1, _mm512_madd_epi16(p1, wh));
            l0 = _mm512_add_epi32(l0, _mm512_madd_epi16(p0, wl));
            l1 = _mm512_add_epi32(l1, _mm512_madd_epi16(p1, wl));
        }
        h0 = _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(h0, 8), l0), half);
        h1 = _mm512_add_epi32(_mm512_add_epi32(_mm512_slli_epi32(h1, 8), l1), half);
        const __m512i w = _mm512_packs_epi32(_mm512_srai_epi32(h0, NT_RESIZE_SHIFT), _mm512_srai_epi32(h1, NT_RESIZE_SHIFT));
        const __m512i bytes = _mm512_permutexvar_epi64(order, _mm512_packus_epi16(w, w));
        _mm256_mask_storeu_epi8(out + b, some, _mm512_castsi512_si256(bytes));
    }
}

#pragma clang attribute pop
#endif
