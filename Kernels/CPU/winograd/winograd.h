// Convolution 3 x 3 of stride 1 by Winograd's method, N H W C, images in float32, bfloat16 or float16, all between them in float32.
//
// The output is made of tiles of 4 x 4 pixels. With d the 6 x 6 input pixels that a tile sees, g a channel's weights and the
// matrices of F(4 x 4, 3 x 3) in Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2015), section 4.2:
//
//   U = G g G^T      V = B^T d B      Y = A^T [sum over channels of U .* V] A
//
// so that 36 products of tiles x channels by channels x outputs take the place of 144 for each tile: a quarter of the
// multiplications. The transforms' constants reach 8, and an element's error is larger than that of a plain sum: some 1e-5 of
// the layer's largest value. An infinity or a NaN reaches every pixel of the tiles that see it. Only for callers who allow that.
//
// One call computes a share, `part` of `parts`; a tile's sums run in one order whatever the shares.
#ifndef NT_WINOGRAD_H
#define NT_WINOGRAD_H

#include "../conv/conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NT_WINOGRAD_TILE = 4,       ///< output pixels along a tile's side
    NT_WINOGRAD_PATCH = 6,      ///< input pixels along it
    NT_WINOGRAD_PRODUCTS = 36
};

/// V of one tile: `pixels` holds 36 pointers to the patch's pixels, row by row, `channels` numbers each. Element xi of channel c goes
/// to v[xi * plane + c]; whole groups of 16 channels are written, zeros past the last.
typedef void (*nt_winograd_input_fn)(const float *const *pixels, size_t channels, float *v, size_t plane);

/// One tile of the output from its products, m[xi * plane + j] for `columns` output channels j.
typedef struct nt_winograd_output {
    const float *m;
    size_t plane;
    const float *bias;             ///< `columns` floats, read in groups of 16
    size_t columns;
    size_t height, width;          ///< pixels of the tile inside the output, 1 to 4 each
    float *y;                      ///< the tile's first pixel
    size_t y_stride, y_row;        ///< slots from pixel to pixel and from row to row
    const float *residual;         ///< NULL, or added before the clamp
    size_t residual_stride, residual_row;
    float lo, hi;
} nt_winograd_output;

typedef void (*nt_winograd_output_fn)(const nt_winograd_output *output);

typedef struct nt_winograd_kernel {
    const char *name;
    uint32_t isa;
    int element;                   ///< NT_ELEMENT_ of the images: x, y, residual
    int lanes;
    nt_winograd_input_fn input;
    nt_winograd_output_fn output;
} nt_winograd_kernel;

size_t nt_winograd_kernel_count(void);
const nt_winograd_kernel *nt_winograd_kernel_at(size_t index);

/// The kernel for images of an element type that the instruction sets in `isa` allow: with most lanes, or with the fewest that hold a
/// pixel's channels; NULL when they allow none.
const nt_winograd_kernel *nt_winograd_choose(int element, size_t channels, uint32_t isa);

typedef struct nt_winograd {
    nt_window window;              ///< kernel 3 x 3, strides and dilations 1
    size_t batch, channels, outputs;
    size_t x_stride, y_stride, residual_stride;  ///< slots from pixel to pixel
    const nt_winograd_kernel *kernel;
    const nt_gemm_kernel *gemm;    ///< of float32
    const float *packed;           ///< nt_winograd_pack
    const float *bias;             ///< outputs rounded up to 64, zeros when there is none
    const float *zeros;            ///< a pixel of zeros
    nt_activation activation;
    size_t block_tiles;            ///< tiles whose products stay in cache
} nt_winograd;

/// Floats of packed weights.
size_t nt_winograd_packed_count(const nt_gemm_kernel *gemm, size_t channels, size_t outputs);

/// Floats of scratch that packing needs.
static inline size_t nt_winograd_pack_scratch_count(const nt_gemm_kernel *gemm, size_t channels) {
    return (size_t)NT_WINOGRAD_PRODUCTS * channels * (size_t)(gemm->vectors * gemm->lanes);
}

/// Transforms and packs weights [outputs][channels][3][3]: for each panel of outputs 36 blocks of nt_gemm_pack.
void nt_winograd_pack(
    const nt_gemm_kernel *gemm, size_t channels, size_t outputs, const float *weights, float *scratch, float *packed);

/// A block_tiles for these sizes and a cache of `cache_bytes`.
size_t nt_winograd_block_tiles(const nt_winograd *w, size_t cache_bytes);

/// Floats of scratch that one share needs.
size_t nt_winograd_scratch_count(const nt_winograd *w);

/// Estimated cycles of one core, to be held against nt_gemm_cost of the direct convolution.
double nt_winograd_cost(const nt_winograd *w);

/// Computes share `part` of `parts`. `residual` is NULL or laid out like y with a stride of its own; y may be the residual.
void nt_winograd_run(
    const nt_winograd *w, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
