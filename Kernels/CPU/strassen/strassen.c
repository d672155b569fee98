#include "strassen.h"

#include <CNTPlatform.h>

#define NT_STRASSEN_KERNEL(suffix, name, isa, lanes) \
    void nt_strassen_inputs_##suffix(const nt_strassen_inputs *); \
    void nt_strassen_outputs_##suffix(const nt_strassen_outputs *);
#include "strassen.inc"
#undef NT_STRASSEN_KERNEL

static const nt_strassen_kernel kernels[] = {
#define NT_STRASSEN_KERNEL(suffix, name, isa, lanes) \
    {name, isa, lanes, nt_strassen_inputs_##suffix, nt_strassen_outputs_##suffix},
#include "strassen.inc"
#undef NT_STRASSEN_KERNEL
};

size_t nt_strassen_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_strassen_kernel *nt_strassen_kernel_at(size_t index) {
    return index < nt_strassen_kernel_count() ? &kernels[index] : NULL;
}

const nt_strassen_kernel *nt_strassen_choose(uint32_t isa) {
    const nt_strassen_kernel *best = NULL;
    for (size_t i = 0; i < nt_strassen_kernel_count(); i++) {
        if ((kernels[i].isa & isa) == kernels[i].isa && (!best || kernels[i].lanes > best->lanes)) best = &kernels[i];
    }
    return best;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t panel_width(const nt_strassen *s) { return (size_t)(s->gemm->vectors * s->gemm->lanes); }

// Floats from row to row of the scratch: whole cache lines, no multiple of 1 KiB.
static size_t scratch_stride(size_t columns) {
    const size_t stride = (columns + 15) / 16 * 16;
    return stride % 256 == 0 ? stride + 16 : stride;
}

// MARK: Weights

size_t nt_strassen_packed_count(const nt_gemm_kernel *gemm, size_t depth, size_t outputs) {
    return NT_STRASSEN_PRODUCTS * nt_gemm_packed_count(gemm, outputs / 2, 1, depth / 2);
}

// Packed in the order of use: B11, B21, T2, T3, T1, -T4, B22.
void nt_strassen_pack(
    const nt_gemm_kernel *gemm, size_t depth, size_t outputs, const float *weights, float *scratch, float *packed) {
    // Factors of B11, B12, B21, B22; a quarter's weight of column j and channel k is weights[j * depth + k].
    static const double factors[NT_STRASSEN_PRODUCTS][4] = {
        {1, 0, 0, 0}, {0, 0, 1, 0}, {1, -1, 0, 1}, {0, -1, 0, 1}, {-1, 1, 0, 0}, {-1, 1, 1, -1}, {0, 0, 0, 1}};
    const size_t columns = outputs / 2, half = depth / 2;
    const size_t right = columns * depth;
    for (int p = 0; p < NT_STRASSEN_PRODUCTS; p++) {
        const double *f = factors[p];
        for (size_t j = 0; j < columns; j++) {
            const float *b = weights + j * depth;
            for (size_t k = 0; k < half; k++) {
                scratch[j * half + k] = (float)(f[0] * (double)b[k] + f[1] * (double)b[right + k] + f[2] * (double)b[half + k]
                                                + f[3] * (double)b[right + half + k]);
            }
        }
        nt_gemm_pack(gemm, columns, 1, half, scratch, half, 0, 1, packed);
        packed += nt_gemm_packed_count(gemm, columns, 1, half);
    }
}

// MARK: Sizes

static size_t upper_rows(size_t m) { return ceil_div(m, 2); }

// Four sums of A, then U2, U3 and P5.
size_t nt_strassen_scratch_count(const nt_strassen *s) {
    return upper_rows(s->block_rows) * (4 * scratch_stride(s->depth / 2) + 3 * scratch_stride(s->outputs / 2));
}

size_t nt_strassen_block_bytes(const nt_strassen *s) {
    return s->block_rows * (2 * s->depth + 7 * s->outputs / 4) * sizeof(float);
}

static double block_cost(const nt_strassen *s, size_t m) {
    const size_t upper = upper_rows(m), lower = m - upper, depth = s->depth / 2, columns = s->outputs / 2;
    const double products = 5 * nt_gemm_cost(s->gemm, upper, columns, depth) + 2 * nt_gemm_cost(s->gemm, lower, columns, depth);
    // Cycles a vector of A's sums and of the products', fitted to AVX-512; the weights, once a block, mostly while sums are formed.
    const double lanes = (double)s->kernel->lanes, output = s->adds_residual ? 32 : 26;
    const double sums = (double)upper * ((double)depth * 16 + (double)columns * output) / lanes;
    const double weights = NT_STRASSEN_PRODUCTS * (double)(depth * columns) * sizeof(float) / 64;
    return products + sums + weights;
}

double nt_strassen_cost(const nt_strassen *s, size_t m) {
    const size_t rest = m % s->block_rows;
    return (double)(m / s->block_rows) * block_cost(s, s->block_rows) + (rest ? block_cost(s, rest) : 0);
}

size_t nt_strassen_column_parts(const nt_strassen *s, size_t blocks, size_t parts) {
    const size_t panels = ceil_div(s->outputs / 2, panel_width(s));
    size_t best = 1;
    for (size_t columns = 1; columns <= smaller(parts, panels); columns++) {
        if (parts % columns != 0) continue;
        best = columns;
        const size_t rows = parts / columns;
        if (blocks % rows == 0 || blocks >= 6 * rows) break;
    }
    return best;
}

// MARK: Running

// What the products of one block share.
typedef struct block {
    const nt_strassen *s;
    size_t first, columns;         // of each half
} block;

// C = clamp(bias + A times product `index` of the weights + residual + addend) for some rows; bias, residual and addend may be NULL.
static void multiply(
    const block *b, size_t index, size_t rows, const float *a, size_t a_stride, const float *bias, float *c, size_t c_stride,
    const float *residual, size_t residual_stride, const float *addend, size_t addend_stride, float lo, float hi) {
    static const float zeros[64] __attribute__((aligned(64))) = {0};
    const nt_strassen *s = b->s;
    const size_t depth = s->depth / 2, nr = panel_width(s);
    const float *packed = s->packed + index * nt_gemm_packed_count(s->gemm, s->outputs / 2, 1, depth) + b->first * depth;
    for (size_t j = 0; j < b->columns; j += nr) {
        nt_gemm_run_added(
            s->gemm, rows, smaller(nr, b->columns - j), depth, a, a_stride, packed + j * depth, bias ? bias + j : zeros, c + j,
            c_stride, residual ? residual + j : NULL, residual_stride, addend ? addend + j : NULL, addend_stride, lo, hi);
    }
}

static void run_block(
    const block *b, const nt_activation *activation, size_t m, const float *a, size_t a_stride, float *c, size_t c_stride,
    const float *residual, size_t residual_stride, float *scratch) {
    const nt_strassen *s = b->s;
    const size_t upper = upper_rows(m), lower = m - upper, depth = s->depth / 2;
    const size_t sum_stride = scratch_stride(depth), stride = scratch_stride(s->outputs / 2), plane = upper * sum_stride;
    float *s1 = scratch, *s2 = s1 + plane, *s3 = s2 + plane, *s4 = s3 + plane;
    float *u2 = s4 + plane, *u3 = u2 + upper * stride, *p5 = u3 + upper * stride;
    const float lo = activation->lo, hi = activation->hi, least = -__builtin_inff(), most = __builtin_inff();
    const float *left_bias = s->bias + b->first, *right_bias = left_bias + nt_strassen_bias_stride(s->outputs);
    const float *a12 = a + depth, *a22 = a12 + upper * a_stride;
    float *c11 = c + b->first, *c12 = c11 + s->outputs / 2, *c21 = c11 + upper * c_stride, *c22 = c12 + upper * c_stride;
    const float *r11 = residual ? residual + b->first : NULL, *r12 = r11 ? r11 + s->outputs / 2 : NULL;
    const float *r21 = r11 ? r11 + upper * residual_stride : NULL, *r22 = r11 ? r12 + upper * residual_stride : NULL;
    const nt_strassen_inputs inputs = {
        .rows = upper, .lower_rows = lower, .columns = depth, .a = a, .a_stride = a_stride, .s = s1, .s_stride = sum_stride,
        .plane = plane};
    s->kernel->inputs(&inputs);
    multiply(b, 0, upper, a, a_stride, NULL, u2, stride, NULL, 0, NULL, 0, least, most);
    multiply(b, 1, upper, a12, a_stride, left_bias, c11, c_stride, u2, stride, r11, residual_stride, lo, hi);
    multiply(b, 2, upper, s2, sum_stride, NULL, u2, stride, u2, stride, NULL, 0, least, most);
    multiply(b, 3, lower, s3, sum_stride, NULL, u3, stride, u2, stride, NULL, 0, least, most);
    multiply(b, 4, upper, s1, sum_stride, NULL, p5, stride, NULL, 0, NULL, 0, least, most);
    const nt_strassen_outputs outputs = {
        .rows = upper, .lower_rows = lower, .columns = b->columns, .u2 = u2, .u3 = u3, .p5 = p5, .stride = stride, .bias = right_bias,
        .c22 = c22, .c_stride = c_stride, .residual = r22, .residual_stride = residual_stride, .lo = lo, .hi = hi};
    s->kernel->outputs(&outputs);
    multiply(b, 5, lower, a22, a_stride, left_bias, c21, c_stride, u3, stride, r21, residual_stride, lo, hi);
    multiply(b, 6, upper, s4, sum_stride, right_bias, c12, c_stride, u2, stride, r12, residual_stride, lo, hi);
    nt_activation_apply(activation, NT_ELEMENT_FLOAT32, m, b->columns, c11, c_stride);
    nt_activation_apply(activation, NT_ELEMENT_FLOAT32, m, b->columns, c12, c_stride);
}

void nt_strassen_run(
    const nt_strassen *s, const nt_activation *activation, size_t m, const float *a, size_t a_stride, float *c, size_t c_stride,
    const float *residual, size_t residual_stride, float *scratch, size_t part, size_t parts) {
    const size_t nr = panel_width(s), panels = ceil_div(s->outputs / 2, nr);
    const size_t first = panels * part / parts * nr, end = smaller(panels * (part + 1) / parts * nr, s->outputs / 2);
    if (first >= end) return;
    const block b = {.s = s, .first = first, .columns = end - first};
    for (size_t i = 0; i < m; i += s->block_rows) {
        run_block(
            &b, activation, smaller(s->block_rows, m - i), a + i * a_stride, a_stride, c + i * c_stride, c_stride,
            residual ? residual + i * residual_stride : NULL, residual_stride, scratch);
    }
}

void nt_strassen_conv_run(
    const nt_strassen_conv *conv, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts) {
    const size_t rows = conv->product.block_rows, per_image = ceil_div(conv->pixels, rows), total = conv->batch * per_image;
    const size_t columns = nt_strassen_column_parts(&conv->product, total, parts), shares = parts / columns;
    const size_t end = total * (part / columns + 1) / shares;
    for (size_t index = total * (part / columns) / shares; index < end; index++) {
        const size_t inside = index % per_image * rows, pixel = index / per_image * conv->pixels + inside;
        nt_strassen_run(
            &conv->product, &conv->activation, smaller(rows, conv->pixels - inside), x + pixel * conv->x_stride, conv->x_stride,
            y + pixel * conv->y_stride, conv->y_stride, residual ? residual + pixel * conv->residual_stride : NULL,
            conv->residual_stride, scratch, part % columns, columns);
    }
}
