// AVX-512's primitives and float16 in slots of two (see element/element.h), which AVX-512 itself converts. `end.h` closes the region.
#if !defined(NT_AVX512_FP16)
#define NT_AVX512_F16
#endif
#define NT_PAIRS NT_ELEMENT_FLOAT16
#include "avx512.h"

/// The first n slots (0 to 8): numbers in channel order, zeros after them. Reads nothing past them.
VINLINE vf load_pairs(const float *p, size_t n) {
    return _mm512_cvtph_ps(n == 8 ? _mm256_loadu_si256((const __m256i *)p) : _mm256_maskz_loadu_epi32((__mmask8)((1u << n) - 1u), p));
}
/// Stores numbers in channel order as the first n slots (0 to 8), nearest, ties to even. Writes nothing past them.
VINLINE void store_pairs(float *p, vf v, size_t n) {
    const __m256i halves = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (n == 8) _mm256_storeu_si256((__m256i *)p, halves);
    else _mm256_mask_storeu_epi32(p, (__mmask8)((1u << n) - 1u), halves);
}
/// Stores the numbers of two vectors, as 16 slots.
VINLINE void store_two_pairs(float *p, vf first, vf second) {
    store_pairs(p, first, 8);
    store_pairs(p + 8, second, 8);
}

/// The numbers of 16 slots, 32 channels, in two vectors, in channel order.
typedef struct vhalves {
    vf first, second;
} vhalves;

/// The first n slots (0 to 16), zeros after them. Reads nothing past them.
VINLINE vhalves load_halves(const float *p, size_t n) {
    return (vhalves){load_pairs(p, n < 8 ? n : 8), load_pairs(p + 8, n < 8 ? 0 : n - 8)};
}
/// Stores the first n slots (0 to 16), nearest, ties to even. Writes nothing past them.
VINLINE void store_halves(float *p, vhalves v, size_t n) {
    store_pairs(p, v.first, n < 8 ? n : 8);
    store_pairs(p + 8, v.second, n < 8 ? 0 : n - 8);
}
/// The same for numbers that are float16 already.
VINLINE void store_halves_exact(float *p, vhalves v, size_t n) { store_halves(p, v, n); }
