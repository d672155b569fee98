// The body of the rows' conversion, written in the primitives of simd/avx512bf16.h or simd/avx512f16.h.

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
