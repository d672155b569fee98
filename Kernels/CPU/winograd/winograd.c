#include "winograd.h"

#include <CNTPlatform.h>
#include <stdbool.h>
#include <string.h>

#define NT_WINOGRAD_KERNEL(suffix, name, isa, element, lanes) \
    void nt_winograd_input_##suffix(const float *const *, size_t, float *, size_t); \
    void nt_winograd_output_##suffix(const nt_winograd_output *);
#include "winograd.inc"
#undef NT_WINOGRAD_KERNEL

static const nt_winograd_kernel kernels[] = {
#define NT_WINOGRAD_KERNEL(suffix, name, isa, element, lanes) \
    {name, isa, element, lanes, nt_winograd_input_##suffix, nt_winograd_output_##suffix},
#include "winograd.inc"
#undef NT_WINOGRAD_KERNEL
};

enum { products = NT_WINOGRAD_PRODUCTS, side = NT_WINOGRAD_TILE, patch = NT_WINOGRAD_PATCH };

size_t nt_winograd_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_winograd_kernel *nt_winograd_kernel_at(size_t index) {
    return index < nt_winograd_kernel_count() ? &kernels[index] : NULL;
}

const nt_winograd_kernel *nt_winograd_choose(int element, size_t channels, uint32_t isa) {
    const nt_winograd_kernel *best = NULL;
    for (size_t i = 0; i < nt_winograd_kernel_count(); i++) {
        const nt_winograd_kernel *kernel = &kernels[i];
        if (kernel->element != element || (kernel->isa & isa) != kernel->isa) continue;
        const bool holds = (size_t)kernel->lanes >= channels;
        const bool best_holds = best && (size_t)best->lanes >= channels;
        if (!best || (kernel->lanes > best->lanes ? !best_holds : holds)) best = kernel;
    }
    return best;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

static size_t panel_width(const nt_gemm_kernel *gemm) { return (size_t)(gemm->vectors * gemm->lanes); }
static size_t tile_rows(const nt_winograd *w) { return ceil_div(w->window.out_height, side); }
static size_t tile_columns(const nt_winograd *w) { return ceil_div(w->window.out_width, side); }
static size_t tile_count(const nt_winograd *w) { return w->batch * tile_rows(w) * tile_columns(w); }

// Floats from tile to tile in V: whole groups of 16, no multiple of 2 KiB.
static size_t v_stride(const nt_winograd *w) {
    const size_t stride = (w->channels + 15) / 16 * 16;
    return stride % 512 == 0 ? stride + 16 : stride;
}

// Floats from product to product; a cache line more than the tiles take, so that a tile's 36 stores do not meet in a few sets.
static size_t v_plane(const nt_winograd *w) { return w->block_tiles * v_stride(w) + 16; }
static size_t m_plane(const nt_winograd *w) { return w->block_tiles * panel_width(w->gemm) + 16; }

// MARK: Weights

size_t nt_winograd_packed_count(const nt_gemm_kernel *gemm, size_t channels, size_t outputs) {
    return products * nt_gemm_packed_count(gemm, outputs, 1, channels);
}

// G g for three numbers `step` apart.
static void transform_three(const double *g, size_t step, double t[patch]) {
    const double a = g[0], b = g[step], c = g[2 * step];
    const double sixth = 1.0 / 6, even = a * (1.0 / 24) + c * sixth, odd = b * (1.0 / 12);
    t[0] = a * 0.25;
    t[1] = -(a + b + c) * sixth;
    t[2] = (b - a - c) * sixth;
    t[3] = even + odd;
    t[4] = even - odd;
    t[5] = c;
}

// Element xi of G g G^T.
static void transform_weights(const float *weights, double u[products]) {
    double g[9], half[3][patch];
    for (int i = 0; i < 9; i++) g[i] = (double)weights[i];
    for (int column = 0; column < 3; column++) transform_three(g + column, 3, half[column]);
    for (int i = 0; i < patch; i++) {
        const double row[3] = {half[0][i], half[1][i], half[2][i]};
        transform_three(row, 1, u + i * patch);
    }
}

// Packed: [panel][xi][channels x width]. The scratch holds one panel, [xi][column][channel].
void nt_winograd_pack(
    const nt_gemm_kernel *gemm, size_t channels, size_t outputs, const float *weights, float *scratch, float *packed) {
    const size_t nr = panel_width(gemm);
    for (size_t first = 0; first < outputs; first += nr) {
        const size_t columns = smaller(nr, outputs - first), count = columns * channels;
        const size_t block = nt_gemm_packed_count(gemm, columns, 1, channels);
        for (size_t i = 0; i < count; i++) {
            double u[products];
            transform_weights(weights + (first * channels + i) * 9, u);
            for (size_t xi = 0; xi < products; xi++) scratch[xi * count + i] = (float)u[xi];
        }
        for (size_t xi = 0; xi < products; xi++)
            nt_gemm_pack(gemm, columns, 1, channels, scratch + xi * count, channels, 0, 1, packed + xi * block);
        packed += products * block;
    }
}

// MARK: Sizes

size_t nt_winograd_block_tiles(const nt_winograd *w, size_t cache_bytes) {
    const size_t mr = (size_t)w->gemm->rows;
    const size_t bytes = products * (v_stride(w) + panel_width(w->gemm)) * sizeof(float);
    size_t tiles = cache_bytes / bytes / mr * mr;
    if (tiles < mr) tiles = mr;
    return smaller(tiles, tile_count(w));
}

size_t nt_winograd_scratch_count(const nt_winograd *w) { return products * (v_plane(w) + m_plane(w)); }

double nt_winograd_cost(const nt_winograd *w) {
    const double tiles = (double)tile_count(w), lanes = (double)w->kernel->lanes;
    const double sums = products * nt_gemm_cost(w->gemm, tile_count(w), w->outputs, w->channels);
    // About 36 loads, 36 stores and 100 operations a vector in each transform.
    const double input = tiles * (double)ceil_div(w->channels, (size_t)lanes) * 110;
    const double output = tiles * (double)ceil_div(w->outputs, (size_t)lanes) * 110;
    // Weights come from beyond the second-level cache, once a block, mostly while sums are formed.
    const double blocks = (double)ceil_div(tile_count(w), w->block_tiles);
    const double weights = blocks * products * (double)(w->channels * w->outputs) * sizeof(float) / 32;
    return sums + input + output + weights;
}

// MARK: Running

typedef struct tile_place {
    size_t image, oy, ox;
} tile_place;

static tile_place locate(const nt_winograd *w, size_t tile) {
    const size_t columns = tile_columns(w), rows = tile_rows(w);
    return (tile_place){tile / columns / rows, tile / columns % rows * side, tile % columns * side};
}

static void transform_input(const nt_winograd *w, const float *x, size_t tile, float *v) {
    const nt_window *g = &w->window;
    const tile_place place = locate(w, tile);
    const float *pixels[products];
    for (size_t i = 0; i < patch; i++) {
        const size_t iy = place.oy + i - g->pad_top;  // huge when above the input
        for (size_t j = 0; j < patch; j++) {
            const size_t ix = place.ox + j - g->pad_left;
            const int inside = iy < g->in_height && ix < g->in_width;
            pixels[i * patch + j] = inside ? x + ((place.image * g->in_height + iy) * g->in_width + ix) * w->x_stride : w->zeros;
        }
    }
    w->kernel->input(pixels, w->channels, v, v_plane(w));
}

static void transform_output(
    const nt_winograd *w, const float *m, size_t tile, size_t first, size_t columns, float *y, const float *residual) {
    const nt_window *g = &w->window;
    const tile_place place = locate(w, tile);
    const size_t pixel = (place.image * g->out_height + place.oy) * g->out_width + place.ox;
    const size_t slot = nt_slots(w->kernel->element, first);
    const nt_winograd_output output = {
        .m = m, .plane = m_plane(w), .bias = w->bias + first, .columns = columns,
        .height = smaller(side, g->out_height - place.oy), .width = smaller(side, g->out_width - place.ox),
        .y = y + pixel * w->y_stride + slot, .y_stride = w->y_stride, .y_row = g->out_width * w->y_stride,
        .residual = residual ? residual + pixel * w->residual_stride + slot : NULL, .residual_stride = w->residual_stride,
        .residual_row = g->out_width * w->residual_stride, .lo = w->activation.lo, .hi = w->activation.hi};
    w->kernel->output(&output);
    for (size_t i = 0; i < output.height; i++) {
        nt_activation_apply(
            &w->activation, w->kernel->element, output.width, columns, output.y + i * output.y_row, w->y_stride);
    }
}

// Tiles first..<last and panels from..<to, block by block.
static void run_tiles(
    const nt_winograd *w, const float *x, float *y, const float *residual, float *scratch, size_t first, size_t last,
    size_t from, size_t to) {
    static const float zero_bias[64] __attribute__((aligned(64))) = {0};
    const size_t nr = panel_width(w->gemm);
    const size_t stride = v_stride(w), plane = v_plane(w);
    float *v = scratch, *m = scratch + products * plane;
    for (size_t block = first; block < last; block += w->block_tiles) {
        const size_t count = smaller(w->block_tiles, last - block);
        for (size_t i = 0; i < count; i++) transform_input(w, x, block + i, v + i * stride);
        for (size_t panel = from; panel < to; panel++) {
            const size_t columns = smaller(nr, w->outputs - panel * nr);
            const size_t size = nt_gemm_packed_count(w->gemm, columns, 1, w->channels);
            const float *u = w->packed + products * panel * nr * w->channels;
            for (size_t xi = 0; xi < products; xi++) {
                nt_gemm_run(
                    w->gemm, count, columns, w->channels, v + xi * plane, stride, u + xi * size, zero_bias, m + xi * m_plane(w),
                    nr, NULL, 0, -__builtin_inff(), __builtin_inff());
            }
            for (size_t i = 0; i < count; i++) transform_output(w, m + i * nr, block + i, panel * nr, columns, y, residual);
        }
    }
}

void nt_winograd_run(
    const nt_winograd *w, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts) {
    const size_t tiles = tile_count(w), panels = ceil_div(w->outputs, panel_width(w->gemm));
    // Few tiles and many weights: each share computes all tiles of its panels, and the input's transform is done in each.
    if (tiles < 2 * (size_t)w->gemm->rows * parts && panels >= parts) {
        run_tiles(w, x, y, residual, scratch, 0, tiles, panels * part / parts, panels * (part + 1) / parts);
    } else {
        run_tiles(w, x, y, residual, scratch, tiles * part / parts, tiles * (part + 1) / parts, 0, panels);
    }
}
