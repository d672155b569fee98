// The body of the transforms, written in the primitives of simd/*.h: a vector holds one pixel's channels.
// With NT_PAIRS pixels are slots of two numbers.

#pragma clang diagnostic ignored "-Wpass-failed"
#define NT_UNROLL _Pragma("clang loop unroll(full)")

// n of a vector's channels, from channel c of a pixel on.
#if defined(NT_PAIRS)
VINLINE vf winograd_load(const float *pixel, size_t c, size_t n, const int whole) {
    return load_pairs(pixel + c / 2, whole ? VL / 2 : nt_slots(NT_PAIRS, n));
}
VINLINE void winograd_store(float *pixel, size_t c, vf v, size_t n, const int whole) {
    store_pairs(pixel + c / 2, v, whole ? VL / 2 : nt_slots(NT_PAIRS, n));
}
#else
VINLINE vf winograd_load(const float *pixel, size_t c, size_t n, const int whole) {
    return whole ? vload(pixel + c) : vload_n(pixel + c, n);
}
VINLINE void winograd_store(float *pixel, size_t c, vf v, size_t n, const int whole) {
    if (whole) vstore(pixel + c, v);
    else vstore_n(pixel + c, v, n);
}
#endif

// B^T d for one column of six.
VINLINE void winograd_input_column(const vf d[6], vf t[6]) {
    const vf two = vset1(2), four = vset1(4), five = vset1(5);
    const vf a = d[4] - four * d[2], b = d[3] - four * d[1];
    const vf c = d[4] - d[2], e = two * (d[3] - d[1]);
    t[0] = vfma(four, d[0], d[4] - five * d[2]);
    t[1] = a + b;
    t[2] = a - b;
    t[3] = c + e;
    t[4] = c - e;
    t[5] = vfma(four, d[1], d[5] - five * d[3]);
}

// A^T m for one column of six.
VINLINE void winograd_output_column(const vf m[6], vf t[4]) {
    const vf sum = m[1] + m[2], difference = m[1] - m[2], wide = m[3] + m[4], far = m[3] - m[4];
    t[0] = m[0] + sum + wide;
    t[1] = vfma(vset1(2), far, difference);
    t[2] = vfma(vset1(4), wide, sum);
    t[3] = vfma(vset1(8), far, difference) + m[5];
}

VINLINE void winograd_input_vector(const float *const *pixels, size_t c, size_t n, const int whole, float *v, size_t plane) {
    vf half[6][6];  // [column][row] of B^T d
    NT_UNROLL for (int j = 0; j < 6; j++) {
        vf d[6];
        NT_UNROLL for (int i = 0; i < 6; i++) d[i] = winograd_load(pixels[i * 6 + j], c, n, whole);
        winograd_input_column(d, half[j]);
    }
    NT_UNROLL for (int i = 0; i < 6; i++) {
        vf row[6], t[6];
        NT_UNROLL for (int j = 0; j < 6; j++) row[j] = half[j][i];
        winograd_input_column(row, t);
        NT_UNROLL for (int j = 0; j < 6; j++) vstore(v + (size_t)(i * 6 + j) * plane + c, t[j]);
    }
}

void VNAME(nt_winograd_input)(const float *const *, size_t, float *, size_t);
void VNAME(nt_winograd_input)(const float *const *pixels, size_t channels, float *v, size_t plane) {
    size_t c = 0;
    for (; c + VL <= channels; c += VL) winograd_input_vector(pixels, c, VL, 1, v, plane);
    if (c < channels) {
        winograd_input_vector(pixels, c, channels - c, 0, v, plane);
        c += VL;
    }
    for (; c % 16 != 0; c += VL) {
        for (size_t xi = 0; xi < NT_WINOGRAD_PRODUCTS; xi++) vstore(v + xi * plane + c, vset1(0));
    }
}

VINLINE void winograd_output_vector(const nt_winograd_output *o, size_t c, size_t n, const int whole) {
    const vf lo = vset1(o->lo), hi = vset1(o->hi), bias = vload(o->bias + c);
    vf half[6][4];  // [column][row] of A^T m
    NT_UNROLL for (int j = 0; j < 6; j++) {
        vf m[6];
        NT_UNROLL for (int i = 0; i < 6; i++) m[i] = vload(o->m + (size_t)(i * 6 + j) * o->plane + c);
        winograd_output_column(m, half[j]);
    }
    NT_UNROLL for (int i = 0; i < 4; i++) {
        if ((size_t)i >= o->height) break;
        vf row[6], t[4];
        NT_UNROLL for (int j = 0; j < 6; j++) row[j] = half[j][i];
        winograd_output_column(row, t);
        float *y = o->y + (size_t)i * o->y_row;
        const float *r = o->residual ? o->residual + (size_t)i * o->residual_row : NULL;
        NT_UNROLL for (int j = 0; j < 4; j++) {
            if ((size_t)j >= o->width) break;
            vf value = t[j] + bias;
            if (r) value += winograd_load(r + (size_t)j * o->residual_stride, c, n, whole);
            winograd_store(y + (size_t)j * o->y_stride, c, vmax(lo, vmin(hi, value)), n, whole);
        }
    }
}

void VNAME(nt_winograd_output)(const nt_winograd_output *);
void VNAME(nt_winograd_output)(const nt_winograd_output *o) {
    size_t c = 0;
    for (; c + VL <= o->columns; c += VL) winograd_output_vector(o, c, VL, 1);
    if (c < o->columns) winograd_output_vector(o, c, o->columns - c, 0);
}
