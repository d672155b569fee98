// Runs the matrix products of every instruction set that the processor has against sums in double precision, and those of AMX and AVX512-FP16
// against the software models of these, bit by bit. For an emulated processor (Scripts/emulate); the same on real ones is Tests/CNTKernelsTests.
#include <CNTPlatform.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conv/conv.h"
#include "conv/stem.h"
#include "gemm/gemm.h"

static uint32_t isa;
static int failures, checks;

enum { told_failures = 8 };

static uint64_t state = 1;
static uint32_t next(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}
static float unit(void) { return (float)(int32_t)next() / 2147483648.0f; }

// MARK: Memory between margins of NaN

enum { margin = 64 };

typedef struct {
    float *start;
    size_t count;
} memory;

static memory allocate(size_t count) {
    float *all = aligned_alloc(64, (count + 2 * margin + 15) / 16 * 64);
    if (!all) {
        printf("out of memory\n");
        exit(2);
    }
    memset(all, 0xff, (count + 2 * margin) * sizeof(float));
    return (memory){all + margin, count};
}

static bool is_intact(memory m) {
    for (size_t i = 0; i < margin; i++) {
        uint32_t words[2];
        memcpy(&words[0], m.start - 1 - i, 4);
        memcpy(&words[1], m.start + m.count + i, 4);
        if (words[0] != ~0u || words[1] != ~0u) return false;
    }
    return true;
}

static void release(memory m) { free(m.start - margin); }

// Numbers as rows of an element: `value` numbers a row, `stride` slots from row to row, NaN between them.
static memory rows_of(int element, const float *values, size_t rows, size_t count, size_t stride) {
    const memory m = allocate(rows * stride);
    for (size_t i = 0; i < rows; i++) {
        float *row = m.start + i * stride;
        for (size_t j = 0; j < count; j++) {
            if (element == NT_ELEMENT_FLOAT32) row[j] = values[i * count + j];
            else ((uint16_t *)row)[j] = nt_half_bits(element, values[i * count + j]);
        }
        if (element != NT_ELEMENT_FLOAT32 && count % 2) ((uint16_t *)row)[count] = nt_half_bits(element, 3);
    }
    return m;
}

static float value_at(int element, const float *row, size_t index) {
    return element == NT_ELEMENT_FLOAT32 ? row[index] : nt_half_value(element, ((const uint16_t *)row)[index]);
}

// Unit numbers that the element holds exactly.
static float *numbers(int element, size_t count) {
    float *values = malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) values[i] = element == NT_ELEMENT_FLOAT32 ? unit() : nt_half_value(element, nt_half_bits(element, unit()));
    return values;
}

static void fail(const char *kernel, const char *what) {
    if (failures++ < told_failures) printf("%s: %s\n", kernel, what);
}

// Compares rows of results with sums, and with the sums of magnitudes for how far rounding may have moved them.
static void compare(
    const nt_gemm_kernel *kernel, const char *what, int element, memory y, size_t stride, size_t rows, size_t columns, size_t terms, const double *sums,
    const double *sizes) {
    checks++;
    const char *name = kernel->name;
    // Float16 sums up to 32 terms in float16, others in float32; the result is rounded once more.
    const double unit_of_sums = kernel->element == NT_ELEMENT_FLOAT16 ? 0x1p-6 : (double)(terms + 4) * 6e-8;
    const double unit_of_results = element == NT_ELEMENT_BFLOAT16 ? 0x1p-8 : element == NT_ELEMENT_FLOAT16 ? 0x1p-11 : 0;
    if (!is_intact(y)) return fail(name, what);
    for (size_t i = 0; i < rows; i++) {
        const float *row = y.start + i * stride;
        for (size_t j = 0; j < columns; j++) {
            const double exact = sums[i * columns + j], found = (double)value_at(element, row, j);
            const double bound = unit_of_sums * sizes[i * columns + j] + unit_of_results * fabs(exact);
            if (!(fabs(found - exact) <= bound)) {
                if (failures < told_failures) printf("[%zu, %zu] is %.9g, expected %.9g in\n", i, j, found, exact);
                return fail(name, what);
            }
        }
        for (size_t j = nt_slots(element, columns); j < stride; j++) {
            uint32_t word;
            memcpy(&word, row + j, 4);
            if (word != ~0u) return fail(name, what);
        }
    }
}

// The kernel that computes the same bits on a software model, if there is one.
static const nt_gemm_kernel *model_of(const nt_gemm_kernel *kernel) {
    const uint32_t bit = kernel->isa & NT_ISA_AMX_BF16 ? NT_ISA_AMX_MODEL : kernel->isa & NT_ISA_AVX512_FP16 ? NT_ISA_FLOAT16_MODEL : 0;
    for (size_t i = 0; i < nt_gemm_kernel_count(); i++)
        if (nt_gemm_kernel_at(i)->isa & bit) return nt_gemm_kernel_at(i);
    return NULL;
}

// MARK: Products

static void run_product(
    const nt_gemm_kernel *kernel, int y_element, size_t m, size_t n, size_t k, const memory a, size_t a_stride, const float *b,
    const float *bias, const memory residual, size_t r_stride, memory y, size_t y_stride) {
    const memory packed = allocate(nt_gemm_packed_count(kernel, n, 1, k)), wide = allocate(nt_gemm_bias_count(kernel, n));
    nt_gemm_pack(kernel, n, 1, k, b, k, 0, 1, packed.start);
    memset(wide.start, 0, wide.count * sizeof(float));
    memcpy(wide.start, bias, n * sizeof(float));
    nt_gemm_run_to(
        y_element, kernel, m, n, nt_slots(kernel->element, k), a.start, a_stride, packed.start, wide.start, y.start, y_stride,
        residual.start, r_stride, -INFINITY, INFINITY);
    release(packed);
    release(wide);
}

static void check_product(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k) {
    char what[64];
    snprintf(what, sizeof what, "%zux%zux%zu", m, n, k);
    const int element = kernel->element;
    float *a = numbers(element, m * k), *b = numbers(element, n * k), *bias = numbers(element, n), *residual = numbers(element, m * n);
    double *sums = malloc(m * n * sizeof(double)), *sizes = malloc(m * n * sizeof(double));
    for (size_t i = 0; i < m * n; i++) {
        sums[i] = (double)bias[i % n] + (double)residual[i];
        sizes[i] = fabs((double)bias[i % n]) + fabs((double)residual[i]);
        for (size_t p = 0; p < k; p++) {
            const double term = (double)a[i / n * k + p] * (double)b[i % n * k + p];
            sums[i] += term;
            sizes[i] += fabs(term);
        }
    }
    const size_t a_stride = nt_slots(element, k) + 3;
    const memory x = rows_of(element, a, m, k, a_stride);
    for (int pairs = 0; pairs <= (element != NT_ELEMENT_FLOAT32); pairs++) {
        const int y_element = pairs ? element : NT_ELEMENT_FLOAT32;
        const size_t r_stride = nt_slots(y_element, n) + 1, y_stride = nt_slots(y_element, n) + 2;
        const memory r = rows_of(y_element, residual, m, n, r_stride), y = allocate(m * y_stride);
        run_product(kernel, y_element, m, n, k, x, a_stride, b, bias, r, r_stride, y, y_stride);
        compare(kernel, what, y_element, y, y_stride, m, n, k, sums, sizes);
        if (model_of(kernel)) {
            const memory z = allocate(m * y_stride);
            run_product(model_of(kernel), y_element, m, n, k, x, a_stride, b, bias, r, r_stride, z, y_stride);
            if (memcmp(y.start, z.start, m * y_stride * sizeof(float))) fail(kernel->name, "differs from its model");
            release(z);
        }
        release(r);
        release(y);
    }
    release(x);
    free(a);
    free(b);
    free(bias);
    free(residual);
    free(sums);
    free(sizes);
}

// Numbers of every kind: subnormal, infinite, NaN, huge, tiny.
static void check_special_numbers(const nt_gemm_kernel *kernel) {
    enum { m = 33, n = 40, k = 70 };
    float a[m * k], b[n * k], bias[n];
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < m * k; i++) a[i] = nt_bfloat16_value((uint16_t)(round % 2 ? next() : (next() & 0x80ffu) | (next() & 0x3f00u)));
        for (int i = 0; i < n * k; i++) b[i] = nt_bfloat16_value((uint16_t)(round < 4 ? next() & 0x83ffu : next()));
        for (int i = 0; i < n; i++) bias[i] = unit() * (round % 2 ? 1e-38f : 0);
        const size_t stride = nt_slots(NT_ELEMENT_BFLOAT16, k);
        const memory x = rows_of(NT_ELEMENT_BFLOAT16, a, m, k, stride), y = allocate(m * n), z = allocate(m * n);
        run_product(kernel, NT_ELEMENT_FLOAT32, m, n, k, x, stride, b, bias, (memory){0}, 0, y, n);
        run_product(model_of(kernel), NT_ELEMENT_FLOAT32, m, n, k, x, stride, b, bias, (memory){0}, 0, z, n);
        checks++;
        for (int i = 0; i < m * n; i++) {
            // Bochs 3.0 takes differences from 2^-126 to 2^-125, the smallest normal numbers, for zero.
            const float found = y.start[i], expected = z.start[i];
            if (found == expected || (isnan(found) && isnan(expected)) || fabsf(found - expected) <= k * 0x1p-125f) continue;
            if (failures < told_failures) printf("%a, its model %a\n", (double)found, (double)expected);
            fail(kernel->name, "differs from its model in special numbers");
            break;
        }
        release(x);
        release(y);
        release(z);
    }
}

// MARK: Convolutions

static double weight_sum(
    const nt_window *w, const float *x, size_t channels, const float *weights, size_t pixel, double *size) {
    const size_t ox = pixel % w->out_width, oy = pixel / w->out_width % w->out_height, image = pixel / w->out_width / w->out_height;
    double sum = 0;
    for (size_t ky = 0; ky < w->kernel_height; ky++) {
        for (size_t kx = 0; kx < w->kernel_width; kx++) {
            const size_t iy = oy * w->stride_y + ky - w->pad_top, ix = ox * w->stride_x + kx - w->pad_left;
            if (iy >= w->in_height || ix >= w->in_width) continue;
            for (size_t c = 0; c < channels; c++) {
                const double term = (double)x[((image * w->in_height + iy) * w->in_width + ix) * channels + c]
                    * (double)weights[(ky * w->kernel_width + kx) * channels + c];
                sum += term;
                *size += fabs(term);
            }
        }
    }
    return sum;
}

static void run_convolution(
    const nt_gemm_kernel *kernel, const nt_window *w, size_t channels, size_t outputs, const float *weights, memory x, size_t x_stride,
    int y_element, memory y, size_t y_stride, size_t parts) {
    const size_t taps = w->kernel_height * w->kernel_width, slots = nt_slots(kernel->element, channels);
    const memory packed = allocate(nt_gemm_packed_count(kernel, outputs, taps, channels));
    const memory bias = allocate(nt_gemm_bias_count(kernel, outputs)), zeros = allocate(slots * w->kernel_width);
    memset(bias.start, 0, bias.count * sizeof(float));
    memset(zeros.start, 0, zeros.count * sizeof(float));
    nt_gemm_pack(kernel, outputs, taps, channels, weights, taps * channels, channels, 1, packed.start);
    const nt_conv conv = {
        .window = *w, .batch = 2, .groups = 1, .channels = slots, .outputs = outputs, .x_stride = x_stride, .y_stride = y_stride,
        .y_element = y_element, .kernel = kernel, .packed = packed.start, .bias = bias.start, .zeros = zeros.start,
        .activation = {-INFINITY, INFINITY, -1, 0, 0, NULL}, .block_rows = 64};
    for (size_t part = 0; part < parts; part++) nt_conv_run(&conv, x.start, y.start, NULL, part, parts);
    release(packed);
    release(bias);
    release(zeros);
}

static void check_convolution(const nt_gemm_kernel *kernel, const nt_window *w, size_t channels, size_t outputs, size_t slack) {
    char what[96];
    snprintf(
        what, sizeof what, "%zux%zu window %zux%zu stride %zu, %zu channels, %zu outputs", w->in_height, w->in_width, w->kernel_height,
        w->kernel_width, w->stride_x, channels, outputs);
    const int element = kernel->element;
    const size_t taps = w->kernel_height * w->kernel_width, inputs = 2 * w->in_height * w->in_width;
    const size_t pixels = 2 * w->out_height * w->out_width, x_stride = nt_slots(element, channels) + slack;
    float *values = numbers(element, inputs * channels), *weights = numbers(element, outputs * taps * channels);
    double *sums = malloc(pixels * outputs * sizeof(double)), *sizes = calloc(pixels * outputs, sizeof(double));
    for (size_t i = 0; i < pixels * outputs; i++)
        sums[i] = weight_sum(w, values, channels, weights + i % outputs * taps * channels, i / outputs, &sizes[i]);
    const memory x = rows_of(element, values, inputs, channels, x_stride);
    for (int pairs = 0; pairs <= (element != NT_ELEMENT_FLOAT32 && taps <= 64); pairs++) {
        const int y_element = pairs ? element : NT_ELEMENT_FLOAT32;
        const size_t y_stride = nt_slots(y_element, outputs) + 1, bytes = pixels * y_stride * sizeof(float);
        const memory y = allocate(pixels * y_stride), z = allocate(pixels * y_stride);
        run_convolution(kernel, w, channels, outputs, weights, x, x_stride, y_element, y, y_stride, 1);
        compare(kernel, what, y_element, y, y_stride, pixels, outputs, taps * channels, sums, sizes);
        run_convolution(kernel, w, channels, outputs, weights, x, x_stride, y_element, z, y_stride, 3);
        if (memcmp(y.start, z.start, bytes)) fail(kernel->name, "differs in three parts");
        if (model_of(kernel)) {
            run_convolution(model_of(kernel), w, channels, outputs, weights, x, x_stride, y_element, z, y_stride, 1);
            if (memcmp(y.start, z.start, bytes)) fail(kernel->name, "differs from its model");
        }
        release(y);
        release(z);
    }
    release(x);
    free(values);
    free(weights);
    free(sums);
    free(sizes);
}

// MARK: First convolutions, whose rows of A are windows that slide over a plane

static void run_stem(
    const nt_gemm_kernel *kernel, const nt_window *w, size_t channels, size_t outputs, const float *weights, memory x, memory y) {
    const int interleaves = nt_stem_interleaves(kernel->element);
    const size_t rows = w->kernel_height * (interleaves ? 1 : channels), width = w->kernel_width * (interleaves ? channels : 1);
    const memory packed = allocate(nt_gemm_packed_count(kernel, outputs, rows, width));
    const memory bias = allocate(nt_gemm_bias_count(kernel, outputs));
    memset(bias.start, 0, bias.count * sizeof(float));
    nt_gemm_pack(kernel, outputs, rows, width, weights, rows * width, width, 1, packed.start);
    const nt_stem stem = {
        .window = *w, .batch = 2, .channels = channels, .outputs = outputs, .y_stride = outputs, .y_element = NT_ELEMENT_FLOAT32,
        .kernel = kernel, .packed = packed.start, .bias = bias.start, .activation = {-INFINITY, INFINITY, -1, 0, 0, NULL}, .strip_rows = 2};
    const memory scratch = allocate(nt_stem_scratch_count(&stem));
    nt_stem_run(&stem, x.start, y.start, scratch.start, 0, 1);
    if (!is_intact(scratch)) fail(kernel->name, "stem writes outside its scratch");
    release(packed);
    release(bias);
    release(scratch);
}

static void check_stem(const nt_gemm_kernel *kernel, const nt_window *w, size_t channels, size_t outputs) {
    const size_t plane = w->in_height * w->in_width, pixels = 2 * w->out_height * w->out_width;
    const size_t taps = w->kernel_height * w->kernel_width;
    float *values = numbers(kernel->element, 2 * plane * channels), *weights = numbers(kernel->element, outputs * taps * channels);
    float *pixel_order = malloc(2 * plane * channels * sizeof(float)), *tap_order = malloc(outputs * taps * channels * sizeof(float));
    for (size_t i = 0; i < 2 * plane * channels; i++)
        pixel_order[i] = values[(i / channels / plane * channels + i % channels) * plane + i / channels % plane];
    for (size_t i = 0; i < outputs * taps * channels; i++)
        tap_order[i] = weights[(i / channels / taps * channels + i % channels) * taps + i / channels % taps];
    double *sums = malloc(pixels * outputs * sizeof(double)), *sizes = calloc(pixels * outputs, sizeof(double));
    for (size_t i = 0; i < pixels * outputs; i++)
        sums[i] = weight_sum(w, pixel_order, channels, tap_order + i % outputs * taps * channels, i / outputs, &sizes[i]);
    const memory x = rows_of(NT_ELEMENT_FLOAT32, values, 1, 2 * plane * channels, 2 * plane * channels);
    const memory y = allocate(pixels * outputs), z = allocate(pixels * outputs);
    const float *ordered = nt_stem_interleaves(kernel->element) ? tap_order : weights;
    run_stem(kernel, w, channels, outputs, ordered, x, y);
    compare(kernel, "stem", NT_ELEMENT_FLOAT32, y, outputs, pixels, outputs, taps * channels, sums, sizes);
    if (model_of(kernel)) {
        run_stem(model_of(kernel), w, channels, outputs, ordered, x, z);
        if (memcmp(y.start, z.start, pixels * outputs * sizeof(float))) fail(kernel->name, "stem differs from its model");
    }
    release(x);
    release(y);
    release(z);
    free(values);
    free(weights);
    free(pixel_order);
    free(tap_order);
    free(sums);
    free(sizes);
}

static nt_window window(size_t height, size_t width, size_t kernel_height, size_t kernel_width, size_t stride, size_t pad) {
    return (nt_window){
        height, width, (height + 2 * pad - kernel_height) / stride + 1, (width + 2 * pad - kernel_width) / stride + 1, kernel_height,
        kernel_width, stride, stride, 1, 1, pad, pad};
}

static void check(const nt_gemm_kernel *kernel) {
    const int before = checks;
    const size_t rows = (size_t)kernel->rows, columns = (size_t)(kernel->vectors * kernel->lanes), lanes = (size_t)kernel->lanes;
    const size_t heights[] = {1, rows / 2 - 1, rows / 2, rows / 2 + 1, rows - 1, rows, rows + 1, 2 * rows + 3};
    const size_t widths[] = {1, 2, lanes - 1, lanes, lanes + 1, columns - 1, columns, columns + 1, 2 * columns + 3};
    const size_t depths[] = {1, 7, 31, 32, 33, 71};
    for (size_t i = 0; i < sizeof heights / sizeof heights[0]; i++)
        for (size_t j = 0; j < sizeof widths / sizeof widths[0]; j++)
            for (size_t k = 0; k < sizeof depths / sizeof depths[0]; k++)
                if (heights[i]) check_product(kernel, heights[i], widths[j], depths[k]);
    if (kernel->isa & NT_ISA_AMX_BF16) check_special_numbers(kernel);
    const struct {
        nt_window window;
        size_t channels, outputs;
    } layers[] = {
        {window(7, 7, 1, 1, 1, 0), 64, 40}, {window(9, 9, 1, 1, 2, 0), 33, 33}, {window(8, 9, 3, 3, 1, 1), 5, 17},
        {window(7, 40, 3, 3, 1, 1), 32, 18}, {window(9, 40, 3, 3, 1, 1), 64, 35}, {window(11, 9, 3, 2, 2, 1), 40, 20},
        {window(9, 10, 8, 9, 1, 4), 34, 6}, {window(1, 1, 1, 1, 1, 0), 100, 70}};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        for (size_t slack = 0; slack < 4; slack += 3)
            check_convolution(kernel, &layers[i].window, layers[i].channels, layers[i].outputs, slack);
    // Pairs of columns begin at whole slots where windows are an even number of columns apart.
    const size_t least = kernel->element == NT_ELEMENT_FLOAT32 ? 1 : 2;
    for (size_t stride = least; stride <= 2 * least; stride += least) {
        const nt_window small = window(11, 40, 3, 3, stride, 1), large = window(13, 150, 7, 40, stride, 3);
        check_stem(kernel, &small, 3, 35);
        check_stem(kernel, &large, 1, 9);
    }
    printf("%s: %d results compared\n", kernel->name, checks - before);
    fflush(stdout);
}

int main(void) {
    isa = nt_isa_bits();
    printf("%s, %s\n", nt_cpu_brand(), nt_isa_name(isa));
    if (isa & NT_ISA_AVX512_BF16) isa |= NT_ISA_AMX_MODEL;
    if (isa & NT_ISA_AVX512) isa |= NT_ISA_FLOAT16_MODEL;
    bool found = false;
    for (size_t i = 0; i < nt_gemm_kernel_count(); i++) {
        const nt_gemm_kernel *kernel = nt_gemm_kernel_at(i);
        if ((kernel->isa & isa) != kernel->isa) continue;
        found |= (kernel->isa & NT_ISA_AMX_BF16) != 0;
        check(kernel);
    }
    printf("%d of %d wrong%s\n", failures, checks, found ? "" : "; this processor has no AMX");
    return failures ? 1 : 0;
}
