// The body of the transforms, written in the primitives of simd/*.h: a vector holds one pixel's channels.
// With NT_PAIRS pixels are slots of two numbers.

#include "../simd/unroll.h"

// n of a vector's channels, from channel c of a pixel on, zeros after them.
#if defined(NT_PAIRS)
VINLINE vf winograd_load(const float *pixel, size_t c, size_t n, const int whole) {
    return whole ? load_pairs(pixel + c / 2, VL / 2) : vfirst(load_pairs(pixel + c / 2, nt_slots(NT_PAIRS, n)), n);
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

enum { maximum_tile = 5, maximum_patch = NT_WINOGRAD_MAX_PATCH };

// B^T d for one column of five. Here and for seven, for the points a and -a: x F + a F and x F - a F, F the product of x^2 - b^2 over the
// other points b > 0.
VINLINE void winograd_input_five(const vf *d, vf *t) {
    const vf half = vset1(0.5f), quarter = vset1(0.25f);
    const vf a = half * (d[2] - d[0]), xa = d[3] - d[1];
    const vf b = d[2] - quarter * d[0], xb = d[3] - quarter * d[1];
    t[0] = xa + a;
    t[1] = xa - a;
    t[2] = xb + b;
    t[3] = xb - b;
    t[4] = vfma(quarter, d[0], vfma(vset1(-1.25f), d[2], d[4]));
}

// B^T d for one column of six.
VINLINE void winograd_input_six(const vf *d, vf *t) {
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

// x^4 - p x^2 + q for the powers at d[0], d[2] and d[4].
VINLINE vf winograd_even(const vf *d, float p, float q) { return vfma(vset1(q), d[0], vfma(vset1(-p), d[2], d[4])); }

// B^T d for one column of seven.
VINLINE void winograd_input_seven(const vf *d, vf *t) {
    const vf quarter = vset1(0.25f), two = vset1(2);
    const vf a = quarter * winograd_even(d, 5, 4), xa = winograd_even(d + 1, 5, 4);
    const vf b = winograd_even(d, 4.0625f, 0.25f), xb = winograd_even(d + 1, 4.0625f, 0.25f);
    const vf c = two * winograd_even(d, 1.0625f, 0.0625f), xc = winograd_even(d + 1, 1.0625f, 0.0625f);
    t[0] = xa + a;
    t[1] = xa - a;
    t[2] = xb + b;
    t[3] = xb - b;
    t[4] = xc + c;
    t[5] = xc - c;
    t[6] = vfma(vset1(-0.25f), d[0], winograd_even(d + 2, 5.0625f, 4.3125f));
}

// A^T m for one column of five.
VINLINE void winograd_output_five(const vf *m, vf *t) {
    const vf near = m[0] + m[1], close = m[0] - m[1], sum = m[2] + m[3], difference = m[2] - m[3];
    t[0] = near + sum;
    t[1] = vfma(vset1(0.5f), close, difference);
    t[2] = vfma(vset1(0.25f), near, sum) + m[4];
}

// A^T m for one column of six.
VINLINE void winograd_output_six(const vf *m, vf *t) {
    const vf sum = m[1] + m[2], difference = m[1] - m[2], wide = m[3] + m[4], far = m[3] - m[4];
    t[0] = m[0] + sum + wide;
    t[1] = vfma(vset1(2), far, difference);
    t[2] = vfma(vset1(4), wide, sum);
    t[3] = vfma(vset1(8), far, difference) + m[5];
}

// A^T m for one column of seven.
VINLINE void winograd_output_seven(const vf *m, vf *t) {
    const vf near = m[0] + m[1], close = m[0] - m[1], sum = m[2] + m[3], difference = m[2] - m[3], wide = m[4] + m[5], far = m[4] - m[5];
    t[0] = near + sum + wide;
    t[1] = vfma(vset1(0.25f), close, vfma(vset1(2), far, difference));
    t[2] = vfma(vset1(0.0625f), near, vfma(vset1(4), wide, sum));
    t[3] = vfma(vset1(0x1p-6f), close, vfma(vset1(8), far, difference));
    t[4] = vfma(vset1(0x1p-8f), near, vfma(vset1(16), wide, sum)) + m[6];
}

VINLINE void winograd_input_column(const vf *d, vf *t, const int tile) {
    if (tile == 3) winograd_input_five(d, t);
    else if (tile == 4) winograd_input_six(d, t);
    else winograd_input_seven(d, t);
}

VINLINE void winograd_output_column(const vf *m, vf *t, const int tile) {
    if (tile == 3) winograd_output_five(m, t);
    else if (tile == 4) winograd_output_six(m, t);
    else winograd_output_seven(m, t);
}

// Whether what is between columns and rows fits the registers. Loops over columns and rows are then unrolled, else they are not.
VINLINE int winograd_in_registers(const int tile) { return VL == 16 && tile <= 4; }

// B^T d for column j of the patch.
VINLINE void winograd_input_patch_column(
    const nt_winograd_input *in, size_t c, size_t n, const int whole, const int tile, const int j, vf half[maximum_patch][maximum_patch]) {
    const int patch = tile + 2;
    vf d[maximum_patch], t[maximum_patch];
    if ((size_t)j < in->left || (size_t)j >= in->right) {
        NT_UNROLL for (int i = 0; i < patch; i++) half[i][j] = vset1(0);
        return;
    }
    const size_t pixel = ((size_t)j - in->left) * in->stride;
    NT_UNROLL for (int i = 0; i < patch; i++) d[i] = winograd_load(in->rows[i] + pixel, c, n, whole);
    winograd_input_column(d, t, tile);
    NT_UNROLL for (int i = 0; i < patch; i++) half[i][j] = t[i];
}

VINLINE void winograd_input_patch_row(const vf *half, float *v, size_t plane, const int tile) {
    vf t[maximum_patch];
    winograd_input_column(half, t, tile);
    NT_UNROLL for (int j = 0; j < tile + 2; j++) vstore(v + (size_t)j * plane, t[j]);
}

VINLINE void winograd_input_vector(const nt_winograd_input *in, size_t c, size_t n, const int whole, const int tile) {
    const int patch = tile + 2;
    const size_t row = (size_t)patch * in->plane;
    vf half[maximum_patch][maximum_patch];  // [row][column] of B^T d
    if (winograd_in_registers(tile)) {
        NT_UNROLL for (int j = 0; j < patch; j++) winograd_input_patch_column(in, c, n, whole, tile, j, half);
        NT_UNROLL for (int i = 0; i < patch; i++) winograd_input_patch_row(half[i], in->v + (size_t)i * row + c, in->plane, tile);
    } else {
#pragma clang loop unroll(disable)
        for (int j = 0; j < patch; j++) winograd_input_patch_column(in, c, n, whole, tile, j, half);
#pragma clang loop unroll(disable)
        for (int i = 0; i < patch; i++) winograd_input_patch_row(half[i], in->v + (size_t)i * row + c, in->plane, tile);
    }
}

VINLINE void winograd_input(const nt_winograd_input *in, const int tile) {
    size_t c = 0;
    for (; c + VL <= in->channels; c += VL) winograd_input_vector(in, c, VL, 1, tile);
    if (c < in->channels) winograd_input_vector(in, c, in->channels - c, 0, tile);
}

// A^T m for column j of the products.
VINLINE void winograd_output_tile_column(const float *from, size_t plane, const int tile, const int j, vf half[maximum_tile][maximum_patch]) {
    const int patch = tile + 2;
    vf m[maximum_patch], t[maximum_tile];
    NT_UNROLL for (int i = 0; i < patch; i++) m[i] = vload(from + (size_t)(i * patch + j) * plane);
    winograd_output_column(m, t, tile);
    NT_UNROLL for (int i = 0; i < tile; i++) half[i][j] = t[i];
}

// Row i of the tile.
VINLINE void winograd_output_tile_row(
    const nt_winograd_output *o, const vf *half, size_t c, size_t n, const int whole, const int tile, const int i) {
    const vf lo = vset1(o->lo), hi = vset1(o->hi);
    vf t[maximum_tile];
    winograd_output_column(half, t, tile);
    float *y = o->y + (size_t)i * o->y_row;
    const float *r = o->residual ? o->residual + (size_t)i * o->residual_row : NULL;
    NT_UNROLL for (int j = 0; j < tile; j++) {
        if ((size_t)j >= o->width) break;
        vf value = t[j];
        if (r) value += winograd_load(r + (size_t)j * o->residual_stride, c, n, whole);
        winograd_store(y + (size_t)j * o->y_stride, c, vmax(lo, vmin(hi, value)), n, whole);
    }
}

VINLINE void winograd_output_vector(const nt_winograd_output *o, size_t c, size_t n, const int whole, const int tile) {
    const int patch = tile + 2, height = (int)o->height;
    vf half[maximum_tile][maximum_patch];  // [row][column] of A^T m
    if (winograd_in_registers(tile)) {
        NT_UNROLL for (int j = 0; j < patch; j++) winograd_output_tile_column(o->m + c, o->plane, tile, j, half);
        NT_UNROLL for (int i = 0; i < tile; i++) {
            if (i < height) winograd_output_tile_row(o, half[i], c, n, whole, tile, i);
        }
    } else {
#pragma clang loop unroll(disable)
        for (int j = 0; j < patch; j++) winograd_output_tile_column(o->m + c, o->plane, tile, j, half);
#pragma clang loop unroll(disable)
        for (int i = 0; i < height; i++) winograd_output_tile_row(o, half[i], c, n, whole, tile, i);
    }
}

VINLINE void winograd_output(const nt_winograd_output *o, const int tile) {
    size_t c = 0;
    for (; c + VL <= o->columns; c += VL) winograd_output_vector(o, c, VL, 1, tile);
    if (c < o->columns) winograd_output_vector(o, c, o->columns - c, 0, tile);
}

#define NT_WINOGRAD_TILE(tile) \
    void VNAME(nt_winograd_input_##tile)(const nt_winograd_input *); \
    void VNAME(nt_winograd_input_##tile)(const nt_winograd_input *input) { winograd_input(input, tile); } \
    void VNAME(nt_winograd_output_##tile)(const nt_winograd_output *); \
    void VNAME(nt_winograd_output_##tile)(const nt_winograd_output *output) { winograd_output(output, tile); }

NT_WINOGRAD_TILE(3)
NT_WINOGRAD_TILE(4)
NT_WINOGRAD_TILE(5)

// The rows of u, zeros past `depth`, stay in registers.
VINLINE void winograd_product(
    size_t rows, size_t depth, const float *v, size_t stride, const float *u, const float *bias, float *m, const int steps) {
    const vf start = vload(bias);
    vf row[VL];
    NT_UNROLL for (int k = 0; k < steps; k++) row[k] = (size_t)k < depth ? vload(u + k * VL) : vset1(0);
    for (size_t i = 0; i < rows; i++, v += stride, m += VL) {
        vf sum = start;
        NT_UNROLL for (int k = 0; k < steps; k++) sum = vfma_spread(v + k, row[k], sum);
        vstore(m, sum);
    }
}

void VNAME(nt_winograd_product)(size_t, size_t, const float *, size_t, const float *, const float *, float *);
void VNAME(nt_winograd_product)(size_t rows, size_t depth, const float *v, size_t stride, const float *u, const float *bias, float *m) {
    if (depth <= VL / 2) winograd_product(rows, depth, v, stride, u, bias, m, VL / 2);
    else winograd_product(rows, depth, v, stride, u, bias, m, VL);
}
