// The body of the bfloat16 pooling kernel: 16 slots, 32 channels, at a time; lower and upper channels apart.

#define TAP(t) (whole ? vload(taps[t] + at) : vload_n(taps[t] + at, slots))

// The larger of two numbers; a NaN wins.
VINLINE vf pool_larger(vf best, vf x) { return vselect(best == best, vmax(best, x), best); }

VINLINE vf pool_taps(
    int function, const float *const *taps, size_t count, size_t at, size_t slots, const int whole, float scale) {
    if (count == 0) return vset1(0);
    const vf first = TAP(0);
    vf lower = vlower(first), upper = vupper(first);
    if (function == NT_POOL_MAXIMUM) {
        for (size_t t = 1; t < count; t++) {
            const vf x = TAP(t);
            lower = pool_larger(lower, vlower(x));
            upper = pool_larger(upper, vupper(x));
        }
        return vpairs_exact(lower, upper);
    }
    if (function == NT_POOL_AVERAGE) {
        for (size_t t = 1; t < count; t++) {
            const vf x = TAP(t);
            lower += vlower(x);
            upper += vupper(x);
        }
        return vpairs(lower * vset1(scale), upper * vset1(scale));
    }
    lower *= lower;
    upper *= upper;
    for (size_t t = 1; t < count; t++) {
        const vf x = TAP(t), l = vlower(x), u = vupper(x);
        lower = vfma(l, l, lower);
        upper = vfma(u, u, upper);
    }
    return vpairs(vsqrt(lower), vsqrt(upper));
}
#undef TAP

void VNAME(nt_pool_pixels)(int, const float *const *, size_t, size_t, float, size_t, size_t, float *, size_t);
void VNAME(nt_pool_pixels)(
    int function, const float *const *taps, size_t count, size_t channels, float scale, size_t pixels, size_t step, float *y,
    size_t y_stride) {
    const size_t slots = nt_slots(NT_ELEMENT_BFLOAT16, channels);
    for (size_t p = 0; p < pixels; p++, y += y_stride) {
        const size_t at = p * step;
        size_t c = 0;
        for (; c + VL <= slots; c += VL) vstore(y + c, pool_taps(function, taps, count, at + c, VL, 1, scale));
        if (c < slots) vstore_n(y + c, pool_taps(function, taps, count, at + c, slots - c, 0, scale), slots - c);
    }
}

void VNAME(nt_pool_sum)(const float *, size_t, size_t, size_t, size_t, size_t, float, float *);
void VNAME(nt_pool_sum)(
    const float *x, size_t rows, size_t columns, size_t row_stride, size_t x_stride, size_t channels, float scale, float *y) {
    for (size_t c = 0; c < channels; c += VL) {
        const size_t n = channels - c < VL ? channels - c : VL, slots = nt_slots(NT_ELEMENT_BFLOAT16, n);
        vf total = vset1(0);
        for (size_t row = 0; row < rows; row++) {
            vf sum = vset1(0);
            const float *p = x + row * row_stride + c / 2;
            for (size_t column = 0; column < columns; column++) sum += load_pairs(p + column * x_stride, slots);
            total += sum;
        }
        vstore_n(y + c, total * vset1(scale), n);
    }
}
