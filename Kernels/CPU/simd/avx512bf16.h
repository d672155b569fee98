// AVX-512's primitives and those of AVX512-BF16: bfloat16 in slots of two (see element/element.h). `end.h` closes the region.
#define NT_AVX512_BF16
#define NT_PAIRS NT_ELEMENT_BFLOAT16
#include "avx512.h"

/// sum + x.low * y.low + x.high * y.high in each slot, in float32; subnormal bfloat16 count as zero.
VINLINE vf vfma_pairs(vf x, vf y, vf sum) { return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)y); }
/// The same with the slot at x in all lanes: one instruction, which takes no register for it.
VINLINE vf vfma_pairs_spread(const float *x, vf y, vf sum) {
    __asm__("vdpbf16ps %1%{1to16%}, %2, %0" : "+v"(sum) : "m"(*x), "v"(y));
    return sum;
}
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

/// Stores the numbers of two vectors in channel order, as 16 slots.
VINLINE void store_two_pairs(float *p, vf first, vf second) { _mm512_storeu_ps(p, (vf)_mm512_cvtne2ps_pbh(second, first)); }

/// The numbers of 16 slots, 32 channels, in two vectors: the lower ones, the upper ones.
typedef struct vhalves {
    vf first, second;
} vhalves;

VINLINE vf vupper(vf pairs) { return (vf)_mm512_and_epi32((__m512i)pairs, _mm512_set1_epi32((int)0xffff0000)); }
/// The first n slots (0 to 16), zeros after them. Reads nothing past them.
VINLINE vhalves load_halves(const float *p, size_t n) {
    const vf pairs = n == VL ? vload(p) : vload_n(p, n);
    return (vhalves){(vf)_mm512_slli_epi32((__m512i)pairs, 16), vupper(pairs)};
}
VINLINE void store_slots(float *p, vf pairs, size_t n) {
    if (n == VL) vstore(p, pairs);
    else vstore_n(p, pairs, n);
}
/// Stores the first n slots (0 to 16), nearest, ties to even. Writes nothing past them.
VINLINE void store_halves(float *p, vhalves v, size_t n) {
    const __m512i words = (__m512i)_mm512_cvtne2ps_pbh(v.second, v.first);
    const __m512i order = _mm512_or_epi32(
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
        _mm512_set_epi32(
            31 << 16, 30 << 16, 29 << 16, 28 << 16, 27 << 16, 26 << 16, 25 << 16, 24 << 16, 23 << 16, 22 << 16, 21 << 16,
            20 << 16, 19 << 16, 18 << 16, 17 << 16, 16 << 16));
    store_slots(p, (vf)_mm512_permutexvar_epi16(order, words), n);
}
/// The same for numbers that are bfloat16 already.
VINLINE void store_halves_exact(float *p, vhalves v, size_t n) {
    store_slots(p, (vf)_mm512_or_epi32(_mm512_srli_epi32((__m512i)v.first, 16), (__m512i)vupper(v.second)), n);
}
