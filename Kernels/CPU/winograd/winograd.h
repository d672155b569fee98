// Convolution 3 x 3 of stride 1 by Winograd's method, N H W C, images in float32, bfloat16 or float16, all between them in float32.
//
// The output is made of tiles of 3 x 3, 4 x 4 or 5 x 5 pixels, whichever is estimated to be the fastest. With d the input pixels that a tile
// sees, its patch, two more along each side, and g a channel's weights (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
// 2015, section 4):
//
//   U = G g G^T      V = B^T d B      Y = A^T [sum over channels of U .* V] A
//
// so that 25, 36 or 49 products of tiles x channels by channels x outputs take the place of 81, 144 or 225 for each tile. The matrices are those
// of the multiplication of polynomials by their values at points. All are powers of two, among which these, in search of the least, gave this
// error (root mean square over that of the results; largest over the largest result), by normal numbers and 64 channels:
//
//   3 x 3   1/2, -1/2, 1, -1, infinity              5e-7   7e-7
//   4 x 4   0, 1, -1, 2, -2, infinity               1.3e-6   4e-6
//   5 x 5   1/4, -1/4, 1, -1, 2, -2, infinity       1.4e-6   4e-6   (2.2e-6 and 6e-6 at 0, 1, -1, 2, -2, 1/2, infinity)
//
// It grows with the root of the channels: some 1e-5 of a layer's largest value, more than a plain sum's. An infinity or a NaN reaches every pixel
// of the tiles that see it. Only for callers who allow that.
//
// One call computes a share, `part` of `parts`; a tile's sums run in one order whatever the shares.
#ifndef NT_WINOGRAD_H
#define NT_WINOGRAD_H

#include "../conv/conv.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NT_WINOGRAD_MAX_PATCH = 7 };  ///< input pixels along the side of any tile's patch, 2 more than those of the tile

/// The patch of one tile and where its transform goes.
typedef struct nt_winograd_input {
    const float *const *rows;      ///< one for each row of the patch: its pixel in column `left`, or zeros
    size_t stride;                 ///< slots from pixel to pixel
    size_t left, right;            ///< columns left..<right of the patch lie in the image, those outside are zeros
    size_t channels;
    float *v;                      ///< element xi of channel c goes to v[xi * plane + c]; zeros fill the last vector
    size_t plane;
} nt_winograd_input;

typedef void (*nt_winograd_input_fn)(const nt_winograd_input *input);

/// One tile of the output from its products, m[xi * plane + j] for `columns` output channels j.
typedef struct nt_winograd_output {
    const float *m;
    size_t plane;
    size_t columns;
    size_t height, width;          ///< pixels of the tile inside the output, at least 1 each
    float *y;                      ///< the tile's first pixel
    size_t y_stride, y_row;        ///< slots from pixel to pixel and from row to row
    const float *residual;         ///< NULL, or added before the clamp
    size_t residual_stride, residual_row;
    float lo, hi;
} nt_winograd_output;

typedef void (*nt_winograd_output_fn)(const nt_winograd_output *output);

/// m = bias + v u for `rows` rows of v, `stride` apart, which hold one vector, zeros past `depth` numbers, and `depth` rows of u of one vector.
typedef void (*nt_winograd_product_fn)(
    size_t rows, size_t depth, const float *v, size_t stride, const float *u, const float *bias, float *m);

typedef struct nt_winograd_kernel {
    const char *name;
    uint32_t isa;
    int element;                   ///< NT_ELEMENT_ of the images: x, y, residual
    int lanes;
    int tile;                      ///< output pixels along a tile's side
    nt_winograd_input_fn input;
    nt_winograd_output_fn output;
    nt_winograd_product_fn product;  ///< of no more channels than lanes
} nt_winograd_kernel;

size_t nt_winograd_kernel_count(void);
const nt_winograd_kernel *nt_winograd_kernel_at(size_t index);

typedef struct nt_winograd {
    nt_window window;              ///< kernel 3 x 3, strides and dilations 1
    size_t batch, channels, outputs;
    size_t x_stride, y_stride, residual_stride;  ///< slots from pixel to pixel
    const nt_winograd_kernel *kernel;
    const nt_gemm_kernel *gemm;    ///< of float32; NULL where the kernel's own product is used
    const float *packed;           ///< nt_winograd_pack
    const float *bias;             ///< outputs rounded up to 64, zeros when there is none
    const float *zeros;            ///< NT_WINOGRAD_MAX_PATCH pixels of zeros, x_stride apart
    nt_activation activation;
    size_t block_tiles;            ///< tiles whose products stay in cache
} nt_winograd;

/// Sets the kernels, of those that `isa` allows, for images of an element type, and block_tiles for a cache of `cache_bytes`, such that the
/// estimated cost is the least. Reads window, batch, channels and outputs. 0 when no kernel is allowed.
int nt_winograd_choose(nt_winograd *w, int element, uint32_t isa, size_t cache_bytes);

/// Sets the product's kernel and block_tiles for the kernel that is set.
void nt_winograd_fit(nt_winograd *w, uint32_t isa, size_t cache_bytes);

/// Output tiles of all images.
size_t nt_winograd_tiles(const nt_winograd *w);

/// How weights are packed: output channels of a panel, and the number to a multiple of which those of the last are filled up.
typedef struct nt_winograd_packing {
    int tile;                      ///< output pixels along a tile's side
    int panel, lanes;
    size_t channels, outputs;
} nt_winograd_packing;

nt_winograd_packing nt_winograd_packing_of(const nt_winograd *w);

/// Floats of packed weights.
size_t nt_winograd_packed_count(const nt_winograd_packing *packing);

/// Transforms and packs weights [outputs][channels][3][3]: [panel][pixel of the patch][channels][outputs of the panel].
void nt_winograd_pack(const nt_winograd_packing *packing, const float *weights, float *packed);

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
