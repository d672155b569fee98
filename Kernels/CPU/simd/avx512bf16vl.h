// Primitives for 8 lanes and AVX512-BF16, on AVX-512's 32 registers: bfloat16 in slots of two (see element/element.h). `end.h` closes the
// region.
#define NT_AVX512_BF16_VL
#define NT_PAIRS NT_ELEMENT_BFLOAT16
#include "avx2.h"

/// sum + x.low * y.low + x.high * y.high in each slot, in float32; subnormal bfloat16 count as zero.
VINLINE vf vfma_pairs(vf x, vf y, vf sum) { return _mm256_dpbf16_ps(sum, (__m256bh)x, (__m256bh)y); }
/// The same with the slot at x in all lanes.
VINLINE vf vfma_pairs_spread(const float *x, vf y, vf sum) { return vfma_pairs(vset1(*x), y, sum); }
/// The first n slots (0 to 4): numbers in channel order, zeros after them. Reads nothing past them.
VINLINE vf load_pairs(const float *p, size_t n) {
    return (vf)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_maskz_loadu_epi32((__mmask8)((1u << n) - 1u), p)), 16);
}
/// Stores numbers in channel order as the first n slots (0 to 4), nearest, ties to even. Writes nothing past them.
VINLINE void store_pairs(float *p, vf v, size_t n) {
    const __m128i halves = (__m128i)_mm256_cvtneps_pbh(v);
    if (n == 4) _mm_storeu_si128((__m128i *)p, halves);
    else _mm_mask_storeu_epi32(p, (__mmask8)((1u << n) - 1u), halves);
}
/// Stores the numbers of two vectors in channel order, as 8 slots.
VINLINE void store_two_pairs(float *p, vf first, vf second) { _mm256_storeu_ps(p, (vf)_mm256_cvtne2ps_pbh(second, first)); }
