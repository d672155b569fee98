// Vector primitives for AVX-512: 16 lanes of float. Opens an attribute region; `end.h` closes it.
// Every file that includes this one compiles its functions for AVX-512 whatever the command line says.
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#if defined(NT_AMX_BF16)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16"))), apply_to = function)
#define VNAME(name) name##_amx
#elif defined(NT_AVX512_BF16)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512bf16"))), apply_to = function)
#define VNAME(name) name##_avx512bf16
#elif defined(NT_AVX512_FP16)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl,avx512fp16"))), apply_to = function)
#define VNAME(name) name##_avx512fp16
#elif defined(NT_AVX512_F16)
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#define VNAME(name) name##_avx512f16
#else
#pragma clang attribute push( \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#define VNAME(name) name##_avx512
#endif

#define VL 16
typedef __m512 vf;
typedef int32_t vi __attribute__((vector_size(64)));

#define VINLINE static inline __attribute__((always_inline, unused))

VINLINE vf vload(const float *p) { return _mm512_loadu_ps(p); }
VINLINE void vstore(float *p, vf v) { _mm512_storeu_ps(p, v); }
VINLINE __mmask16 vmask(size_t n) { return (__mmask16)((1u << n) - 1u); }
/// The first n lanes (0 to 16) from memory, zeros in the others. Reads nothing past them.
VINLINE vf vload_n(const float *p, size_t n) { return _mm512_maskz_loadu_ps(vmask(n), p); }
/// Stores the first n lanes. Writes nothing past them.
VINLINE void vstore_n(float *p, vf v, size_t n) { _mm512_mask_storeu_ps(p, vmask(n), v); }
/// The first n lanes (0 to 16) of v, zeros in the others.
VINLINE vf vfirst(vf v, size_t n) { return _mm512_maskz_mov_ps(vmask(n), v); }
VINLINE vf vset1(float x) { return _mm512_set1_ps(x); }
VINLINE vf vfma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
/// *a in all lanes, times b plus c: one instruction, which takes no register for *a.
VINLINE vf vfma_spread(const float *a, vf b, vf c) {
    __asm__("vfmadd231ps %1%{1to16%}, %2, %0" : "+v"(c) : "m"(*a), "v"(b));
    return c;
}
/// max(a, b); b when either is NaN.
VINLINE vf vmax(vf a, vf b) { return _mm512_max_ps(a, b); }
/// min(a, b); b when either is NaN.
VINLINE vf vmin(vf a, vf b) { return _mm512_min_ps(a, b); }
VINLINE vf vsqrt(vf a) { return _mm512_sqrt_ps(a); }
VINLINE vf vfloor(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
VINLINE vf vceil(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
VINLINE vf vround(vf a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
/// mask ? a : b, lane by lane; the lanes of mask are all ones or all zeros.
VINLINE vf vselect(vi mask, vf a, vf b) { return _mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)mask), b, a); }
VINLINE vi vtoint(vf a) { return (vi)_mm512_cvtps_epi32(a); }
VINLINE vf vfromint(vi a) { return _mm512_cvtepi32_ps((__m512i)a); }
VINLINE float vsum(vf a) { return _mm512_reduce_add_ps(a); }
VINLINE float vhmax(vf a) { return _mm512_reduce_max_ps(a); }
