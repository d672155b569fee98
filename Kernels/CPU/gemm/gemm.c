#include "gemm.h"

#include <CNTPlatform.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    maximum_columns = 64,  // of a panel
    pair_block = 64,       // slots of a column that are packed at a time
};

#define NT_GEMM_KERNEL(suffix, name, isa, element, rows, vectors, lanes) \
    extern const nt_gemm_tile_fn nt_gemm_tiles_##suffix[4][(rows) * (vectors)];
#include "gemm.inc"
#undef NT_GEMM_KERNEL

static const nt_gemm_kernel kernels[] = {
#define NT_GEMM_KERNEL(suffix, name, isa, element, rows, vectors, lanes) \
    {name, isa, element, rows, vectors, lanes, nt_gemm_tiles_##suffix[0], \
     {nt_gemm_tiles_##suffix[1], nt_gemm_tiles_##suffix[2], nt_gemm_tiles_##suffix[3]}},
#include "gemm.inc"
#undef NT_GEMM_KERNEL
};

size_t nt_gemm_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const nt_gemm_kernel *nt_gemm_kernel_at(size_t index) { return index < nt_gemm_kernel_count() ? &kernels[index] : NULL; }

static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

static bool has_tiles(const nt_gemm_kernel *kernel) { return kernel->isa & (NT_ISA_AMX_BF16 | NT_ISA_AMX_MODEL); }

size_t nt_gemm_chunk(const nt_gemm_kernel *kernel) { return has_tiles(kernel) ? 16 : 1; }

#if defined(__x86_64__)
void nt_gemm_amx_begin(void);
void nt_gemm_amx_end(void);
void nt_gemm_amx_model_begin(void);
void nt_gemm_amx_model_end(void);

void nt_gemm_begin(const nt_gemm_kernel *kernel) {
    if (kernel->isa & NT_ISA_AMX_BF16) nt_gemm_amx_begin();
    else if (kernel->isa & NT_ISA_AMX_MODEL) nt_gemm_amx_model_begin();
}

void nt_gemm_end(const nt_gemm_kernel *kernel) {
    if (kernel->isa & NT_ISA_AMX_BF16) nt_gemm_amx_end();
    else if (kernel->isa & NT_ISA_AMX_MODEL) nt_gemm_amx_model_end();
}
#else
void nt_gemm_begin(const nt_gemm_kernel *kernel) { (void)kernel; }
void nt_gemm_end(const nt_gemm_kernel *kernel) { (void)kernel; }
#endif

// Cycles of one multiply-add of a whole vector: AVX-512 has twice AVX2's lanes and at least its rate per lane; portable
// code has no fused multiply-add to count on.
static double vector_cost(const nt_gemm_kernel *kernel) { return kernel->lanes == 16 ? 1.0 : kernel->lanes == 8 ? 0.55 : 0.75; }

// Cycles of one number of A spread over a vector. A 512-bit multiply-add reads it as an operand of its own, as does a 256-bit one of
// AVX-512 where a row has one vector; other 256-bit tiles take each into a register, and a tall one waits for that.
static double broadcast_cost(const nt_gemm_kernel *kernel, size_t v) {
    return kernel->lanes == 8 && (v > 1 || !(kernel->isa & NT_ISA_AVX512)) ? 0.64 : 0.5;
}

// Cycles of a tile of r rows and v vectors over depth k: the multiply-adds or the loads, whichever take longer (one load a
// broadcast, one a vector of B, two loads a cycle), with a share of the shorter for what does not overlap; then the stores. Pointers to
// more than 12 rows do not fit into the processor's registers, which one vector a row does not hide; rows a step apart have none.
static double tile_cost(const nt_gemm_kernel *kernel, size_t r, size_t v, size_t k, bool steps) {
    const double multiplies = (double)(r * v) * vector_cost(kernel);
    const double loads = broadcast_cost(kernel, v) * (double)r + 0.5 * (double)v * (kernel->lanes == 16 ? 2 : 1);
    const double latency = 4.0;  // each sum waits for its last multiply-add
    double step = multiplies > loads ? multiplies + 0.1 * loads : loads + 0.1 * multiplies;
    if (r > 12 && v == 1 && !steps) step += 0.5 * (double)(r - 10);
    if (step < latency) step = latency;
    return (double)k * step + 2.8 * (double)(r * v) + 10.0;
}

// The same on AMX's tiles. A product of two tiles takes 16 cycles on paper; in practice 2 x 2 of them reach 400 operations a cycle (Sapphire
// Rapids), which is 40 cycles each, and one that waits for the last takes 52. A tile load takes 8 cycles, one through scratch about 16 more.
static double tile_cost_amx(size_t r, size_t v, size_t taps, size_t depth) {
    const double rows = (double)ceil_div(r, 16), columns = (double)v, chunks = (double)(taps * ceil_div(depth, 16));
    const double multiplies = 40 * rows * columns, loads = 8 * (rows + columns);
    const double copied = (taps > 1 || r % 16 ? rows : 0) + (depth % 16 ? columns : 0);
    double step = (multiplies > loads ? multiplies : loads) + 0.1 * loads + 4 * copied;
    if (step < 52) step = 52;
    return chunks * step + 24 * rows * columns + 3.0 * (double)(r * v) + 100;
}

static double cost_of_tile(const nt_gemm_kernel *kernel, size_t r, size_t v, size_t taps, size_t depth, bool steps) {
    return has_tiles(kernel) ? tile_cost_amx(r, v, taps, depth) : tile_cost(kernel, r, v, taps * depth, steps);
}

double nt_gemm_cost(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k) { return nt_gemm_cost_taps(kernel, m, n, 1, k); }

static double cost(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t taps, size_t depth, bool steps) {
    const size_t mr = (size_t)kernel->rows, nv = (size_t)kernel->vectors;
    const size_t columns = ceil_div(n, (size_t)kernel->lanes);
    const double m_full = (double)(m / mr), n_full = (double)(columns / nv);
    const size_t m_rest = m % mr, n_rest = columns % nv;
    double cost = m_full * n_full * cost_of_tile(kernel, mr, nv, taps, depth, steps);
    if (n_rest) cost += m_full * cost_of_tile(kernel, mr, n_rest, taps, depth, steps);
    if (m_rest) cost += n_full * cost_of_tile(kernel, m_rest, nv, taps, depth, steps);
    if (m_rest && n_rest) cost += cost_of_tile(kernel, m_rest, n_rest, taps, depth, steps);
    return cost;
}

double nt_gemm_cost_taps(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t taps, size_t depth) {
    return cost(kernel, m, n, taps, depth, false);
}

double nt_gemm_cost_steps(const nt_gemm_kernel *kernel, size_t width, size_t n, size_t taps, size_t depth) {
    return cost(kernel, width, n, taps, depth, true);
}

const nt_gemm_kernel *nt_gemm_choose(size_t m, size_t n, size_t k, uint32_t isa) {
    return nt_gemm_choose_element(NT_ELEMENT_FLOAT32, m, n, k, isa);
}

const nt_gemm_kernel *nt_gemm_choose_element(int element, size_t m, size_t n, size_t k, uint32_t isa) {
    return nt_gemm_choose_taps(element, m, n, 1, k, isa);
}

static const nt_gemm_kernel *choose(int element, size_t m, size_t n, size_t taps, size_t depth, uint32_t isa, bool steps) {
    const nt_gemm_kernel *best = NULL;
    double best_cost = 0;
    for (size_t i = 0; i < nt_gemm_kernel_count(); i++) {
        const nt_gemm_kernel *kernel = &kernels[i];
        if (kernel->element != element || (kernel->isa & isa) != kernel->isa) continue;
        const double estimate = cost(kernel, m, n, taps, depth, steps);
        // Equal costs go to the taller tile, so that the choice does not depend on the list's order.
        if (!best || estimate < best_cost || (estimate == best_cost && kernel->rows > best->rows)) {
            best = kernel;
            best_cost = estimate;
        }
    }
    return best;
}

const nt_gemm_kernel *nt_gemm_choose_taps(int element, size_t m, size_t n, size_t taps, size_t depth, uint32_t isa) {
    return choose(element, m, n, taps, depth, isa, false);
}

const nt_gemm_kernel *nt_gemm_choose_steps(int element, size_t width, size_t n, size_t taps, size_t depth, uint32_t isa) {
    return choose(element, width, n, taps, depth, isa, true);
}

size_t nt_gemm_packed_count(const nt_gemm_kernel *kernel, size_t n, size_t taps, size_t depth) {
    return nt_gemm_bias_count(kernel, n) * nt_gemm_column_slots(kernel, taps, nt_slots(kernel->element, depth));
}

size_t nt_gemm_bias_count(const nt_gemm_kernel *kernel, size_t n) {
    return ceil_div(n, (size_t)kernel->lanes) * (size_t)kernel->lanes;
}

typedef float quad __attribute__((vector_size(16)));

static quad load_quad(const float *from) {
    quad value;
    memcpy(&value, from, sizeof value);
    return value;
}

// Four columns of four consecutive weights each, turned into four rows of four columns.
static void turn_quads(const float *from, size_t column_stride, float *const *rows, size_t column) {
    const quad a = load_quad(from), b = load_quad(from + column_stride);
    const quad c = load_quad(from + 2 * column_stride), d = load_quad(from + 3 * column_stride);
    const quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const quad turned[4] = {
        __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
    for (int i = 0; i < 4; i++) memcpy(rows[i] + column, &turned[i], sizeof(quad));
}

// Packs `columns` columns whose `count` weights are consecutive from b on; rows[i] is where the i-th weight of column 0 goes.
static void pack_consecutive(const float *b, size_t column_stride, size_t columns, size_t count, float *const *rows) {
    size_t j = 0;
    for (; j + 4 <= columns; j += 4) {
        const float *from = b + j * column_stride;
        size_t i = 0;
        for (; i + 4 <= count; i += 4) turn_quads(from + i, column_stride, rows + i, j);
        for (; i < count; i++) {
            for (size_t c = 0; c < 4; c++) rows[i][j + c] = from[c * column_stride + i];
        }
    }
    for (; j < columns; j++) {
        for (size_t i = 0; i < count; i++) rows[i][j] = b[j * column_stride + i];
    }
}

// The power of two that brings a column's largest weight to at most 31 / 32 of 2^-5: 32 products and their roundings then stay below the
// largest factor. 0 for weights that are all zero, infinite or no numbers.
static int float16_exponent(const float *b, size_t taps, size_t depth, size_t tap_stride, size_t depth_stride) {
    float largest = 0;
    for (size_t t = 0; t < taps; t++) {
        for (size_t k = 0; k < depth; k++) largest = fmaxf(largest, fabsf(b[t * tap_stride + k * depth_stride]));
    }
    if (largest == 0 || isinf(largest)) return 0;
    int exponent;
    const float fraction = frexpf(largest, &exponent);
    exponent = (fraction > 0.96875f ? -6 : -5) - exponent;
    // Scales stay normal numbers.
    return exponent > 126 ? 126 : exponent < -126 ? -126 : exponent;
}

// Slots of `count` weights of a column, times `scale`; a missing upper one is zero.
static void fill_slots(int element, const float *b, size_t stride, size_t count, float scale, float *slots) {
    uint32_t bits[pair_block];
    if (element == NT_ELEMENT_FLOAT16) {
        for (size_t i = 0; i < count; i++) {
            const uint32_t half = nt_float16_bits(b[i * stride] * scale);
            bits[i / 2] = i % 2 ? bits[i / 2] | half << 16 : half;
        }
    } else {
        float weights[2 * pair_block];
        for (size_t i = 0; i < count; i++) weights[i] = b[i * stride];
        if (count % 2) weights[count] = 0;
        for (size_t i = 0; i < (count + 1) / 2; i++)
            bits[i] = nt_bfloat16_bits(weights[2 * i]) | (uint32_t)nt_bfloat16_bits(weights[2 * i + 1]) << 16;
    }
    memcpy(slots, bits, (count + 1) / 2 * sizeof(float));
}

// Packs in blocks of rows, of which caches hold what the columns, which lie far apart, have of them for all taps.
static void pack_panels_of_pairs(
    const nt_gemm_kernel *kernel, size_t n, size_t taps, size_t depth, const float *b, size_t column_stride,
    size_t tap_stride, size_t depth_stride, float *packed) {
    const size_t nr = (size_t)(kernel->vectors * kernel->lanes), slots = nt_slots(kernel->element, depth);
    const bool is_scaled = kernel->element == NT_ELEMENT_FLOAT16;
    for (size_t first = 0; first < n; first += nr) {
        const size_t columns = n - first < nr ? n - first : nr;
        const size_t width = nt_gemm_bias_count(kernel, columns);
        int exponents[maximum_columns] = {0};
        for (size_t j = 0; is_scaled && j < columns; j++)
            exponents[j] = float16_exponent(b + (first + j) * column_stride, taps, depth, tap_stride, depth_stride);
        for (size_t from = 0; from < slots; from += pair_block) {
            const size_t rest = slots - from < pair_block ? slots - from : pair_block, end = 2 * (from + rest);
            const size_t count = (end < depth ? end : depth) - 2 * from;
            for (size_t t = 0; t < taps; t++) {
                float block[maximum_columns * pair_block];
                float *rows[pair_block];
                for (size_t j = 0; j < columns; j++) {
                    const float *source = b + (first + j) * column_stride + t * tap_stride + 2 * from * depth_stride;
                    fill_slots(kernel->element, source, depth_stride, count, ldexpf(1, exponents[j]), block + j * pair_block);
                }
                for (size_t i = 0; i < rest; i++) {
                    rows[i] = packed + (t * slots + from + i) * width;
                    if (columns < width) memset(rows[i] + columns, 0, (width - columns) * sizeof(float));
                }
                pack_consecutive(block, pair_block, columns, rest, rows);
            }
        }
        packed += taps * slots * width;
        for (size_t j = 0; is_scaled && j < width; j++) *packed++ = ldexpf(1, -exponents[j]);
    }
}

void nt_gemm_pack(
    const nt_gemm_kernel *kernel, size_t n, size_t taps, size_t depth, const float *b, size_t column_stride,
    size_t tap_stride, size_t depth_stride, float *packed) {
    if (kernel->element != NT_ELEMENT_FLOAT32) {
        pack_panels_of_pairs(kernel, n, taps, depth, b, column_stride, tap_stride, depth_stride, packed);
        return;
    }
    // Rows go in blocks that a first-level cache holds, since the columns that a row gathers lie far apart.
    enum { block = 64 };
    const size_t nr = (size_t)(kernel->vectors * kernel->lanes), count = taps * depth;
    const bool taps_inside = tap_stride == 1 && depth_stride == taps;
    const bool consecutive = taps_inside || (depth_stride == 1 && (taps == 1 || tap_stride == depth));
    for (size_t first = 0; first < n; first += nr) {
        const size_t columns = n - first < nr ? n - first : nr;
        const size_t width = nt_gemm_bias_count(kernel, columns);
        const float *source = b + first * column_stride;
        for (size_t from = 0; from < count; from += block) {
            const size_t rest = count - from < block ? count - from : block;
            float *rows[block];
            // The i-th weight is that of tap t and channel k, in the order in which a column's weights lie.
            for (size_t i = 0; i < rest; i++) {
                const size_t t = taps_inside ? (from + i) % taps : (from + i) / depth;
                const size_t k = taps_inside ? (from + i) / taps : (from + i) % depth;
                rows[i] = packed + (t * depth + k) * width;
                if (columns < width) memset(rows[i] + columns, 0, (width - columns) * sizeof(float));
                if (consecutive) continue;
                for (size_t j = 0; j < columns; j++) rows[i][j] = source[j * column_stride + t * tap_stride + k * depth_stride];
            }
            if (consecutive) pack_consecutive(source + from, column_stride, columns, rest, rows);
        }
        packed += width * count;
    }
}

// The product whose depth, bias, C, residuals and clamp `whole` holds, tile by tile.
static void run_tiles(
    const nt_gemm_kernel *kernel, size_t m, size_t n, const float *a, size_t a_stride, const float *packed,
    const nt_gemm_tile *whole) {
    const size_t lanes = (size_t)kernel->lanes, nr = (size_t)kernel->vectors * lanes, mr = (size_t)kernel->rows, k = whole->depth;
    const float *rows[NT_GEMM_MAX_ROWS];
    const float *panel;
    nt_gemm_tile tile = *whole;
    tile.a = rows;
    tile.pitch = mr;
    tile.b = &panel;
    tile.taps = 1;
    nt_gemm_begin(kernel);
    for (size_t j = 0; j < n; j += nr) {
        const size_t columns = n - j < nr ? n - j : nr, vectors = ceil_div(columns, lanes), slot = nt_slots(tile.c_element, j);
        panel = packed + nt_gemm_panel_offset(kernel, j / nr, 1, k);
        tile.bias = whole->bias + j;
        tile.scale = panel + k * vectors * lanes;
        tile.last_lanes = columns - (vectors - 1) * lanes;
        for (size_t i = 0; i < m; i += mr) {
            const size_t height = m - i < mr ? m - i : mr;
            for (size_t r = 0; r < height; r++) rows[r] = a + (i + r) * a_stride;
            tile.c = whole->c + i * tile.c_stride + slot;
            tile.residual = whole->residual ? whole->residual + i * tile.residual_stride + slot : NULL;
            tile.addend = whole->addend ? whole->addend + i * tile.addend_stride + slot : NULL;
            kernel->tiles[(height - 1) * (size_t)kernel->vectors + vectors - 1](&tile);
        }
    }
    nt_gemm_end(kernel);
}

void nt_gemm_run_to(
    int c_element, const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride,
    const float *packed, const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, float lo,
    float hi) {
    const nt_gemm_tile whole = {
        .depth = k, .bias = bias, .c = c, .c_stride = c_stride, .residual = residual, .residual_stride = residual_stride, .lo = lo,
        .hi = hi, .c_element = c_element};
    run_tiles(kernel, m, n, a, a_stride, packed, &whole);
}

void nt_gemm_run(
    const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride, const float *packed,
    const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, float lo, float hi) {
    nt_gemm_run_to(
        NT_ELEMENT_FLOAT32, kernel, m, n, k, a, a_stride, packed, bias, c, c_stride, residual, residual_stride, lo, hi);
}

void nt_gemm_run_added(
    const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride, const float *packed,
    const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, const float *addend,
    size_t addend_stride, float lo, float hi) {
    const nt_gemm_tile whole = {
        .depth = k, .bias = bias, .c = c, .c_stride = c_stride, .residual = residual, .residual_stride = residual_stride,
        .addend = addend, .addend_stride = addend_stride, .lo = lo, .hi = hi, .c_element = NT_ELEMENT_FLOAT32};
    run_tiles(kernel, m, n, a, a_stride, packed, &whole);
}
