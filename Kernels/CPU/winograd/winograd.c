#include "winograd.h"

#include <CNTPlatform.h>
#include <stdbool.h>
#include <string.h>

#define NT_WINOGRAD_KERNEL(suffix, name, isa, element, lanes, tile) \
    void nt_winograd_input_##tile##_##suffix(const nt_winograd_input *); \
    void nt_winograd_output_##tile##_##suffix(const nt_winograd_output *); \
    void nt_winograd_product_##suffix(size_t, size_t, const float *, size_t, const float *, const float *, float *);
#include "winograd.inc"
#undef NT_WINOGRAD_KERNEL

static const nt_winograd_kernel kernels[] = {
#define NT_WINOGRAD_KERNEL(suffix, name, isa, element, lanes, tile) \
    {name " tiles " #tile "x" #tile, isa, element, lanes, tile, nt_winograd_input_##tile##_##suffix, nt_winograd_output_##tile##_##suffix, \
     nt_winograd_product_##suffix},
#include "winograd.inc"
#undef NT_WINOGRAD_KERNEL
};

enum { maximum_patch = NT_WINOGRAD_MAX_PATCH };

size_t nt_winograd_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_winograd_kernel *nt_winograd_kernel_at(size_t index) {
    return index < nt_winograd_kernel_count() ? &kernels[index] : NULL;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Output channels of a panel.
static size_t panel_width(const nt_winograd *w) {
    return w->gemm ? (size_t)(w->gemm->vectors * w->gemm->lanes) : (size_t)w->kernel->lanes;
}
static size_t patch_side(int tile) { return (size_t)tile + 2; }
static size_t product_count(const nt_winograd *w) { return patch_side(w->kernel->tile) * patch_side(w->kernel->tile); }

static size_t tile_rows(const nt_winograd *w) { return ceil_div(w->window.out_height, (size_t)w->kernel->tile); }
static size_t tile_columns(const nt_winograd *w) { return ceil_div(w->window.out_width, (size_t)w->kernel->tile); }

size_t nt_winograd_tiles(const nt_winograd *w) { return w->batch * tile_rows(w) * tile_columns(w); }

// Floats from tile to tile in V: whole vectors, no multiple of 2 KiB.
static size_t v_stride(const nt_winograd *w) {
    const size_t lanes = (size_t)w->kernel->lanes, stride = ceil_div(w->channels, lanes) * lanes;
    return stride % 512 == 0 ? stride + 16 : stride;
}

// Floats from product to product; a cache line more than the tiles take, so that a tile's stores do not meet in a few sets.
static size_t v_plane(const nt_winograd *w) { return w->block_tiles * v_stride(w) + 16; }
static size_t m_plane(const nt_winograd *w) { return w->block_tiles * panel_width(w) + 16; }

// MARK: Weights

nt_winograd_packing nt_winograd_packing_of(const nt_winograd *w) {
    return (nt_winograd_packing){
        .tile = w->kernel->tile, .panel = (int)panel_width(w), .lanes = w->gemm ? w->gemm->lanes : w->kernel->lanes,
        .channels = w->channels, .outputs = w->outputs};
}

static size_t packed_width(const nt_winograd_packing *p, size_t outputs) { return ceil_div(outputs, (size_t)p->lanes) * (size_t)p->lanes; }

size_t nt_winograd_packed_count(const nt_winograd_packing *p) {
    return patch_side(p->tile) * patch_side(p->tile) * packed_width(p, p->outputs) * p->channels;
}

// G for tiles of 3 x 3, 4 x 4 and 5 x 5.
static const double weight_matrices[3][maximum_patch][3] = {
    {{-4.0 / 3, -2.0 / 3, -1.0 / 3}, {4.0 / 3, -2.0 / 3, 1.0 / 3}, {2.0 / 3, 2.0 / 3, 2.0 / 3}, {-2.0 / 3, 2.0 / 3, -2.0 / 3}, {0, 0, 1}},
    {{1.0 / 4, 0, 0}, {-1.0 / 6, -1.0 / 6, -1.0 / 6}, {-1.0 / 6, 1.0 / 6, -1.0 / 6}, {1.0 / 24, 1.0 / 12, 1.0 / 6},
     {1.0 / 24, -1.0 / 12, 1.0 / 6}, {0, 0, 1}},
    {{512.0 / 945, 128.0 / 945, 32.0 / 945}, {-512.0 / 945, 128.0 / 945, -32.0 / 945}, {-8.0 / 45, -8.0 / 45, -8.0 / 45},
     {8.0 / 45, -8.0 / 45, 8.0 / 45}, {4.0 / 189, 8.0 / 189, 16.0 / 189}, {-4.0 / 189, 8.0 / 189, -16.0 / 189}, {0, 0, 1}}};

// Outputs whose weights of a channel are transformed at once, and channels that a block of transformed weights has.
enum { packed_lanes = 8, packed_channels = 4 };
typedef double packed_doubles __attribute__((vector_size(packed_lanes * sizeof(double))));
typedef float packed_floats __attribute__((vector_size(packed_lanes * sizeof(float))));

// G g G^T for `count` outputs, whose weights lie `stride` apart; element xi goes to u[xi * plane], zeros past the last output.
static void transform_weights(int tile, const float *weights, size_t stride, size_t count, float *u, size_t plane) {
    const double(*matrix)[3] = weight_matrices[tile - 3];
    const size_t patch = patch_side(tile);
    static const float zeros[9] = {0};
    const float *w[packed_lanes];
    for (size_t l = 0; l < packed_lanes; l++) w[l] = l < count ? weights + l * stride : zeros;
    packed_doubles g[9], half[3][maximum_patch];
    for (size_t i = 0; i < 9; i++) {
        const packed_floats f = {w[0][i], w[1][i], w[2][i], w[3][i], w[4][i], w[5][i], w[6][i], w[7][i]};
        g[i] = __builtin_convertvector(f, packed_doubles);
    }
    for (size_t j = 0; j < 3; j++) {
        for (size_t i = 0; i < patch; i++) half[j][i] = matrix[i][0] * g[j] + matrix[i][1] * g[3 + j] + matrix[i][2] * g[6 + j];
    }
    for (size_t i = 0; i < patch; i++) {
        for (size_t j = 0; j < patch; j++, u += plane) {
            const packed_doubles sum = matrix[j][0] * half[0][i] + matrix[j][1] * half[1][i] + matrix[j][2] * half[2][i];
            const packed_floats rounded = __builtin_convertvector(sum, packed_floats);
            memcpy(u, &rounded, sizeof rounded);
        }
    }
}

// The rows of a few channels are put together elsewhere: where they go, the lines of all products often share a set of the cache.
void nt_winograd_pack(const nt_winograd_packing *p, const float *weights, float *packed) {
    float block[maximum_patch * maximum_patch * packed_channels * NT_GEMM_MAX_COLUMNS];
    const size_t products = patch_side(p->tile) * patch_side(p->tile), plane = packed_channels * NT_GEMM_MAX_COLUMNS;
    for (size_t first = 0; first < p->outputs; first += (size_t)p->panel) {
        const size_t columns = smaller((size_t)p->panel, p->outputs - first), width = packed_width(p, columns);
        for (size_t from = 0; from < p->channels; from += packed_channels) {
            const size_t rows = smaller(packed_channels, p->channels - from);
            for (size_t j = 0; j < width; j += packed_lanes) {
                const size_t count = j < columns ? smaller(packed_lanes, columns - j) : 0;
                const float *source = weights + ((first + (count ? j : 0)) * p->channels + from) * 9;
                for (size_t c = 0; c < rows; c++) {
                    transform_weights(p->tile, source + c * 9, p->channels * 9, count, block + c * NT_GEMM_MAX_COLUMNS + j, plane);
                }
            }
            for (size_t xi = 0; xi < products; xi++) {
                for (size_t c = 0; c < rows; c++) {
                    float *row = packed + (xi * p->channels + from + c) * width;
                    memcpy(row, block + xi * plane + c * NT_GEMM_MAX_COLUMNS, width * sizeof(float));
                }
            }
        }
        packed += products * width * p->channels;
    }
}

// MARK: Sizes

void nt_winograd_fit(nt_winograd *w, uint32_t isa, size_t cache_bytes) {
    const size_t tiles = nt_winograd_tiles(w);
    w->gemm = w->channels <= (size_t)w->kernel->lanes ? NULL : nt_gemm_choose(tiles, w->outputs, w->channels, isa);
    const size_t mr = w->gemm ? (size_t)w->gemm->rows : 1;
    const size_t bytes = product_count(w) * (v_stride(w) + panel_width(w)) * sizeof(float);
    const size_t block = cache_bytes / bytes / mr * mr;
    w->block_tiles = smaller(block < mr ? mr : block, tiles);
}

int nt_winograd_choose(nt_winograd *w, int element, uint32_t isa, size_t cache_bytes) {
    nt_winograd best = *w;
    double best_cost = 0;
    best.kernel = NULL;
    for (size_t i = 0; i < nt_winograd_kernel_count(); i++) {
        const nt_winograd_kernel *kernel = &kernels[i];
        if (kernel->element != element || (kernel->isa & isa) != kernel->isa) continue;
        w->kernel = kernel;
        nt_winograd_fit(w, isa, cache_bytes);
        const double cost = nt_winograd_cost(w);
        if (!best.kernel || cost < best_cost) {
            best = *w;
            best_cost = cost;
        }
    }
    *w = best;
    return best.kernel != NULL;
}

size_t nt_winograd_scratch_count(const nt_winograd *w) { return product_count(w) * (v_plane(w) + m_plane(w)); }

double nt_winograd_cost(const nt_winograd *w) {
    const size_t count = nt_winograd_tiles(w), lanes = (size_t)w->kernel->lanes, products = product_count(w);
    // Cycles of an operation on a vector. One of 256 bits takes half of one of 512, but for what AVX2's sixteen registers do not hold.
    const double vector = lanes == 8 ? 0.64 : lanes == 16 ? 1.0 : 0.7, rows = (double)(products * count);
    const double depth = (double)(w->channels <= lanes / 2 ? lanes / 2 : lanes);
    const double sums = w->gemm ? (double)products * nt_gemm_cost(w->gemm, count, w->outputs, w->channels)
                                : rows * (double)ceil_div(w->outputs, lanes) * (depth + 0.5) * vector;
    // For each product and vector a load, a store and the operations, of which the larger tile has more.
    const double transform = vector * (w->kernel->tile <= 4 ? 4.5 : 5.5);
    const double transforms = rows * (double)(ceil_div(w->channels, lanes) + ceil_div(w->outputs, lanes)) * transform + 80 * (double)count;
    // Weights come from beyond the second-level cache, once a block, some 8 bytes a cycle, while sums are formed: the longer of both counts, and
    // a share of the other.
    const double blocks = (double)ceil_div(count, w->block_tiles);
    const double weights = blocks * (double)(products * w->channels * w->outputs * sizeof(float)) / 8;
    return transforms + (sums > weights ? sums + 0.1 * weights : weights + 0.1 * sums);
}

// MARK: Running

typedef struct tile_place {
    size_t image, oy, ox;
} tile_place;

static tile_place locate(const nt_winograd *w, size_t tile) {
    const size_t columns = tile_columns(w), rows = tile_rows(w), side = (size_t)w->kernel->tile;
    return (tile_place){tile / columns / rows, tile / columns % rows * side, tile % columns * side};
}

// The next tile's place.
static void advance(const nt_winograd *w, tile_place *place) {
    const size_t side = (size_t)w->kernel->tile;
    place->ox += side;
    if (place->ox < w->window.out_width) return;
    place->ox = 0;
    place->oy += side;
    if (place->oy < w->window.out_height) return;
    place->oy = 0;
    place->image++;
}

static void transform_input(const nt_winograd *w, const float *x, tile_place place, float *v) {
    const nt_window *g = &w->window;
    const size_t patch = patch_side(w->kernel->tile);
    size_t top, bottom, left, right;
    nt_window_taps(place.oy, 1, g->pad_top, 1, patch, g->in_height, &top, &bottom);
    nt_window_taps(place.ox, 1, g->pad_left, 1, patch, g->in_width, &left, &right);
    const float *rows[maximum_patch];
    for (size_t i = 0; i < patch; i++) {
        const size_t pixel = (place.image * g->in_height + place.oy + i - g->pad_top) * g->in_width + place.ox + left - g->pad_left;
        rows[i] = i >= top && i < bottom && left < right ? x + pixel * w->x_stride : w->zeros;
    }
    const nt_winograd_input input = {
        .rows = rows, .stride = w->x_stride, .left = left, .right = right, .channels = w->channels, .v = v, .plane = v_plane(w)};
    w->kernel->input(&input);
}

static void transform_output(
    const nt_winograd *w, const float *m, tile_place place, size_t first, size_t columns, float *y, const float *residual) {
    const nt_window *g = &w->window;
    const size_t side = (size_t)w->kernel->tile;
    const size_t pixel = (place.image * g->out_height + place.oy) * g->out_width + place.ox;
    const size_t slot = nt_slots(w->kernel->element, first);
    const nt_winograd_output output = {
        .m = m, .plane = m_plane(w), .columns = columns,
        .height = smaller(side, g->out_height - place.oy), .width = smaller(side, g->out_width - place.ox),
        .y = y + pixel * w->y_stride + slot, .y_stride = w->y_stride, .y_row = g->out_width * w->y_stride,
        .residual = residual ? residual + pixel * w->residual_stride + slot : NULL, .residual_stride = w->residual_stride,
        .residual_row = g->out_width * w->residual_stride, .lo = w->activation.lo, .hi = w->activation.hi};
    w->kernel->output(&output);
    if (w->activation.function < 0) return;
    for (size_t i = 0; i < output.height; i++) {
        nt_activation_apply(
            &w->activation, w->kernel->element, output.width, columns, output.y + i * output.y_row, w->y_stride);
    }
}

// All products of `count` tiles with one panel of weights. The product at the point (1, 1) counts once in every pixel: the bias is added there.
static void multiply(
    const nt_winograd *w, size_t count, size_t columns, const float *v, const float *u, const float *bias, float *m) {
    static const float zero_bias[NT_GEMM_MAX_COLUMNS] __attribute__((aligned(64))) = {0};
    const nt_winograd_packing packing = nt_winograd_packing_of(w);
    const size_t size = packed_width(&packing, columns) * w->channels;
    const size_t products = product_count(w), stride = v_stride(w), nr = panel_width(w);
    const size_t one = w->kernel->tile == 4 ? 1 : 2, biased = one * patch_side(w->kernel->tile) + one;
    for (size_t xi = 0; xi < products; xi++, v += v_plane(w), u += size, m += m_plane(w)) {
        const float *start = xi == biased ? bias : zero_bias;
        if (w->gemm) {
            nt_gemm_run(
                w->gemm, count, columns, w->channels, v, stride, u, start, m, nr, NULL, 0, -__builtin_inff(), __builtin_inff());
        } else {
            w->kernel->product(count, w->channels, v, stride, u, start, m);
        }
    }
}

// Tiles first..<last and panels from..<to, block by block.
static void run_tiles(
    const nt_winograd *w, const float *x, float *y, const float *residual, float *scratch, size_t first, size_t last,
    size_t from, size_t to) {
    const size_t nr = panel_width(w), products = product_count(w), stride = v_stride(w);
    float *v = scratch, *m = scratch + products * v_plane(w);
    for (size_t block = first; block < last; block += w->block_tiles) {
        const size_t count = smaller(w->block_tiles, last - block);
        const tile_place start = locate(w, block);
        tile_place place = start;
        for (size_t i = 0; i < count; i++, advance(w, &place)) transform_input(w, x, place, v + i * stride);
        for (size_t panel = from; panel < to; panel++) {
            const size_t columns = smaller(nr, w->outputs - panel * nr);
            multiply(w, count, columns, v, w->packed + products * panel * nr * w->channels, w->bias + panel * nr, m);
            place = start;
            for (size_t i = 0; i < count; i++, advance(w, &place)) transform_output(w, m + i * nr, place, panel * nr, columns, y, residual);
        }
    }
}

void nt_winograd_run(
    const nt_winograd *w, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts) {
    const size_t tiles = nt_winograd_tiles(w), panels = ceil_div(w->outputs, panel_width(w));
    const size_t rows = w->gemm ? (size_t)w->gemm->rows : 1;
    // Few tiles and many weights: each share computes all tiles of its panels, and the input's transform is done in each.
    if (tiles < 2 * rows * parts && panels >= parts) {
        run_tiles(w, x, y, residual, scratch, 0, tiles, panels * part / parts, panels * (part + 1) / parts);
    } else {
        run_tiles(w, x, y, residual, scratch, tiles * part / parts, tiles * (part + 1) / parts, 0, panels);
    }
}
