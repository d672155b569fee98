#include "conv.h"

#include "../element/conversion.h"

#include <stdbool.h>

// Taps of one tile are handed to the micro-kernel in batches of this many, so that the pointer table has a fixed size.
enum { maximum_taps = 64, maximum_rows = NT_GEMM_MAX_ROWS };

typedef struct tile_rows {
    const float *a[maximum_taps * maximum_rows];
    const float *b[maximum_taps];
    size_t taps;
} tile_rows;

static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t pixel_count(const nt_conv *c) { return c->batch * c->window.out_height * c->window.out_width; }

// Whether each output pixel sees one pixel, which lies inside the input: (oy * stride_y, ox * stride_x).
static bool is_strided(const nt_conv *c) {
    const nt_window *w = &c->window;
    return w->kernel_height == 1 && w->kernel_width == 1 && w->pad_top == 0 && w->pad_left == 0
        && (w->out_height - 1) * w->stride_y < w->in_height && (w->out_width - 1) * w->stride_x < w->in_width;
}

// Whether output pixels see the input's, one after the other.
static bool is_pointwise(const nt_conv *c) {
    const nt_window *w = &c->window;
    return is_strided(c) && w->stride_y == 1 && w->stride_x == 1 && w->out_height == w->in_height && w->out_width == w->in_width;
}

size_t nt_conv_block_rows(const nt_conv *c, size_t cache_bytes) {
    const size_t mr = (size_t)c->kernel->rows;
    const size_t pixels = pixel_count(c);
    // Inputs that a row of the block adds: its share of the input image.
    const size_t input = c->window.in_height * c->window.in_width * c->x_stride * sizeof(float)
        / (c->window.out_height * c->window.out_width) + c->outputs * sizeof(float);
    size_t rows = cache_bytes / 2 / (input ? input : 1);
    rows = rows / mr * mr;
    if (rows < 4 * mr) rows = 4 * mr;
    return smaller(rows, ceil_div(pixels, mr) * mr);
}

size_t nt_conv_parts(const nt_conv *c, size_t threads, double minimum_cycles) {
    const size_t taps = c->window.kernel_height * c->window.kernel_width;
    const double cycles = (double)c->groups * nt_gemm_cost_taps(c->kernel, pixel_count(c), c->outputs, taps, c->channels);
    const double worth = cycles / minimum_cycles;
    if (worth < 2) return 1;
    return worth < (double)threads ? (size_t)worth : threads;
}

// The position of each of a tile's pixels.
typedef struct tile_pixels {
    size_t count;
    size_t image[maximum_rows];
    ptrdiff_t top[maximum_rows], left[maximum_rows];
} tile_pixels;

static void locate(const nt_conv *c, size_t first, size_t count, tile_pixels *p) {
    const nt_window *w = &c->window;
    size_t ox = first % w->out_width, oy = first / w->out_width % w->out_height;
    size_t image = first / w->out_width / w->out_height;
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        p->image[i] = image;
        p->top[i] = (ptrdiff_t)(oy * w->stride_y) - (ptrdiff_t)w->pad_top;
        p->left[i] = (ptrdiff_t)(ox * w->stride_x) - (ptrdiff_t)w->pad_left;
        if (++ox == w->out_width) {
            ox = 0;
            if (++oy == w->out_height) {
                oy = 0;
                image++;
            }
        }
    }
}

// Pointers of tap (ky, kx) for all pixels of a tile; false when padding supplies every one.
static bool tap_pointers(const nt_conv *c, const float *x, const tile_pixels *p, size_t ky, size_t kx, const float **a) {
    const nt_window *w = &c->window;
    const ptrdiff_t dy = (ptrdiff_t)(ky * w->dilation_y), dx = (ptrdiff_t)(kx * w->dilation_x);
    const size_t height = w->in_height, width = w->in_width;
    bool any = false;
    for (size_t i = 0; i < p->count; i++) {
        // Negative positions become huge, so one comparison tests both ends.
        const size_t y = (size_t)(p->top[i] + dy), column = (size_t)(p->left[i] + dx);
        const bool inside = y < height && column < width;
        a[i] = inside ? x + ((p->image[i] * height + y) * width + column) * c->x_stride : c->zeros;
        any |= inside;
    }
    return any;
}

// The pointers of a convolution that `is_strided`.
static void strided_pointers(const nt_conv *c, const float *x, size_t first, size_t count, const float **a) {
    const nt_window *w = &c->window;
    size_t ox = first % w->out_width, oy = first / w->out_width % w->out_height, image = first / w->out_width / w->out_height;
    for (size_t i = 0; i < count; oy++, ox = 0) {
        if (oy == w->out_height) oy = 0, image++;
        const float *line = x + (image * w->in_height + oy * w->stride_y) * w->in_width * c->x_stride;
        for (; i < count && ox < w->out_width; ox++) a[i++] = line + ox * w->stride_x * c->x_stride;
    }
}

// The pointers of a pointwise convolution: pixel after pixel.
static void pointwise_pointers(const nt_conv *c, const float *x, size_t first, size_t count, const float **a) {
    const float *p = x + first * c->x_stride;
    for (size_t i = 0; i < count; i++) a[i] = p + i * c->x_stride;
}

// A row of an element of two in a slot goes through float32, a piece at a time.
static void apply_to_pairs(const nt_activation *a, int element, size_t columns, float *y) {
    enum { piece = 256 };
    float values[piece];
    for (size_t i = 0; i < columns; i += piece) {
        const size_t count = smaller(columns - i, piece);
        nt_row_from_pairs(element, count, y + i / 2, values);
        a->elementwise->unary(a->function, count, values, a->alpha, a->beta, values);
        nt_row_to_pairs(element, count, values, y + i / 2);
    }
}

void nt_activation_apply(const nt_activation *a, int element, size_t rows, size_t columns, float *y, size_t stride) {
    if (a->function < 0) return;
    if (columns == stride && element == NT_ELEMENT_FLOAT32) {
        columns *= rows;
        rows = 1;
    }
    for (size_t i = 0; i < rows; i++) {
        float *row = y + i * stride;
        if (element == NT_ELEMENT_FLOAT32) a->elementwise->unary(a->function, columns, row, a->alpha, a->beta, row);
        else apply_to_pairs(a, element, columns, row);
    }
}

// Whether all of a tile's windows lie inside the input's columns.
static bool is_inside_columns(const nt_conv *c, const tile_pixels *p) {
    const ptrdiff_t last = (ptrdiff_t)c->window.in_width - (ptrdiff_t)c->window.kernel_width;
    bool inside = true;
    for (size_t i = 0; i < p->count; i++) inside &= p->left[i] >= 0 && p->left[i] <= last;
    return inside;
}

// A tile of a windowed convolution. Where pixels are dense and no column is padding, the taps of a window row are one run of
// memory and become one tap of greater depth: the same sums in the same order. Windows of more taps than the pointer table
// holds go in batches: sums pass through y between them, added to as a residual.
static void run_window(
    const nt_conv *c, nt_gemm_tile *tile, nt_gemm_tile_fn run, const float *x, const float *panel, size_t width,
    const tile_pixels *pixels, tile_rows *rows, const float *zero_bias) {
    const nt_window *w = &c->window;
    const bool merges = c->x_stride == c->channels && c->channels % nt_gemm_chunk(c->kernel) == 0 && w->dilation_x == 1
        && is_inside_columns(c, pixels);
    const size_t run_taps = merges ? w->kernel_width : 1;
    const size_t taps = w->kernel_height * w->kernel_width;
    const float *residual = tile->residual;
    const size_t residual_stride = tile->residual_stride;
    const float lo = tile->lo, hi = tile->hi;
    tile->depth = c->channels * run_taps;
    size_t tap = 0;
    bool first = true;
    do {
        rows->taps = 0;
        for (; tap < taps && rows->taps < maximum_taps; tap += run_taps) {
            // float16 sums up a fixed number of terms at a time, so that leaving some out would change the bits of the others.
            if (!tap_pointers(c, x, pixels, tap / w->kernel_width, tap % w->kernel_width, rows->a + rows->taps * maximum_rows)
                && c->kernel->element != NT_ELEMENT_FLOAT16)
                continue;
            rows->b[rows->taps++] = panel + tap * c->channels * width;
        }
        const bool last = tap >= taps;
        tile->taps = rows->taps;
        if (!first) {
            tile->bias = zero_bias;
            tile->residual = tile->c;
            tile->residual_stride = tile->c_stride;
        }
        tile->lo = last ? lo : -__builtin_inff();
        tile->hi = last ? hi : __builtin_inff();
        run(tile);
        first = false;
    } while (tap < taps);
    tile->residual = residual;
    tile->residual_stride = residual_stride;
}

// Tiles first..<last of one panel of one group.
static void run_tiles(
    const nt_conv *c, const float *x, float *y, const float *residual, size_t group, size_t panel, size_t first, size_t last) {
    static const float zero_bias[NT_GEMM_MAX_COLUMNS] __attribute__((aligned(64))) = {0};
    const nt_gemm_kernel *kernel = c->kernel;
    const size_t lanes = (size_t)kernel->lanes, nr = (size_t)kernel->vectors * lanes, mr = (size_t)kernel->rows;
    const size_t pixels = pixel_count(c), taps = c->window.kernel_height * c->window.kernel_width;
    const size_t columns = smaller(nr, c->outputs - panel * nr), vectors = ceil_div(columns, lanes);
    const float *packed = c->packed + group * c->packed_stride + nt_gemm_panel_offset(kernel, panel, taps, c->channels);
    const bool strided = is_strided(c), pointwise = is_pointwise(c);
    tile_rows rows;
    tile_pixels place;
    nt_gemm_tile tile = {
        .a = rows.a, .pitch = maximum_rows, .b = rows.b, .depth = c->channels, .c_stride = c->y_stride,
        .residual_stride = c->residual_stride, .last_lanes = columns - (vectors - 1) * lanes,
        .lo = c->activation.lo, .hi = c->activation.hi, .c_element = c->y_element};
    x += group * c->channels;
    y += nt_slots(c->y_element, group * c->outputs + panel * nr);
    if (residual) residual += nt_slots(c->y_element, group * c->outputs + panel * nr);
    tile.scale = packed + taps * c->channels * vectors * lanes;
    for (size_t t = first; t < last; t++) {
        const size_t pixel = t * mr, count = smaller(mr, pixels - pixel);
        const nt_gemm_tile_fn run = kernel->tiles[(count - 1) * (size_t)kernel->vectors + vectors - 1];
        tile.bias = c->bias + group * c->bias_stride + panel * nr;
        tile.c = y + pixel * c->y_stride;
        tile.residual = residual ? residual + pixel * c->residual_stride : NULL;
        if (strided) {
            (pointwise ? pointwise_pointers : strided_pointers)(c, x, pixel, count, rows.a);
            rows.b[0] = packed;
            tile.taps = 1;
            run(&tile);
        } else {
            locate(c, pixel, count, &place);
            run_window(c, &tile, run, x, packed, vectors * lanes, &place, &rows, zero_bias);
        }
        nt_activation_apply(&c->activation, c->y_element, count, columns, tile.c, c->y_stride);
    }
}

static void run_part(const nt_conv *c, const float *x, float *y, const float *residual, size_t part, size_t parts) {
    const size_t nr = (size_t)(c->kernel->vectors * c->kernel->lanes), mr = (size_t)c->kernel->rows;
    const size_t tiles = ceil_div(pixel_count(c), mr), panels = ceil_div(c->outputs, nr);
    const size_t depth = c->window.kernel_height * c->window.kernel_width * c->channels;
    const size_t weights = c->groups * c->outputs * depth;
    const size_t inputs = c->batch * c->window.in_height * c->window.in_width * c->channels * c->groups;
    if (weights > inputs || (tiles % parts != 0 && tiles < 16 * parts)) {
        // Shares are runs of the list (group, panel, tile): each reads few of the weights.
        const size_t total = c->groups * panels * tiles;
        size_t at = total * part / parts;
        const size_t end = total * (part + 1) / parts;
        while (at < end) {
            const size_t tile = at % tiles, panel = at / tiles % panels, group = at / tiles / panels;
            const size_t count = smaller(tiles - tile, end - at);
            run_tiles(c, x, y, residual, group, panel, tile, tile + count);
            at += count;
        }
        return;
    }
    const size_t begin = tiles * part / parts, end = tiles * (part + 1) / parts;
    const size_t block = c->block_rows < mr ? 1 : c->block_rows / mr;
    for (size_t tile = begin; tile < end; tile += block) {
        const size_t last = smaller(tile + block, end);
        for (size_t group = 0; group < c->groups; group++) {
            for (size_t panel = 0; panel < panels; panel++) run_tiles(c, x, y, residual, group, panel, tile, last);
        }
    }
}

void nt_conv_run(const nt_conv *c, const float *x, float *y, const float *residual, size_t part, size_t parts) {
    nt_gemm_begin(c->kernel);
    run_part(c, x, y, residual, part, parts);
    nt_gemm_end(c->kernel);
}
