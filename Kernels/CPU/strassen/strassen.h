// Matrix products by Strassen's method, one level, in Winograd's form: seven products of half the extents in place of eight.
//
//   C = clamp(bias + A B (+ residual))        A: m x k,  B: k x n,  C: m x n, row-major, float32
//
// A's rows are halved (the upper half has the odd one), its columns are k / 2 and k / 2, B's columns n / 2 and n / 2:
//
//   S1 = A21 + A22   T1 = B12 - B11    P1 = A11 B11   P5 = S1 T1   U2 = P1 + P6    C11 = P1 + P2
//   S2 = S1 - A11    T2 = B22 - T1     P2 = A12 B21   P6 = S2 T2   U3 = U2 + P7    C12 = U2 + P5 + P3
//   S3 = A11 - A21   T3 = B22 - B12    P3 = S4 B22    P7 = S3 T3                   C21 = U3 - P4
//   S4 = A12 - S2    T4 = T2 - B21     P4 = A22 T4                                 C22 = U3 + P5
//
// (Higham, "Accuracy and Stability of Numerical Algorithms", section 23.1, equation 23.6.) The sums of B are formed once, when weights
// are packed. A missing lower row counts as zeros. An element's error is larger than that of a plain sum, some 1e-6 of the largest value
// that the rows take part in; an infinity or a NaN reaches other elements of its block. Only for callers who allow that.
//
// An element's bits depend on the block of rows that it is computed with, not on how columns are shared.
#ifndef NT_STRASSEN_H
#define NT_STRASSEN_H

#include "../conv/conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_STRASSEN_PRODUCTS = 7 };

/// The sums of A, in four planes: plane i of `s` begins at s + i * plane and holds S(i + 1), `rows` rows of `columns` floats.
typedef struct nt_strassen_inputs {
    size_t rows, lower_rows;       ///< of the halves; lower_rows is rows or one less
    size_t columns;                ///< k / 2
    const float *a;                ///< A11; A12 is `columns` further, A21 `rows` rows
    size_t a_stride;
    float *s;
    size_t s_stride, plane;
} nt_strassen_inputs;

/// The sums of the products: C22 = clamp(u3 + p5 + bias (+ residual)), u2 += p5.
typedef struct nt_strassen_outputs {
    size_t rows, lower_rows;       ///< of u2 and p5; of u3 and C22
    size_t columns;
    float *u2;
    const float *u3, *p5;
    size_t stride;                 ///< of these three
    const float *bias;
    float *c22;
    size_t c_stride;
    const float *residual;         ///< of C22, or NULL
    size_t residual_stride;
    float lo, hi;
} nt_strassen_outputs;

typedef struct nt_strassen_kernel {
    const char *name;
    uint32_t isa;
    int lanes;
    void (*inputs)(const nt_strassen_inputs *);
    void (*outputs)(const nt_strassen_outputs *);
} nt_strassen_kernel;

size_t nt_strassen_kernel_count(void);
const nt_strassen_kernel *nt_strassen_kernel_at(size_t index);

/// The kernel with most lanes that the instruction sets in `isa` allow; there is always one.
const nt_strassen_kernel *nt_strassen_choose(uint32_t isa);

/// A product with weights.
typedef struct nt_strassen {
    size_t depth, outputs;         ///< k and n, both even
    size_t block_rows;             ///< rows of A that are halved together
    int adds_residual;             ///< for the estimate
    const nt_gemm_kernel *gemm;    ///< of float32
    const nt_strassen_kernel *kernel;
    const float *packed;           ///< nt_strassen_pack
    const float *bias;             ///< two halves of outputs / 2, each rounded up to 64; zeros when there is none
} nt_strassen;

/// Floats of packed weights and of one half of the bias.
size_t nt_strassen_packed_count(const nt_gemm_kernel *gemm, size_t depth, size_t outputs);
static inline size_t nt_strassen_bias_stride(size_t outputs) { return (outputs / 2 + 63) / 64 * 64; }

/// Packs weights [outputs][depth]; `scratch` has outputs / 2 * depth / 2 floats.
void nt_strassen_pack(
    const nt_gemm_kernel *gemm, size_t depth, size_t outputs, const float *weights, float *scratch, float *packed);

/// Floats of scratch for one block.
size_t nt_strassen_scratch_count(const nt_strassen *s);

/// Estimated cycles of one core for m rows, to be held against nt_gemm_cost.
double nt_strassen_cost(const nt_strassen *s, size_t m);

/// Bytes that one block touches besides the weights.
size_t nt_strassen_block_bytes(const nt_strassen *s);

/// Into how many shares of columns `parts` shares of `blocks` blocks are split: a divisor of parts.
size_t nt_strassen_column_parts(const nt_strassen *s, size_t blocks, size_t parts);

/// Computes the columns of share `part` of `parts` of m rows, block by block from the first. `residual` is NULL or laid out like C with
/// a stride of its own; C may be the residual.
void nt_strassen_run(
    const nt_strassen *s, const nt_activation *activation, size_t m, const float *a, size_t a_stride, float *c, size_t c_stride,
    const float *residual, size_t residual_stride, float *scratch, size_t part, size_t parts);

/// A pointwise convolution, N H W C; blocks begin anew in each image.
typedef struct nt_strassen_conv {
    nt_strassen product;
    size_t batch, pixels;          ///< images, and pixels of one
    size_t x_stride, y_stride, residual_stride;
    nt_activation activation;
} nt_strassen_conv;

/// Computes share `part` of `parts`.
void nt_strassen_conv_run(
    const nt_strassen_conv *conv, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
