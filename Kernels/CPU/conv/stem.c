#include "stem.h"

#include "../element/conversion.h"

#include <string.h>

enum { maximum_rows = NT_GEMM_MAX_ROWS, maximum_columns = NT_GEMM_MAX_COLUMNS };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Columns of a scratch row: what the last window reaches in whole slots, at least the padding and the input.
static size_t padded_width(const nt_window *w) {
    const size_t reached = (w->out_width - 1) * w->stride_x + (w->kernel_width + 1) / 2 * 2;
    return (reached + 15) / 16 * 16;
}

// Channels in a row of the scratch, and planes of such rows.
static size_t row_channels(const nt_stem *s) { return nt_stem_interleaves(s->kernel->element) ? s->channels : 1; }
static size_t plane_count(const nt_stem *s) { return s->channels / row_channels(s); }

// Slots of a scratch row.
static size_t row_slots(const nt_stem *s) { return nt_slots(s->kernel->element, padded_width(&s->window) * row_channels(s)); }

static size_t strip_input_rows(const nt_window *w, size_t rows) {
    return (rows - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1;
}

size_t nt_stem_strip_rows(const nt_stem *s, size_t cache_bytes) {
    const nt_window *w = &s->window;
    size_t rows = 1;
    while (rows < w->out_height
           && strip_input_rows(w, rows + 1) * row_slots(s) * plane_count(s) * sizeof(float) <= cache_bytes)
        rows++;
    return rows;
}

size_t nt_stem_scratch_count(const nt_stem *s) {
    // The strip, and on their way to slots of two a pixel row of each channel, twice.
    return strip_input_rows(&s->window, s->strip_rows) * row_slots(s) * plane_count(s) + 2 * s->channels * padded_width(&s->window);
}

void nt_stem_interleave(const nt_window *w, size_t channels, size_t outputs, const float *weights, float *interleaved) {
    const size_t taps = w->kernel_height * w->kernel_width;
    for (size_t i = 0; i < outputs * taps * channels; i++)
        interleaved[i] = weights[(i / channels / taps * channels + i % channels) * taps + i / channels % taps];
}

// Writes an input row with its padding.
static void copy_row(const nt_stem *s, const float *row, size_t channel, float *target) {
    const nt_window *w = &s->window;
    const size_t width = padded_width(w), used = smaller(w->in_width, width - w->pad_left);
    memset(target, 0, w->pad_left * sizeof(float));
    if (s->scale) {
        s->activation.elementwise->affine(
            used, row, s->scale + channel, s->offset + channel, 0, -__builtin_inff(), __builtin_inff(), target + w->pad_left);
    } else {
        memcpy(target + w->pad_left, row, used * sizeof(float));
    }
    memset(target + w->pad_left + used, 0, (width - w->pad_left - used) * sizeof(float));
}

// Writes the input row iy of all channels side by side; `rows` has room for two rows of each.
static void interleave_row(const nt_stem *s, const float *image, size_t iy, float *rows, float *target) {
    const nt_window *w = &s->window;
    const size_t width = padded_width(w), channels = s->channels;
    const int element = s->kernel->element;
    const float *planes[NT_STEM_MAX_TAPS];
    for (size_t c = 0; c < channels; c++) planes[c] = image + (c * w->in_height + iy) * w->in_width;
    if (channels == 3 && !s->scale && w->pad_left % 2 == 0) {
        // As it lies: pixels begin at a whole slot.
        const size_t first = nt_slots(element, 3 * w->pad_left), used = smaller(w->in_width, width - w->pad_left);
        const size_t last = first + nt_slots(element, 3 * used);
        memset(target, 0, first * sizeof(float));
        nt_planes_to_pairs(element, used, planes, target + first);
        memset(target + last, 0, (row_slots(s) - last) * sizeof(float));
        return;
    }
    for (size_t c = 0; c < channels; c++) {
        copy_row(s, planes[c], c, rows + c * width);
        planes[c] = rows + c * width;
    }
    if (channels == 1) {
        nt_row_to_pairs(element, width, rows, target);
    } else if (channels == 3) {
        nt_planes_to_pairs(element, width, planes, target);
    } else {
        float *pixels = rows + channels * width;
        for (size_t i = 0; i < width * channels; i++) pixels[i] = planes[i % channels][i / channels];
        nt_row_to_pairs(element, width * channels, pixels, target);
    }
}

// Writes the input rows that output rows oy..<oy + rows see into the scratch, [plane][row][column], padding as zeros.
static void copy_strip(const nt_stem *s, const float *image, float *scratch, size_t oy, size_t rows) {
    const nt_window *w = &s->window;
    const size_t slots = row_slots(s), count = strip_input_rows(w, rows);
    float *whole = scratch + strip_input_rows(w, s->strip_rows) * slots * plane_count(s);
    for (size_t p = 0; p < plane_count(s); p++) {
        for (size_t r = 0; r < count; r++, scratch += slots) {
            const size_t iy = oy * w->stride_y + r - w->pad_top;  // huge when above the input
            if (iy >= w->in_height) memset(scratch, 0, slots * sizeof(float));
            else if (nt_stem_interleaves(s->kernel->element)) interleave_row(s, image, iy, whole, scratch);
            else copy_row(s, image + (p * w->in_height + iy) * w->in_width, p, scratch);
        }
    }
}

// Planes of rows: the scratch, or the image itself.
typedef struct stem_planes {
    const float *rows;
    size_t width, height;  // slots of a row, rows of a plane
} stem_planes;

// Whether windows can be read where the image lies: no padding, and its numbers are the kernel's.
static int reads_image(const nt_stem *s) {
    const nt_window *w = &s->window;
    return s->kernel->element == NT_ELEMENT_FLOAT32 && !s->scale && w->pad_top == 0 && w->pad_left == 0
        && (w->out_width - 1) * w->stride_x + w->kernel_width <= w->in_width && strip_input_rows(w, w->out_height) <= w->in_height;
}

// Where each tap of the first window of an output row begins, which sees input rows from `top` on.
static void tap_pointers(const nt_stem *s, const stem_planes *x, size_t top, const float **taps) {
    const nt_window *w = &s->window;
    for (size_t c = 0; c < plane_count(s); c++) {
        for (size_t ky = 0; ky < w->kernel_height; ky++) *taps++ = x->rows + (c * x->height + top + ky * w->dilation_y) * x->width;
    }
}

// One output row: tiles of neighbouring pixels, whose windows step over the rows of the planes from `top` on.
static void run_row(const nt_stem *s, const stem_planes *x, size_t top, float *y) {
    const nt_window *w = &s->window;
    const nt_gemm_kernel *kernel = s->kernel;
    const size_t lanes = (size_t)kernel->lanes, nr = (size_t)kernel->vectors * lanes, mr = (size_t)kernel->rows;
    const size_t taps = plane_count(s) * w->kernel_height;
    const int element = kernel->element, through_floats = element != s->y_element && element == NT_ELEMENT_FLOAT32;
    const size_t depth = nt_slots(element, w->kernel_width * row_channels(s)), step = nt_slots(element, w->stride_x * row_channels(s));
    const int steps = step <= NT_GEMM_STEPS;
    const nt_gemm_tile_fn *tiles = steps ? kernel->step_tiles[step - 1] : kernel->tiles;
    const float *begin[NT_STEM_MAX_TAPS], *a[NT_STEM_MAX_TAPS * maximum_rows], *b[NT_STEM_MAX_TAPS];
    float values[maximum_rows * maximum_columns] __attribute__((aligned(64)));  // a tile on its way to slots of two
    nt_gemm_tile tile = {
        .a = a, .pitch = steps ? 1 : maximum_rows, .b = b, .taps = taps, .depth = depth,
        .c_stride = s->y_stride, .lo = s->activation.lo, .hi = s->activation.hi,
        .c_element = through_floats ? NT_ELEMENT_FLOAT32 : s->y_element};
    tap_pointers(s, x, top, begin);
    for (size_t j = 0; j < s->outputs; j += nr) {
        const size_t columns = smaller(nr, s->outputs - j), vectors = ceil_div(columns, lanes);
        const float *panel = s->packed + nt_gemm_panel_offset(kernel, j / nr, taps, depth);
        for (size_t t = 0; t < taps; t++) b[t] = panel + t * depth * vectors * lanes;
        tile.bias = s->bias + j;
        tile.scale = panel + taps * depth * vectors * lanes;
        tile.last_lanes = columns - (vectors - 1) * lanes;
        if (through_floats) tile.c_stride = columns;
        const int dense = columns == s->outputs && 2 * s->y_stride == columns;
        for (size_t first = 0; first < w->out_width; first += mr) {
            const size_t count = smaller(mr, w->out_width - first), pointers = steps ? 1 : count;
            for (size_t t = 0; t < taps; t++) {
                for (size_t i = 0; i < pointers; i++) a[t * tile.pitch + i] = begin[t] + (first + i) * step;
            }
            float *target = y + first * s->y_stride + nt_slots(s->y_element, j);
            tile.c = through_floats ? values : target;
            tiles[(count - 1) * (size_t)kernel->vectors + vectors - 1](&tile);
            nt_activation_apply(&s->activation, tile.c_element, count, columns, tile.c, tile.c_stride);
            if (!through_floats) continue;
            for (size_t i = 0; i < (dense ? 1 : count); i++)
                nt_row_to_pairs(s->y_element, dense ? count * columns : columns, values + i * columns, target + i * s->y_stride);
        }
    }
}

void nt_stem_rows(const nt_stem *s, const float *image, float *y, float *scratch, size_t oy, size_t count) {
    const size_t out_slots = s->window.out_width * s->y_stride;
    nt_gemm_begin(s->kernel);
    const int direct = reads_image(s);
    for (size_t done = 0; done < count; done += s->strip_rows) {
        const size_t rows = smaller(s->strip_rows, count - done);
        stem_planes x = {image, s->window.in_width, s->window.in_height};
        if (!direct) {
            copy_strip(s, image, scratch, oy + done, rows);
            x = (stem_planes){scratch, row_slots(s), strip_input_rows(&s->window, rows)};
        }
        for (size_t row = 0; row < rows; row++)
            run_row(s, &x, (direct ? oy + done + row : row) * s->window.stride_y, y + (done + row) * out_slots);
    }
    nt_gemm_end(s->kernel);
}

void nt_stem_run(const nt_stem *s, const float *x, float *y, float *scratch, size_t part, size_t parts) {
    const nt_window *w = &s->window;
    const size_t total = s->batch * w->out_height, end = total * (part + 1) / parts;
    size_t index = total * part / parts;
    while (index < end) {
        const size_t image = index / w->out_height, oy = index % w->out_height, rows = smaller(w->out_height - oy, end - index);
        nt_stem_rows(
            s, x + image * nt_stem_image_count(s), y + index * w->out_width * s->y_stride, scratch, oy, rows);
        index += rows;
    }
}
