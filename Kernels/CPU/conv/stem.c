#include "stem.h"

#include "../bfloat16/bfloat16.h"

#include <string.h>

enum { maximum_rows = 16, maximum_columns = 64 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Columns of a scratch row: what the last window reaches, at least the padding and the input.
static size_t padded_width(const nt_window *w) {
    const size_t reached = (w->out_width - 1) * w->stride_x + w->kernel_width;
    return (reached + 15) / 16 * 16;
}

static size_t strip_input_rows(const nt_window *w, size_t rows) {
    return (rows - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1;
}

size_t nt_stem_strip_rows(const nt_stem *s, size_t cache_bytes) {
    const nt_window *w = &s->window;
    size_t rows = 1;
    while (rows < w->out_height
           && strip_input_rows(w, rows + 1) * padded_width(w) * s->channels * sizeof(float) <= cache_bytes)
        rows++;
    return rows;
}

size_t nt_stem_scratch_count(const nt_stem *s) {
    return strip_input_rows(&s->window, s->strip_rows) * padded_width(&s->window) * s->channels;
}

// Writes the input rows that output rows oy..<oy + rows see into the scratch, [channel][row][column], padding as zeros.
static void copy_strip(const nt_stem *s, const float *image, float *scratch, size_t oy, size_t rows) {
    const nt_window *w = &s->window;
    const size_t width = padded_width(w), count = strip_input_rows(w, rows);
    const size_t used = smaller(w->in_width, width - w->pad_left);
    for (size_t c = 0; c < s->channels; c++) {
        for (size_t r = 0; r < count; r++, scratch += width) {
            const size_t iy = oy * w->stride_y + r - w->pad_top;  // huge when above the input
            if (iy >= w->in_height) {
                memset(scratch, 0, width * sizeof(float));
                continue;
            }
            const float *row = image + (c * w->in_height + iy) * w->in_width;
            memset(scratch, 0, w->pad_left * sizeof(float));
            if (s->scale) {
                s->activation.elementwise->affine(
                    used, row, s->scale + c, s->offset + c, 0, -__builtin_inff(), __builtin_inff(), scratch + w->pad_left);
            } else {
                memcpy(scratch + w->pad_left, row, used * sizeof(float));
            }
            memset(scratch + w->pad_left + used, 0, (width - w->pad_left - used) * sizeof(float));
        }
    }
}

// One output row: tiles of neighbouring pixels, whose windows step over the scratch rows.
static void run_row(const nt_stem *s, const float *scratch, size_t strip_rows, size_t row, float *y) {
    const nt_window *w = &s->window;
    const nt_gemm_kernel *kernel = s->kernel;
    const size_t lanes = (size_t)kernel->lanes, nr = (size_t)kernel->vectors * lanes, mr = (size_t)kernel->rows;
    const size_t taps = s->channels * w->kernel_height;
    const size_t width = padded_width(w), plane = strip_input_rows(w, strip_rows) * width;
    const nt_gemm_tile_fn *tiles = w->stride_x <= 2 ? kernel->step_tiles[w->stride_x - 1] : kernel->tiles;
    const float *a[NT_STEM_MAX_TAPS * maximum_rows], *b[NT_STEM_MAX_TAPS];
    float values[maximum_rows * maximum_columns] __attribute__((aligned(64)));  // a tile on its way to bfloat16
    nt_gemm_tile tile = {
        .a = a, .pitch = w->stride_x <= 2 ? 1 : maximum_rows, .b = b, .taps = taps, .depth = w->kernel_width,
        .c_stride = s->y_element == NT_ELEMENT_BFLOAT16 ? maximum_columns : s->y_stride, .lo = s->activation.lo,
        .hi = s->activation.hi};
    for (size_t first = 0; first < w->out_width; first += mr) {
        const size_t count = smaller(mr, w->out_width - first), pointers = w->stride_x <= 2 ? 1 : count;
        for (size_t t = 0; t < taps; t++) {
            const float *p = scratch + t / w->kernel_height * plane
                + (row * w->stride_y + t % w->kernel_height * w->dilation_y) * width + first * w->stride_x;
            for (size_t i = 0; i < pointers; i++) a[t * tile.pitch + i] = p + i * w->stride_x;
        }
        for (size_t j = 0; j < s->outputs; j += nr) {
            const size_t columns = smaller(nr, s->outputs - j), vectors = ceil_div(columns, lanes);
            const float *panel = s->packed + j * taps * w->kernel_width;
            for (size_t t = 0; t < taps; t++) b[t] = panel + t * w->kernel_width * vectors * lanes;
            tile.bias = s->bias + j;
            tile.last_lanes = columns - (vectors - 1) * lanes;
            float *target = y + first * s->y_stride + nt_slots(s->y_element, j);
            tile.c = s->y_element == NT_ELEMENT_BFLOAT16 ? values : target;
            tiles[(count - 1) * (size_t)kernel->vectors + vectors - 1](&tile);
            nt_activation_apply(&s->activation, NT_ELEMENT_FLOAT32, count, columns, tile.c, tile.c_stride);
            if (s->y_element == NT_ELEMENT_FLOAT32) continue;
            for (size_t i = 0; i < count; i++) nt_row_to_bfloat16(columns, values + i * maximum_columns, target + i * s->y_stride);
        }
    }
}

void nt_stem_run(const nt_stem *s, const float *x, float *y, float *scratch, size_t part, size_t parts) {
    const nt_window *w = &s->window;
    const size_t total = s->batch * w->out_height, end = total * (part + 1) / parts;
    size_t index = total * part / parts;
    while (index < end) {
        const size_t image = index / w->out_height, oy = index % w->out_height;
        const size_t rows = smaller(smaller(s->strip_rows, w->out_height - oy), end - index);
        copy_strip(s, x + image * s->channels * w->in_height * w->in_width, scratch, oy, rows);
        for (size_t row = 0; row < rows; row++)
            run_row(s, scratch, rows, row, y + (index + row) * w->out_width * s->y_stride);
        index += rows;
    }
}
