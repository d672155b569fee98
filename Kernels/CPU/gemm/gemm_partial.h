// The body of the float16 GEMM micro-kernels, in the primitives of simd/avx512fp16.h or its model. Included by gemm_tile.h.
//
// A multiply-add takes a slot of A, two channels of a pixel, and those of 16 columns of B: lane 2 j sums the even channels of column
// j, lane 2 j + 1 the odd ones, in float16. So slots, packing and loops are those of bfloat16, and A is spread over a vector four bytes
// at a time, which takes a load and nothing else (two bytes would take a shuffle as well). After gemm_chunk slots, 64 channels, these
// partial sums are widened and added to sums in float32, which lie in the first-level cache: 28 vectors of partial sums, those of B
// and the one of A leave no register for them.
//
// Roundings: with terms of both signs a partial sum of 32 is off by some 2^-10.3 of its size, where the rounding of its factors makes 2^-11.8; of
// 16 it would be 2^-10.8, for twice the stores and widenings, which take about a sixth of a chunk's time on paper. The sum of partial
// sums adds nothing to speak of. Range: a column's weights are multiplied by a power of two that brings the largest to at most 31 / 32 of 2^-5 (gemm.c),
// so that 32 terms, roundings included, stay below the largest number of A: partial sums never overflow. `scale` undoes it.

enum { gemm_chunk = 32 };

// What a tile sums up outside registers, tile vector after tile vector: partial sums on their way, and in float32 the even and the odd
// channels of a column side by side, two vectors for each of partial sums.
typedef struct gemm_sums {
    _Alignas(64) float partial[maximum_rows * maximum_vectors * VL];
    _Alignas(64) float whole[maximum_rows * maximum_vectors * 2 * VL];
} gemm_sums;

// Functions of their own, shared by all tiles: little of the time is spent in them.
#define GEMM_SHARED static __attribute__((noinline))

// Adds `count` vectors of partial sums to the whole ones, of which there are none yet when `first`. From memory halves are widened by one
// operation; from a register it would take three.
GEMM_SHARED void gemm_add(gemm_sums *s, size_t count, int first) {
    for (size_t i = 0; i < 2 * count; i++) {
        const vf sum = load_pairs(s->partial + i * (VL / 2), VL / 2);
        float *whole = s->whole + i * VL;
        vstore(whole, first ? sum : sum + vload(whole));
    }
}

// Writes a tile: sums scaled back, bias, residual, clamp.
GEMM_SHARED void gemm_finish(const nt_gemm_tile *t, const gemm_sums *s, size_t rows, size_t vectors) {
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_epi32(even, _mm512_set1_epi32(1));
    const vf lo = vset1(t->lo), hi = vset1(t->hi);
    const int narrow = t->c_element == NT_ELEMENT_FLOAT16;
    for (size_t j = 0; j < vectors; j++) {
        const vf bias = vload(t->bias + j * VL), scale = vload(t->scale + j * VL);
        const size_t lanes = j + 1 < vectors ? VL : t->last_lanes, slots = (lanes + 1) / 2, at = narrow ? j * (VL / 2) : j * VL;
        for (size_t i = 0; i < rows; i++) {
            const float *whole = s->whole + (i * vectors + j) * 2 * VL;
            float *c = t->c + i * t->c_stride + at;
            const vf a = vload(whole), b = vload(whole + VL);
            const vf sum = _mm512_permutex2var_ps(a, even, b) + _mm512_permutex2var_ps(a, odd, b);
            vf v = vfma(sum, scale, bias);
            if (t->residual) {
                const float *r = t->residual + i * t->residual_stride + at;
                v += narrow ? load_pairs(r, slots) : vload_n(r, lanes);
            }
            v = vmax(lo, vmin(hi, v));
            if (narrow) store_pairs(c, v, slots);
            else vstore_n(c, v, lanes);
        }
    }
}

#if defined(NT_MODEL)
#define GEMM_BODY GEMM_SHARED
#else
#define GEMM_BODY VINLINE
#endif

// Rows of A lie where `a` says or, when `step` is not 0, that many slots apart from one pointer a tap.
GEMM_BODY void gemm_partial_tile(const nt_gemm_tile *t, const int rows, const int vectors, const int step) {
    vf acc[maximum_rows][maximum_vectors];
    gemm_sums sums;
    const size_t depth = t->depth, taps = t->taps;
    size_t tap = 0, k = 0;
    int first = 1;
    do {
        // A chunk: the next slots of the taps, in order.
        size_t left = gemm_chunk;
        NT_UNROLL for (int i = 0; i < rows; i++) {
            NT_UNROLL for (int j = 0; j < vectors; j++) acc[i][j] = vset1(0);
        }
        while (tap < taps && left > 0) {
            const float *a[maximum_rows], *b = t->b[tap] + k * (size_t)(vectors * VL);
            if (step) a[0] = t->a[tap];
            else NT_UNROLL for (int i = 0; i < rows; i++) a[i] = t->a[tap * t->pitch + (size_t)i];
            const size_t end = depth - k < left ? depth : k + left;
            left -= end - k;
            for (; k < end; k++, b += vectors * VL) {
                vf column[maximum_vectors];
                NT_UNROLL for (int j = 0; j < vectors; j++) column[j] = vload(b + j * VL);
                NT_UNROLL for (int i = 0; i < rows; i++) {
                    const vf x = vset1(step ? a[0][k + (size_t)(i * step)] : a[i][k]);
                    NT_UNROLL for (int j = 0; j < vectors; j++) acc[i][j] = vfma_pairs(x, column[j], acc[i][j]);
                }
            }
            if (k < depth) continue;
            k = 0;
            tap++;
        }
        NT_UNROLL for (int i = 0; i < rows; i++) {
            NT_UNROLL for (int j = 0; j < vectors; j++) vstore(sums.partial + (i * vectors + j) * VL, acc[i][j]);
        }
        gemm_add(&sums, (size_t)(rows * vectors), first);
        first = 0;
    } while (tap < taps);
    gemm_finish(t, &sums, (size_t)rows, (size_t)vectors);
}

VINLINE void gemm_tile(const nt_gemm_tile *t, const int rows, const int vectors) {
    gemm_prefetch(t, rows, vectors);
    gemm_partial_tile(t, rows, vectors, 0);
}

VINLINE void gemm_step_tile(const nt_gemm_tile *t, const int rows, const int vectors, const int step) {
    gemm_partial_tile(t, rows, vectors, step);
}
