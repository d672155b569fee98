// The body of the GEMM kernels on tile registers, written in the primitives of simd/amx.h or simd/amx_model.h: up to 2 x 2 tiles of sums, a
// tile's 16 slots of depth at a time.
//
//   tile 0 = sums of rows 0-15, columns 0-15    tile 1 = columns 16-31    tiles 2, 3: rows 16-31    4, 5: A    6, 7: B
//
// Tiles are always whole. B is packed as a tile wants it. Rows of A that lie evenly are loaded from where they are; others, and those of an
// incomplete tile or of the last slots of a depth, go through scratch, so that nothing past them is read.
#define NT_TILE(name, R, V) \
    static void name##_##R##_##V(const nt_gemm_tile *t) { amx_block(t, R, V, 0); } \
    static void name##_1_##R##_##V(const nt_gemm_tile *t) { amx_block(t, R, V, 1); } \
    static void name##_2_##R##_##V(const nt_gemm_tile *t) { amx_block(t, R, V, 2); } \
    static void name##_3_##R##_##V(const nt_gemm_tile *t) { amx_block(t, R, V, 3); }

#include "gemm_tile.h"

#include <stdbool.h>

enum { tile_side = 16, tile_bytes = tile_side * tile_side * 4 };

/// Up to 16 rows of A at one tap.
typedef struct amx_rows {
    const float *const *pointers;  ///< to each row, NULL where rows lie `stride` bytes apart from `first` on
    const float *first;
    size_t stride, count;
    bool in_place;                 ///< 16 rows that lie evenly
} amx_rows;

VINLINE amx_rows amx_rows_at(const nt_gemm_tile *t, size_t tap, size_t from, size_t rows, size_t step) {
    amx_rows a = {.count = rows - from < tile_side ? rows - from : tile_side};
    if (step) {
        a.first = t->a[tap] + from * step;
        a.stride = step * sizeof(float);
        a.in_place = a.count == tile_side;
        return a;
    }
    a.pointers = t->a + tap * t->pitch + from;
    a.first = a.pointers[0];
    if (a.count < tile_side) return a;
    a.stride = (uintptr_t)a.pointers[1] - (uintptr_t)a.first;
    uintptr_t uneven = 0;
    for (size_t i = 2; i < tile_side; i++)
        uneven |= ((uintptr_t)a.pointers[i] - (uintptr_t)a.pointers[i - 1]) ^ a.stride;
    a.in_place = uneven == 0;
    return a;
}

/// Copies `slots` slots from slot k on of each row, zeros after them.
VINLINE void amx_gather(const amx_rows *a, size_t k, size_t slots, float *scratch) {
    for (size_t i = 0; i < a->count; i++) {
        const float *row = a->pointers ? a->pointers[i] : (const float *)((const char *)a->first + i * a->stride);
        vstore(scratch + i * tile_side, slots == tile_side ? vload(row + k) : vload_n(row + k, slots));
    }
}

#define AMX_LOAD_A(tile, rows, scratch) do { \
    if ((rows).in_place && slots == tile_side) { \
        tile_load(tile, (rows).first + k, (rows).stride); \
    } else { \
        amx_gather(&(rows), k, slots, scratch); \
        tile_load(tile, scratch, tile_side * sizeof(float)); \
    } \
} while (0)

/// Adds `slots` slots from slot k of one tap to the sums. `b` has rows of `width` floats.
VINLINE void amx_add(
    const amx_rows rows[2], float *scratch, size_t k, size_t slots, const float *b, const size_t width, const int row_tiles,
    const int vectors) {
    tile_load(6, b, width * sizeof(float));
    AMX_LOAD_A(4, rows[0], scratch);
    tile_dot(0, 4, 6);
    if (row_tiles > 1) {
        AMX_LOAD_A(5, rows[1], scratch + tile_side * tile_side);
        tile_dot(2, 5, 6);
    }
    if (vectors > 1) {
        tile_load(7, b + tile_side, width * sizeof(float));
        tile_dot(1, 4, 7);
        if (row_tiles > 1) tile_dot(3, 5, 7);
    }
}

VINLINE void amx_load_bias(const float *bias, const int row_tiles, const int vectors) {
    tile_load(0, bias, 0);
    if (vectors > 1) tile_load(1, bias + tile_side, 0);
    if (row_tiles > 1) tile_load(2, bias, 0);
    if (row_tiles > 1 && vectors > 1) tile_load(3, bias + tile_side, 0);
}

VINLINE void amx_store_sums(float *sums, const size_t width, const int row_tiles, const int vectors) {
    const size_t stride = width * sizeof(float);
    tile_store(0, sums, stride);
    if (vectors > 1) tile_store(1, sums + tile_side, stride);
    if (row_tiles > 1) tile_store(2, sums + tile_side * width, stride);
    if (row_tiles > 1 && vectors > 1) tile_store(3, sums + tile_side * width + tile_side, stride);
}

VINLINE void amx_tile(const nt_gemm_tile *t, size_t rows, const int row_tiles, const int vectors, size_t step) {
    const size_t width = (size_t)vectors * tile_side, depth = t->depth, rest = depth % tile_side;
    float a[2 * tile_side * tile_side] __attribute__((aligned(64)));
    float scratch[2 * tile_side * 2 * tile_side] __attribute__((aligned(64)));  // the last slots of B, then the sums
    if (rows % tile_side) memset(a + rows * tile_side, 0, (size_t)row_tiles * tile_bytes - rows * tile_side * sizeof(float));
    if (rest) memset(scratch + rest * width, 0, (tile_side - rest) * width * sizeof(float));
    amx_load_bias(t->bias, row_tiles, vectors);
    for (size_t tap = 0; tap < t->taps; tap++) {
        const amx_rows from[2] = {
            amx_rows_at(t, tap, 0, rows, step), row_tiles > 1 ? amx_rows_at(t, tap, tile_side, rows, step) : (amx_rows){0}};
        const float *b = t->b[tap];
        size_t k = 0;
        for (; k + tile_side <= depth; k += tile_side, b += tile_side * width)
            amx_add(from, a, k, tile_side, b, width, row_tiles, vectors);
        if (!rest) continue;
        for (size_t i = 0; i < rest * width; i += VL) vstore(scratch + i, vload(b + i));
        amx_add(from, a, k, rest, scratch, width, row_tiles, vectors);
    }
    amx_store_sums(scratch, width, row_tiles, vectors);
    nt_gemm_tile row = *t;
    for (size_t i = 0; i < rows; i++) {
        vf sums[maximum_rows][maximum_vectors];
        NT_UNROLL for (int j = 0; j < vectors; j++) sums[0][j] = vload(scratch + i * width + (size_t)(j * VL));
        gemm_store(&row, sums, 1, vectors);
        row.c += t->c_stride;
        if (row.residual) row.residual += t->residual_stride;
    }
}

#define AMX_BLOCK(R, V) \
    static void amx_block_##R##_##V(const nt_gemm_tile *t, size_t rows, size_t step) { amx_tile(t, rows, R, V, step); }
AMX_BLOCK(1, 1)
AMX_BLOCK(1, 2)
AMX_BLOCK(2, 1)
AMX_BLOCK(2, 2)

VINLINE void amx_block(const nt_gemm_tile *t, const int rows, const int vectors, const size_t step) {
    if (rows > tile_side) (vectors > 1 ? amx_block_2_2 : amx_block_2_1)(t, (size_t)rows, step);
    else (vectors > 1 ? amx_block_1_2 : amx_block_1_1)(t, (size_t)rows, step);
}
