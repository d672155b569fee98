// The body of every pooling kernel, written in the primitives of simd/*.h.

VINLINE vf pool_taps(int function, const float *const *taps, size_t count, size_t c, size_t n, const int whole, float scale) {
#define TAP(t) (whole ? vload(taps[t] + c) : vload_n(taps[t] + c, n))
    if (count == 0) return vset1(0);
    vf sum = TAP(0);
    if (function == NT_POOL_MAXIMUM) {
        for (size_t t = 1; t < count; t++) {
            const vf x = TAP(t);
            // vmax takes its second operand when either is NaN, so a NaN in x wins; one in sum is kept by hand.
            sum = vselect(sum == sum, vmax(sum, x), sum);
        }
        return sum;
    }
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
#undef TAP
}

void VNAME(nt_pool_pixel)(int, const float *const *, size_t, size_t, float, float *);
void VNAME(nt_pool_pixel)(
    int function, const float *const *taps, size_t count, size_t channels, float scale, float *y) {
    size_t c = 0;
    for (; c + VL <= channels; c += VL) vstore(y + c, pool_taps(function, taps, count, c, VL, 1, scale));
    if (c < channels) vstore_n(y + c, pool_taps(function, taps, count, c, channels - c, 0, scale), channels - c);
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
