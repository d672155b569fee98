// The body of every pooling kernel, written in the primitives of simd/*.h.

#define TAP(t) (whole ? vload(taps[t] + at) : vload_n(taps[t] + at, n))

// The largest of the taps; a NaN among them wins.
VINLINE vf pool_maximum(const float *const *taps, size_t count, size_t at, size_t n, const int whole) {
    vf best = TAP(0);
    for (size_t t = 1; t < count; t++) {
        const vf x = TAP(t);
        // vmax takes its second operand when either is NaN, so a NaN in x wins; one in best is kept by hand.
        best = vselect(best == best, vmax(best, x), best);
    }
    return best;
}

VINLINE vf pool_taps(
    int function, const float *const *taps, size_t count, size_t at, size_t n, const int whole, float scale) {
    if (count == 0) return vset1(0);
    if (function == NT_POOL_MAXIMUM) return pool_maximum(taps, count, at, n, whole);
    vf sum = TAP(0);
    if (function == NT_POOL_AVERAGE) {
        for (size_t t = 1; t < count; t++) sum += TAP(t);
        return sum * vset1(scale);
    }
    sum = sum * sum;
    for (size_t t = 1; t < count; t++) {
        const vf x = TAP(t);
        sum = vfma(x, x, sum);
    }
    return vsqrt(sum);
}
#undef TAP

VINLINE void pool_pixels(
    const int function, const float *const *taps, const size_t count, size_t channels, float scale, size_t pixels, size_t step, float *y,
    size_t y_stride) {
    for (size_t p = 0; p < pixels; p++, y += y_stride) {
        const size_t at = p * step;
        size_t c = 0;
        for (; c + VL <= channels; c += VL) vstore(y + c, pool_taps(function, taps, count, at + c, VL, 1, scale));
        if (c < channels)
            vstore_n(y + c, pool_taps(function, taps, count, at + c, channels - c, 0, scale), channels - c);
    }
}

void VNAME(nt_pool_pixels)(int, const float *const *, size_t, size_t, float, size_t, size_t, float *, size_t);
void VNAME(nt_pool_pixels)(
    int function, const float *const *taps, size_t count, size_t channels, float scale, size_t pixels, size_t step, float *y,
    size_t y_stride) {
    // The usual windows, for whose pointers there are registers.
    if (function == NT_POOL_MAXIMUM && count == 9) pool_pixels(NT_POOL_MAXIMUM, taps, 9, channels, scale, pixels, step, y, y_stride);
    else if (function == NT_POOL_MAXIMUM && count == 4) pool_pixels(NT_POOL_MAXIMUM, taps, 4, channels, scale, pixels, step, y, y_stride);
    else pool_pixels(function, taps, count, channels, scale, pixels, step, y, y_stride);
}

void VNAME(nt_pool_sum)(const float *, size_t, size_t, size_t, size_t, size_t, float, float *);
void VNAME(nt_pool_sum)(
    const float *x, size_t rows, size_t columns, size_t row_stride, size_t x_stride, size_t channels, float scale, float *y) {
    for (size_t c = 0; c < channels; c += VL) {
        const size_t n = channels - c < VL ? channels - c : VL;
        vf total = vset1(0);
        for (size_t row = 0; row < rows; row++) {
            vf sum = vset1(0);
            const float *p = x + row * row_stride + c;
            if (n == VL) {
                for (size_t column = 0; column < columns; column++) sum += vload(p + column * x_stride);
            } else {
                for (size_t column = 0; column < columns; column++) sum += vload_n(p + column * x_stride, n);
            }
            total += sum;
        }
        vstore_n(y + c, total * vset1(scale), n);
    }
}
