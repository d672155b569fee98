// AVX-512's primitives and those of AVX512-BF16: bfloat16 in slots of two (see bfloat16/element.h). `end.h` closes the region.
#define NT_AVX512_BF16
#include "avx512.h"

/// sum + x.low * y.low + x.high * y.high in each slot, in float32; subnormal bfloat16 count as zero.
VINLINE vf vfma_pairs(vf x, vf y, vf sum) { return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y); }
/// The first n slots (0 to 8): numbers in channel order, zeros after them. Reads nothing past them.
VINLINE vf load_pairs(const float *p, size_t n) {
    const __m256i halves = n == 8 ? _mm256_loadu_si256((const __m256i *)p) : _mm256_maskz_loadu_epi32((__mmask8)((1u << n) - 1u), p);
    return (vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16);
}
/// Stores numbers in channel order as the first n slots (0 to 8), nearest, ties to even. Writes nothing past them.
VINLINE void store_pairs(float *p, vf v, size_t n) {
    const __m256i halves = (__m256i)_mm512_cvtneps_pbh(v);
    if (n == 8) _mm256_storeu_si256((__m256i *)p, halves);
    else _mm256_mask_storeu_epi32(p, (__mmask8)((1u << n) - 1u), halves);
}
/// The lower and the upper number of each slot.
VINLINE vf vlower(vf pairs) { return (vf)_mm512_slli_epi32((__m512i)pairs, 16); }
VINLINE vf vupper(vf pairs) { return (vf)_mm512_and_epi32((__m512i)pairs, _mm512_set1_epi32((int)0xffff0000)); }
/// Slots of lower and upper numbers, nearest, ties to even.
VINLINE vf vpairs(vf lower, vf upper) {
    const __m512i words = (__m512i)_mm512_cvtne2ps_pbh(upper, lower);
    const __m512i order = _mm512_or_epi32(
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
        _mm512_set_epi32(
            31 << 16, 30 << 16, 29 << 16, 28 << 16, 27 << 16, 26 << 16, 25 << 16, 24 << 16, 23 << 16, 22 << 16, 21 << 16,
            20 << 16, 19 << 16, 18 << 16, 17 << 16, 16 << 16));
    return (vf)_mm512_permutexvar_epi16(order, words);
}
/// Slots of lower and upper numbers that are bfloat16 already.
VINLINE vf vpairs_exact(vf lower, vf upper) {
    return (vf)_mm512_or_epi32(_mm512_srli_epi32((__m512i)lower, 16), (__m512i)vupper(upper));
}
