// Matrix products and convolutions as sums of matrix products, float32, or bfloat16 or float16 with float32 sums.
//
//   C[i][j] = clamp(bias[j] + sum over t, k of a[t][i][k] * b[t][k][j] (+ residual[i][j]), lo, hi)
//
// A row of the result is a pixel (N H W flattened), a column an output channel, t a tap of the convolution's window (one for
// a plain product), k an input channel. Rows of A are read where they lie, through one pointer per row and tap; padding is a
// pointer to zeros, or a tap left out. B is packed once, by `nt_gemm_pack`:
//
//   panel 0                panel 1               last panel
//   [tap 0: depth x NR]    [tap 0: depth x NR]   [tap 0: depth x W]     NR = vectors * lanes of the kernel,
//   [tap 1: depth x NR]    ...                   ...                    W = the columns left, rounded up to lanes, zero-filled
//   float16: [NR scales]   ...                   [W scales]
//
// The sum of one element runs over t, then k, in order, whatever the tile: results do not depend on how work is split. AMX's kernels sum
// 16 slots of a tap (fewer at its end), lower and upper numbers apart, before these join the sum.
// A NaN stays a NaN through the clamp. C may be the residual itself; nothing else may overlap C. A is never read past `depth`,
// C never written past its columns; packed B and bias are read in whole vectors.
//
// A kernel of NT_ELEMENT_BFLOAT16 takes A and B in slots of two (element/element.h): `depth`, strides and the columns of packed B
// are then counted in slots, k runs over pairs of channels, and C and the residual are bfloat16 or float32 as the call says.
// Bias, sums and clamp are float32; a product's two terms are added as VDPBF16PS adds them.
//
// NT_ELEMENT_FLOAT16 is the same, but for partial sums of at most 32 products, each of every other channel, in float16 (gemm_partial.h).
// Packed weights are scaled by a power of two for each column so that these never exceed the largest number of A; the scales, by which
// sums are multiplied, stand behind each panel. With n = taps x channels terms a sum is within
//
//   2^-11 * 34 max|a| sum|b| + 2^-19 n (1 + max|a|) max|b|                max|b|: of the column's weights; rounding of A not counted
//
// of the exact one at worst; roundings of both signs leave some 2^-10 of sqrt(sum (a b)^2). A result in float16 is rounded once more, and
// infinite from 65520 on.
#ifndef NT_GEMM_H
#define NT_GEMM_H

#include "../element/element.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NT_GEMM_MAX_ROWS = 32,     ///< of any kernel's tile
    NT_GEMM_MAX_COLUMNS = 64,
    NT_GEMM_STEPS = 3,
};

/// The arguments of one micro-kernel call: one tile of the result.
typedef struct nt_gemm_tile {
    const float *const *a;    ///< taps x pitch pointers to rows of `depth` slots
    size_t pitch;             ///< pointers from one tap to the next
    const float *const *b;    ///< taps pointers to depth x (vectors * lanes) packed slots, aligned to 64 bytes
    size_t taps;
    size_t depth;
    const float *bias;        ///< vectors * lanes floats
    const float *scale;       ///< of float16: vectors * lanes floats, what sums are multiplied by; not read by others
    float *c;
    size_t c_stride;          ///< slots from row to row
    const float *residual;    ///< NULL, or laid out like C with a stride of its own
    size_t residual_stride;
    const float *addend;      ///< a second residual, of float32 kernels; not read by others
    size_t addend_stride;
    size_t last_lanes;        ///< columns in the last vector, 1 to lanes
    float lo, hi;
    int c_element;            ///< of C and the residual: NT_ELEMENT_; float32 kernels know float32 alone
} nt_gemm_tile;

typedef void (*nt_gemm_tile_fn)(const nt_gemm_tile *tile);

/// A family of micro-kernels of one instruction set: one function for each number of rows and of vectors up to the tile's.
typedef struct nt_gemm_kernel {
    const char *name;             ///< `avx512 14x32`
    uint32_t isa;                 ///< NT_ISA_ bits it needs
    int element;                  ///< NT_ELEMENT_ of A and B
    int rows;                     ///< MR
    int vectors;                  ///< NR / lanes
    int lanes;
    /// [rows][vectors]: tiles[(r - 1) * vectors + (v - 1)] computes r rows of v vectors.
    const nt_gemm_tile_fn *tiles;
    /// The same for rows that lie 1, 2 or 3 slots apart: windows sliding over a plane. `a` has one pointer a tap, `pitch` is unused.
    const nt_gemm_tile_fn *step_tiles[NT_GEMM_STEPS];
} nt_gemm_kernel;

/// All kernels, whether this processor runs them or not.
size_t nt_gemm_kernel_count(void);
const nt_gemm_kernel *nt_gemm_kernel_at(size_t index);

/// The kernel of an element type with the least estimated cost for a product of m x n x k (k in slots) that the instruction sets in
/// `isa` allow; NULL when they allow none. The estimate is a function of tile waste and of loads per multiply-add, not of the list's order.
const nt_gemm_kernel *nt_gemm_choose_element(int element, size_t m, size_t n, size_t k, uint32_t isa);

/// The same for a depth that comes in taps, of which a kernel may be able to sum only one at a time.
const nt_gemm_kernel *nt_gemm_choose_taps(int element, size_t m, size_t n, size_t taps, size_t depth, uint32_t isa);

/// The same for `width` pixels of an image's row, read from a plane through `step_tiles`.
const nt_gemm_kernel *nt_gemm_choose_steps(int element, size_t width, size_t n, size_t taps, size_t depth, uint32_t isa);

/// The same for float32, of which there is always one.
const nt_gemm_kernel *nt_gemm_choose(size_t m, size_t n, size_t k, uint32_t isa);

/// The estimate behind `nt_gemm_choose`, in cycles of one core; k in slots.
double nt_gemm_cost(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k);
double nt_gemm_cost_taps(const nt_gemm_kernel *kernel, size_t m, size_t n, size_t taps, size_t depth);
double nt_gemm_cost_steps(const nt_gemm_kernel *kernel, size_t width, size_t n, size_t taps, size_t depth);

/// Slots of a tap that the kernel sums before they join the sum: 16 with AMX, else 1.
size_t nt_gemm_chunk(const nt_gemm_kernel *kernel);

/// Calls of `tiles` and `step_tiles` stand between these two, which give this thread the registers they take and free them.
/// `nt_gemm_run` and what is built on tiles (convolutions) do it themselves. They do not nest.
void nt_gemm_begin(const nt_gemm_kernel *kernel);
void nt_gemm_end(const nt_gemm_kernel *kernel);

/// Slots that a column of packed B takes: its weights and, in float16, its scale; `depth` in slots.
static inline size_t nt_gemm_column_slots(const nt_gemm_kernel *kernel, size_t taps, size_t depth) {
    return taps * depth + (kernel->element == NT_ELEMENT_FLOAT16 ? 1 : 0);
}

/// Slots of packed B for n columns of taps times `depth` channels.
size_t nt_gemm_packed_count(const nt_gemm_kernel *kernel, size_t n, size_t taps, size_t depth);

/// Floats of a packed bias: n rounded up to lanes.
size_t nt_gemm_bias_count(const nt_gemm_kernel *kernel, size_t n);

/// Packs b, float32, into `packed` (aligned to 64 bytes) as the kernel's element. The weight of column j, tap t, channel k is
/// b[j * column_stride + t * tap_stride + k * depth_stride]. A missing upper channel of a slot is zero.
void nt_gemm_pack(
    const nt_gemm_kernel *kernel, size_t n, size_t taps, size_t depth, const float *b, size_t column_stride,
    size_t tap_stride, size_t depth_stride, float *packed);

/// Where panel `panel` of packed B begins; `depth` in slots.
static inline size_t nt_gemm_panel_offset(const nt_gemm_kernel *kernel, size_t panel, size_t taps, size_t depth) {
    return panel * (size_t)(kernel->vectors * kernel->lanes) * nt_gemm_column_slots(kernel, taps, depth);
}

/// A plain product of row-major matrices through one kernel: A is m x k with stride a_stride, B packed (one tap), C m x n; k and
/// strides in slots. Reads and writes as the contract above says. Single-threaded.
void nt_gemm_run_to(
    int c_element, const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride,
    const float *packed, const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, float lo,
    float hi);

/// The same with C in float32.
void nt_gemm_run(
    const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride, const float *packed,
    const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, float lo, float hi);

/// The same with two residuals, of a float32 kernel; either may be NULL.
void nt_gemm_run_added(
    const nt_gemm_kernel *kernel, size_t m, size_t n, size_t k, const float *a, size_t a_stride, const float *packed,
    const float *bias, float *c, size_t c_stride, const float *residual, size_t residual_stride, const float *addend,
    size_t addend_stride, float lo, float hi);

#ifdef __cplusplus
}
#endif
#endif
