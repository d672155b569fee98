#include "bfloat16.h"

#if defined(__x86_64__)
#include "../simd/avx512bf16.h"

void nt_row_to_bfloat16(size_t count, const float *x, float *y) {
    size_t i = 0;
    for (; i + VL <= count; i += VL) store_pairs(y + i / 2, vload(x + i), VL / 2);
    if (i < count) store_pairs(y + i / 2, vload_n(x + i, count - i), nt_slots(NT_ELEMENT_BFLOAT16, count - i));
}

void nt_row_from_bfloat16(size_t count, const float *x, float *y) {
    size_t i = 0;
    for (; i + VL <= count; i += VL) vstore(y + i, load_pairs(x + i / 2, VL / 2));
    if (i < count) vstore_n(y + i, load_pairs(x + i / 2, nt_slots(NT_ELEMENT_BFLOAT16, count - i)), count - i);
}

#include "../simd/end.h"
#else

void nt_row_to_bfloat16(size_t count, const float *x, float *y) {
    uint16_t *halves = (uint16_t *)y;
    for (size_t i = 0; i < count; i++) halves[i] = nt_bfloat16_bits(x[i]);
    if (count % 2) halves[count] = 0;
}

void nt_row_from_bfloat16(size_t count, const float *x, float *y) {
    const uint16_t *halves = (const uint16_t *)x;
    for (size_t i = 0; i < count; i++) y[i] = nt_bfloat16_value(halves[i]);
}
#endif
