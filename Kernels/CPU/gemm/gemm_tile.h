// The body of every GEMM micro-kernel, written in the primitives of simd/*.h. Rows and vectors are constants at each use, so the
// loops over them unroll and the sums live in registers. With NT_PAIRS the slots of A and B hold two numbers.

#include "../simd/unroll.h"

enum { maximum_rows = 24, maximum_vectors = 4 };

#if defined(NT_PAIRS)
#define GEMM_FMA vfma_pairs
#define GEMM_FMA_SPREAD vfma_pairs_spread

// C and the residual in slots of two. `plain` is a constant: no residual, whole vectors.
VINLINE void gemm_store_pairs(const nt_gemm_tile *t, vf acc[maximum_rows][maximum_vectors], const int rows, const int vectors, const int plain) {
    const vf lo = vset1(t->lo), hi = vset1(t->hi);
    const size_t last = plain ? VL / 2 : (t->last_lanes + 1) / 2, stride = t->c_stride;
    float *c = t->c;
    NT_UNROLL for (int i = 0; i < rows; i++, c += stride) {
        const float *r = !plain && t->residual ? t->residual + (size_t)i * t->residual_stride : NULL;
        int first = 0;
        if (plain) {
            NT_UNROLL for (; first + 2 <= vectors; first += 2)
                store_two_pairs(c + first * (VL / 2), vmax(lo, vmin(hi, acc[i][first])), vmax(lo, vmin(hi, acc[i][first + 1])));
        }
        NT_UNROLL for (int j = first; j < vectors; j++) {
            const size_t slots = j + 1 < vectors ? VL / 2 : last;
            vf v = acc[i][j];
            if (r) v += load_pairs(r + j * (VL / 2), slots);
            store_pairs(c + j * (VL / 2), vmax(lo, vmin(hi, v)), slots);
        }
    }
}
#else
#define GEMM_FMA vfma
#define GEMM_FMA_SPREAD vfma_spread
#endif

// `plain` is a constant: no residual, whole vectors.
VINLINE void gemm_store_numbers(
    const nt_gemm_tile *t, vf acc[maximum_rows][maximum_vectors], const int rows, const int vectors, const int plain) {
    const vf lo = vset1(t->lo), hi = vset1(t->hi);
    const size_t last = t->last_lanes, stride = t->c_stride;
    float *c = t->c;
    NT_UNROLL for (int i = 0; i < rows; i++, c += stride) {
        const float *r = !plain && t->residual ? t->residual + (size_t)i * t->residual_stride : NULL;
        const float *z = !plain && t->addend ? t->addend + (size_t)i * t->addend_stride : NULL;
        NT_UNROLL for (int j = 0; j < vectors; j++) {
            vf v = acc[i][j];
            const int whole = plain || j + 1 < vectors || last == VL;
            if (r) v += whole ? vload(r + j * VL) : vload_n(r + j * VL, last);
            if (z) v += whole ? vload(z + j * VL) : vload_n(z + j * VL, last);
            v = vmax(lo, vmin(hi, v));
            if (whole) vstore(c + j * VL, v);
            else vstore_n(c + j * VL, v, last);
        }
    }
}

VINLINE void gemm_store(const nt_gemm_tile *t, vf acc[maximum_rows][maximum_vectors], const int rows, const int vectors) {
    const int plain = !t->residual && !t->addend && t->last_lanes == VL;
#if defined(NT_PAIRS)
    if (t->c_element != NT_ELEMENT_FLOAT32) {
        if (plain) gemm_store_pairs(t, acc, rows, vectors, 1);
        else gemm_store_pairs(t, acc, rows, vectors, 0);
        return;
    }
#endif
    if (plain) gemm_store_numbers(t, acc, rows, vectors, 1);
    else gemm_store_numbers(t, acc, rows, vectors, 0);
}

// Asks for the lines of the residuals while the sums are formed.
VINLINE void gemm_prefetch_rows(const float *p, size_t stride, const int rows, const int vectors) {
    if (!p) return;
    NT_UNROLL for (int i = 0; i < rows; i++) {
        NT_UNROLL for (int j = 0; j < vectors; j += 16 / VL) __builtin_prefetch(p + (size_t)i * stride + j * VL);
    }
}
VINLINE void gemm_prefetch(const nt_gemm_tile *t, const int rows, const int vectors) {
    gemm_prefetch_rows(t->residual, t->residual_stride, rows, vectors);
    gemm_prefetch_rows(t->addend, t->addend_stride, rows, vectors);
}

#if defined(NT_PARTIAL_SUMS)
#include "gemm_partial.h"
#else
// One step along the depth: x[i] points to row i's number, b to the packed row. Where the sums and a packed row leave none of the 32
// registers of 512 bits for a number of A, each multiply-add spreads it from memory; where a row has one vector, too, which the compiler
// does by itself in float32.
VINLINE void gemm_step(const float *const *x, const float *b, vf acc[maximum_rows][maximum_vectors], const int rows, const int vectors) {
    vf column[maximum_vectors];
    NT_UNROLL for (int j = 0; j < vectors; j++) column[j] = vload(b + j * VL);
    #if defined(NT_PAIRS)
    const int spreads = VL == 16 && (vectors == 1 || rows * vectors + vectors >= 32);
#else
    const int spreads = VL == 16 && rows * vectors + vectors >= 32;
#endif
    NT_UNROLL for (int i = 0; i < rows; i++) {
        if (spreads) {
            NT_UNROLL for (int j = 0; j < vectors; j++) acc[i][j] = GEMM_FMA_SPREAD(x[i], column[j], acc[i][j]);
        } else {
            const vf number = vset1(*x[i]);
            NT_UNROLL for (int j = 0; j < vectors; j++) acc[i][j] = GEMM_FMA(number, column[j], acc[i][j]);
        }
    }
}

VINLINE void gemm_tile(const nt_gemm_tile *t, const int rows, const int vectors) {
    gemm_prefetch(t, rows, vectors);
    vf acc[maximum_rows][maximum_vectors];
    NT_UNROLL for (int j = 0; j < vectors; j++) {
        const vf bias = vload(t->bias + j * VL);
        NT_UNROLL for (int i = 0; i < rows; i++) acc[i][j] = bias;
    }
    const size_t depth = t->depth, taps = t->taps;
    for (size_t tap = 0; tap < taps; tap++) {
        const float *a[maximum_rows];
        NT_UNROLL for (int i = 0; i < rows; i++) a[i] = t->a[tap * t->pitch + (size_t)i];
        const float *b = t->b[tap];
        for (size_t k = 0; k < depth; k++, b += vectors * VL) {
            const float *x[maximum_rows];
            NT_UNROLL for (int i = 0; i < rows; i++) x[i] = a[i] + k;
            gemm_step(x, b, acc, rows, vectors);
        }
    }
    gemm_store(t, acc, rows, vectors);
}

// Rows that lie `step` slots apart: one pointer a tap.
VINLINE void gemm_step_tile(const nt_gemm_tile *t, const int rows, const int vectors, const int step) {
    vf acc[maximum_rows][maximum_vectors];
    NT_UNROLL for (int j = 0; j < vectors; j++) {
        const vf bias = vload(t->bias + j * VL);
        NT_UNROLL for (int i = 0; i < rows; i++) acc[i][j] = bias;
    }
    const size_t depth = t->depth, taps = t->taps;
    for (size_t tap = 0; tap < taps; tap++) {
        const float *a = t->a[tap], *b = t->b[tap];
        for (size_t k = 0; k < depth; k++, b += vectors * VL) {
            const float *x[maximum_rows];
            NT_UNROLL for (int i = 0; i < rows; i++) x[i] = a + k + i * step;
            gemm_step(x, b, acc, rows, vectors);
        }
    }
    gemm_store(t, acc, rows, vectors);
}

#endif

// One function per number of rows and vectors, and their table.
#if !defined(NT_TILE)
#define NT_TILE(name, R, V) \
    static void name##_##R##_##V(const nt_gemm_tile *t) { gemm_tile(t, R, V); } \
    static void name##_1_##R##_##V(const nt_gemm_tile *t) { gemm_step_tile(t, R, V, 1); } \
    static void name##_2_##R##_##V(const nt_gemm_tile *t) { gemm_step_tile(t, R, V, 2); } \
    static void name##_3_##R##_##V(const nt_gemm_tile *t) { gemm_step_tile(t, R, V, 3); }
#endif
#define NT_ENTRY(name, R, V) name##_##R##_##V,
#define NT_VECTORS_1(X, name, R) X(name, R, 1)
#define NT_VECTORS_2(X, name, R) NT_VECTORS_1(X, name, R) X(name, R, 2)
#define NT_VECTORS_3(X, name, R) NT_VECTORS_2(X, name, R) X(name, R, 3)
#define NT_VECTORS_4(X, name, R) NT_VECTORS_3(X, name, R) X(name, R, 4)
#define NT_ROWS_4(X, name, V) V(X, name, 1) V(X, name, 2) V(X, name, 3) V(X, name, 4)
#define NT_ROWS_6(X, name, V) NT_ROWS_4(X, name, V) V(X, name, 5) V(X, name, 6)
#define NT_ROWS_7(X, name, V) NT_ROWS_6(X, name, V) V(X, name, 7)
#define NT_ROWS_8(X, name, V) NT_ROWS_7(X, name, V) V(X, name, 8)
#define NT_ROWS_9(X, name, V) NT_ROWS_8(X, name, V) V(X, name, 9)
#define NT_ROWS_12(X, name, V) NT_ROWS_9(X, name, V) V(X, name, 10) V(X, name, 11) V(X, name, 12)
#define NT_ROWS_14(X, name, V) NT_ROWS_12(X, name, V) V(X, name, 13) V(X, name, 14)
#define NT_ROWS_24(X, name, V) \
    NT_ROWS_14(X, name, V) V(X, name, 15) V(X, name, 16) V(X, name, 17) V(X, name, 18) V(X, name, 19) V(X, name, 20) V(X, name, 21) \
    V(X, name, 22) V(X, name, 23) V(X, name, 24)
#define NT_ROWS_32(X, name, V) \
    NT_ROWS_24(X, name, V) V(X, name, 25) V(X, name, 26) V(X, name, 27) V(X, name, 28) V(X, name, 29) V(X, name, 30) \
    V(X, name, 31) V(X, name, 32)
#define NT_GEMM_TILES(name, R, V) \
    NT_ROWS_##R(NT_TILE, name, NT_VECTORS_##V) \
    const nt_gemm_tile_fn nt_gemm_tiles_##name[4][R * V] = { \
        {NT_ROWS_##R(NT_ENTRY, name, NT_VECTORS_##V)}, \
        {NT_ROWS_##R(NT_ENTRY, name##_1, NT_VECTORS_##V)}, \
        {NT_ROWS_##R(NT_ENTRY, name##_2, NT_VECTORS_##V)}, \
        {NT_ROWS_##R(NT_ENTRY, name##_3, NT_VECTORS_##V)}};
