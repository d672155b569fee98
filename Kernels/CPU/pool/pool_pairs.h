// The body of the pooling kernels on slots of two: 16 slots, 32 channels, at a time, in two vectors.

// The larger of two numbers; a NaN wins.
VINLINE vf pool_larger(vf best, vf x) { return vselect(best == best, vmax(best, x), best); }

VINLINE void pool_taps(
    int function, const float *const *taps, size_t count, size_t at, size_t slots, float scale, float *y) {
    if (count == 0) {
        store_halves(y, (vhalves){vset1(0), vset1(0)}, slots);
        return;
    }
    vhalves r = load_halves(taps[0] + at, slots);
    if (function == NT_POOL_MAXIMUM) {
        for (size_t t = 1; t < count; t++) {
            const vhalves x = load_halves(taps[t] + at, slots);
            r.first = pool_larger(r.first, x.first);
            r.second = pool_larger(r.second, x.second);
        }
        store_halves_exact(y, r, slots);
        return;
    }
    if (function == NT_POOL_AVERAGE) {
        for (size_t t = 1; t < count; t++) {
            const vhalves x = load_halves(taps[t] + at, slots);
            r.first += x.first;
            r.second += x.second;
        }
        store_halves(y, (vhalves){r.first * vset1(scale), r.second * vset1(scale)}, slots);
        return;
    }
    r.first *= r.first;
    r.second *= r.second;
    for (size_t t = 1; t < count; t++) {
        const vhalves x = load_halves(taps[t] + at, slots);
        r.first = vfma(x.first, x.first, r.first);
        r.second = vfma(x.second, x.second, r.second);
    }
    store_halves(y, (vhalves){vsqrt(r.first), vsqrt(r.second)}, slots);
}

VINLINE void pool_pixels(
    const int function, const float *const *taps, const size_t count, size_t slots, float scale, size_t pixels, size_t step, float *y,
    size_t y_stride) {
    for (size_t p = 0; p < pixels; p++, y += y_stride) {
        const size_t at = p * step;
        size_t c = 0;
        for (; c + VL <= slots; c += VL) pool_taps(function, taps, count, at + c, VL, scale, y + c);
        if (c < slots) pool_taps(function, taps, count, at + c, slots - c, scale, y + c);
    }
}

void VNAME(nt_pool_pixels)(int, const float *const *, size_t, size_t, float, size_t, size_t, float *, size_t);
void VNAME(nt_pool_pixels)(
    int function, const float *const *taps, size_t count, size_t channels, float scale, size_t pixels, size_t step, float *y,
    size_t y_stride) {
    const size_t slots = nt_slots(NT_PAIRS, channels);
    // The usual windows, for whose pointers there are registers.
    if (function == NT_POOL_MAXIMUM && count == 9) pool_pixels(NT_POOL_MAXIMUM, taps, 9, slots, scale, pixels, step, y, y_stride);
    else if (function == NT_POOL_MAXIMUM && count == 4) pool_pixels(NT_POOL_MAXIMUM, taps, 4, slots, scale, pixels, step, y, y_stride);
    else pool_pixels(function, taps, count, slots, scale, pixels, step, y, y_stride);
}

void VNAME(nt_pool_sum)(const float *, size_t, size_t, size_t, size_t, size_t, float, float *);
void VNAME(nt_pool_sum)(
    const float *x, size_t rows, size_t columns, size_t row_stride, size_t x_stride, size_t channels, float scale, float *y) {
    for (size_t c = 0; c < channels; c += VL) {
        const size_t n = channels - c < VL ? channels - c : VL, slots = nt_slots(NT_PAIRS, n);
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
