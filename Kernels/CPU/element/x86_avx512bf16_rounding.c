#if defined(__x86_64__)
#include "rounding.h"
#include "../simd/avx512bf16.h"

VINLINE vf rounded(vf v) { return (vf)_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(v)), 16); }

void nt_rounding_row_avx512bf16(size_t count, const float *w, const float *mean, const float *variance, nt_rounding_sums *sums);
void nt_rounding_row_avx512bf16(size_t count, const float *w, const float *mean, const float *variance, nt_rounding_sums *sums) {
    vf sum = vset1(0), spread = vset1(0), error = vset1(0);
    for (size_t i = 0; i < count; i += VL) {
        const size_t n = count - i < VL ? count - i : VL;
        const vf x = vload_n(w + i, n), m = vload_n(mean + i, n), v = vload_n(variance + i, n);
        sum = vfma(x, m, sum);
        spread = vfma(x * x, v, spread);
        error = vfma(x - rounded(x), m, error);
    }
    sums->mean = _mm512_reduce_add_ps(sum);
    sums->variance = _mm512_reduce_add_ps(spread);
    sums->error = _mm512_reduce_add_ps(error);
}
#include "../simd/end.h"
#endif
