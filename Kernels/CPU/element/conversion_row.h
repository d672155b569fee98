// The body of the rows' conversion, written in the primitives of simd/avx512bf16.h or simd/avx512f16.h.

#include "../simd/unroll.h"

void VNAME(nt_row_to_pairs)(size_t, const float *, float *);
void VNAME(nt_row_to_pairs)(size_t count, const float *x, float *y) {
    size_t i = 0;
    for (; i + VL <= count; i += VL) store_pairs(y + i / 2, vload(x + i), VL / 2);
    if (i < count) store_pairs(y + i / 2, vload_n(x + i, count - i), nt_slots(NT_PAIRS, count - i));
}

void VNAME(nt_row_from_pairs)(size_t, const float *, float *);
void VNAME(nt_row_from_pairs)(size_t count, const float *x, float *y) {
    size_t i = 0;
    for (; i + VL <= count; i += VL) vstore(y + i, load_pairs(x + i / 2, VL / 2));
    if (i < count) vstore_n(y + i, load_pairs(x + i / 2, nt_slots(NT_PAIRS, count - i)), count - i);
}

// Numbers 16 v..<16 v + 16 of those of 16 pixels of three planes, side by side.
VINLINE vf three_planes(vf a, vf b, vf c, const int v) {
    const __m512i lane = _mm512_add_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(16 * v));
    // n / 3 of n < 48.
    const __m512i pixel = _mm512_srli_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(43691)), 17);
    const __m512i plane = _mm512_sub_epi32(lane, _mm512_mullo_epi32(pixel, _mm512_set1_epi32(3)));
    const __mmask16 second = _mm512_cmpeq_epi32_mask(plane, _mm512_set1_epi32(1)), third = _mm512_cmpeq_epi32_mask(plane, _mm512_set1_epi32(2));
    const vf ab = _mm512_permutex2var_ps(a, _mm512_mask_add_epi32(pixel, second, pixel, _mm512_set1_epi32(16)), b);
    return _mm512_mask_permutexvar_ps(ab, third, pixel, c);
}

void VNAME(nt_planes_to_pairs)(size_t, const float *const *, float *);
void VNAME(nt_planes_to_pairs)(size_t count, const float *const *x, float *y) {
    for (size_t i = 0; i < count; i += VL, y += 3 * VL / 2) {
        const size_t n = count - i < VL ? count - i : VL;
        const vf a = vload_n(x[0] + i, n), b = vload_n(x[1] + i, n), c = vload_n(x[2] + i, n);
        NT_UNROLL for (int v = 0; v < 3; v++) {
            const size_t numbers = n < VL ? 3 * n : 3 * VL, first = (size_t)v * VL;
            if (numbers <= first) break;
            const size_t slots = nt_slots(NT_PAIRS, numbers - first);
            store_pairs(y + first / 2, three_planes(a, b, c, v), slots < VL / 2 ? slots : VL / 2);
        }
    }
}
