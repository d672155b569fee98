// Vector primitives for AVX2 with FMA: 8 lanes of float. Opens an attribute region; `end.h` closes it. With NT_AVX512_VL the compiler
// may use AVX-512's 32 registers, with NT_AVX512_BF16_VL AVX512-BF16 too.
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#if defined(NT_AVX512_BF16_VL)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512bf16"))), apply_to = function)
#define VNAME(name) name##_avx512bf16vl
#elif defined(NT_AVX512_VL)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#define VNAME(name) name##_avx512vl
#else
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#define VNAME(name) name##_avx2
#endif

#define VL 8
typedef __m256 vf;
typedef int32_t vi __attribute__((vector_size(32)));

#define VINLINE static inline __attribute__((always_inline, unused))

static const int32_t vmask_words[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

VINLINE vf vload(const float *p) { return _mm256_loadu_ps(p); }
VINLINE void vstore(float *p, vf v) { _mm256_storeu_ps(p, v); }
VINLINE __m256i vmask(size_t n) { return _mm256_loadu_si256((const __m256i *)(vmask_words + 8 - n)); }
/// The first n lanes (0 to 8) from memory, zeros in the others. Reads nothing past them.
VINLINE vf vload_n(const float *p, size_t n) { return _mm256_maskload_ps(p, vmask(n)); }
/// Stores the first n lanes. Writes nothing past them.
VINLINE void vstore_n(float *p, vf v, size_t n) { _mm256_maskstore_ps(p, vmask(n), v); }
VINLINE vf vset1(float x) { return _mm256_set1_ps(x); }
VINLINE vf vfma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
/// *a in all lanes, times b plus c.
VINLINE vf vfma_spread(const float *a, vf b, vf c) { return vfma(vset1(*a), b, c); }
/// max(a, b); b when either is NaN.
VINLINE vf vmax(vf a, vf b) { return _mm256_max_ps(a, b); }
/// min(a, b); b when either is NaN.
VINLINE vf vmin(vf a, vf b) { return _mm256_min_ps(a, b); }
VINLINE vf vsqrt(vf a) { return _mm256_sqrt_ps(a); }
VINLINE vf vfloor(vf a) { return _mm256_floor_ps(a); }
VINLINE vf vceil(vf a) { return _mm256_ceil_ps(a); }
VINLINE vf vround(vf a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/// mask ? a : b, lane by lane; the lanes of mask are all ones or all zeros.
VINLINE vf vselect(vi mask, vf a, vf b) { return _mm256_blendv_ps(b, a, (vf)mask); }
VINLINE vi vtoint(vf a) { return (vi)_mm256_cvtps_epi32(a); }
VINLINE vf vfromint(vi a) { return _mm256_cvtepi32_ps((__m256i)a); }
VINLINE float vsum(vf a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
VINLINE float vhmax(vf a) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
