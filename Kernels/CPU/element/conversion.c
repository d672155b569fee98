#include "conversion.h"

#if defined(__x86_64__)
void nt_row_to_pairs_avx512bf16(size_t count, const float *x, float *y);
void nt_row_from_pairs_avx512bf16(size_t count, const float *x, float *y);
void nt_row_to_pairs_avx512f16(size_t count, const float *x, float *y);
void nt_planes_to_pairs_avx512bf16(size_t count, const float *const *x, float *y);
void nt_planes_to_pairs_avx512f16(size_t count, const float *const *x, float *y);
void nt_row_from_pairs_avx512f16(size_t count, const float *x, float *y);

void nt_row_to_pairs(int element, size_t count, const float *x, float *y) {
    if (element == NT_ELEMENT_FLOAT16) nt_row_to_pairs_avx512f16(count, x, y);
    else nt_row_to_pairs_avx512bf16(count, x, y);
}

void nt_row_from_pairs(int element, size_t count, const float *x, float *y) {
    if (element == NT_ELEMENT_FLOAT16) nt_row_from_pairs_avx512f16(count, x, y);
    else nt_row_from_pairs_avx512bf16(count, x, y);
}

void nt_planes_to_pairs(int element, size_t count, const float *const *x, float *y) {
    if (element == NT_ELEMENT_FLOAT16) nt_planes_to_pairs_avx512f16(count, x, y);
    else nt_planes_to_pairs_avx512bf16(count, x, y);
}
#else
void nt_row_to_pairs(int element, size_t count, const float *x, float *y) {
    uint16_t *halves = (uint16_t *)y;
    for (size_t i = 0; i < count; i++) halves[i] = nt_half_bits(element, x[i]);
    if (count % 2) halves[count] = 0;
}

void nt_row_from_pairs(int element, size_t count, const float *x, float *y) {
    const uint16_t *halves = (const uint16_t *)x;
    for (size_t i = 0; i < count; i++) y[i] = nt_half_value(element, halves[i]);
}

void nt_planes_to_pairs(int element, size_t count, const float *const *x, float *y) {
    uint16_t *halves = (uint16_t *)y;
    for (size_t i = 0; i < 3 * count; i++) halves[i] = nt_half_bits(element, x[i % 3][i / 3]);
    if (count % 2) halves[3 * count] = 0;
}
#endif

void nt_conversion_run(const nt_conversion *c, const float *x, float *y, size_t part, size_t parts) {
    const size_t end = c->rows * (part + 1) / parts;
    for (size_t row = c->rows * part / parts; row < end; row++) {
        if (c->to_pairs) nt_row_to_pairs(c->element, c->count, x + row * c->x_stride, y + row * c->y_stride);
        else nt_row_from_pairs(c->element, c->count, x + row * c->x_stride, y + row * c->y_stride);
    }
}
