// avx512fp16.h on processors without AVX512-FP16: the same bits by more instructions. `end.h` closes the region.
#include "avx512f16.h"

// 16 sums: exact in float32 but for its last bit, which is set when anything was cut off ("round to odd"). Rounded once more, to a
// format of less than 23 bits, that gives the nearest of the exact sum.
VINLINE __m256i model_fma(__m256i x, __m256i y, __m256i sum) {
    const vf a = _mm512_cvtph_ps(x), b = _mm512_cvtph_ps(y), c = _mm512_cvtph_ps(sum);
    const vf below = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const vf above = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const vf cut = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __mmask16 inexact = _mm512_cmp_ps_mask(below, above, _CMP_NEQ_OQ);
    const vf odd = (vf)_mm512_mask_or_epi32((__m512i)cut, inexact, (__m512i)cut, _mm512_set1_epi32(1));
    return _mm512_cvtps_ph(odd, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// sum + x * y of each of the 32 numbers, rounded once to float16.
VINLINE vf vfma_pairs(vf x, vf y, vf sum) {
    const __m512i a = (__m512i)x, b = (__m512i)y, c = (__m512i)sum;
    const __m256i lower = model_fma(_mm512_castsi512_si256(a), _mm512_castsi512_si256(b), _mm512_castsi512_si256(c));
    const __m256i upper =
        model_fma(_mm512_extracti64x4_epi64(a, 1), _mm512_extracti64x4_epi64(b, 1), _mm512_extracti64x4_epi64(c, 1));
    return (vf)_mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}
