// Operators over whole tensors that are no convolutions: element-wise functions under broadcasting, normalisation, reductions,
// sorting, gathering, resizing, products of matrices. float32; sums that decide accuracy are formed in double.
//
// Shapes are given as the runs that matter: [outer][extent][inner] for functions along an axis, dims and strides for the rest.
// Functions with `part` and `parts` compute a share; the others the whole.
#ifndef NT_TENSOR_H
#define NT_TENSOR_H

#include "../conv/conv.h"
#include "../pack/pack.h"
#include "../softmax/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

/// y = clamp(f(a, b)) under broadcasting: strides of 0 repeat. Innermost last; nt_broadcast_simplify joins what can be joined.
typedef struct nt_broadcast {
    int rank;
    ptrdiff_t dims[NT_COPY_MAX_RANK], y[NT_COPY_MAX_RANK], a[NT_COPY_MAX_RANK], b[NT_COPY_MAX_RANK], c[NT_COPY_MAX_RANK];
    int function;                 ///< NT_BINARY_; unused by nt_select_run
    nt_activation activation;     ///< applied to the result; the result is contiguous along the last dimension
} nt_broadcast;

void nt_broadcast_simplify(nt_broadcast *broadcast);
void nt_broadcast_run(const nt_broadcast *broadcast, const float *a, const float *b, float *y, size_t part, size_t parts);
/// y = condition != 0 ? a : b, with strides c, a, b.
void nt_select_run(const nt_broadcast *broadcast, const float *condition, const float *a, const float *b, float *y);

/// `rows` runs of `count` elements, x_stride and y_stride apart.
typedef struct nt_rows {
    size_t rows, count, x_stride, y_stride;
    int function;                 ///< NT_UNARY_
    float alpha, beta;
    const nt_elementwise_kernel *kernel;
} nt_rows;

void nt_unary_rows(const nt_rows *rows, const float *x, float *y, size_t part, size_t parts);

/// A function per channel. Channels last: rows of `channels` elements. Otherwise [outer][channels][inner], contiguous.
typedef struct nt_channels {
    int channels_last;
    size_t outer, channels, inner;   ///< channels last: outer rows, inner unused
    size_t x_stride, y_stride;       ///< of rows, channels last
    const float *scale, *bias;       ///< PReLU: slopes in scale, bias NULL
    nt_activation activation;
} nt_channels;

void nt_channels_run(const nt_channels *channels, const float *x, float *y, size_t part, size_t parts);

/// Functions along an axis of [outer][extent][inner].
typedef struct nt_axis {
    size_t outer, extent, inner;
    int function;
    size_t k;
    float epsilon;
    const nt_softmax_kernel *softmax;
} nt_axis;

/// `function`: 1 gives the logarithm. Shares are outer runs.
void nt_softmax_run(const nt_axis *axis, const float *x, float *y, size_t part, size_t parts);
/// The index of the largest (function 0) or smallest (1) element, the first of equals. [outer][inner] out.
void nt_arg_run(const nt_axis *axis, const float *x, float *y);
/// The k largest (function 0) or smallest (1) elements in order, equals in order of index: values and indices, [outer][k][inner].
/// `scratch` holds extent floats. NaN counts as neither larger nor smaller.
void nt_topk_run(const nt_axis *axis, const float *x, float *values, float *indices, float *scratch);

enum {
    NT_REDUCE_SUM, NT_REDUCE_MEAN, NT_REDUCE_PRODUCT, NT_REDUCE_MAXIMUM, NT_REDUCE_MINIMUM, NT_REDUCE_L1, NT_REDUCE_L2,
    NT_REDUCE_SUM_SQUARE, NT_REDUCE_LOG_SUM, NT_REDUCE_SUM_LOG, NT_REDUCE_LOG_SUM_EXP
};

/// Combines elements: for each index of the kept dimensions, those of the reduced ones. Strides are x's.
typedef struct nt_reduce {
    int kept_rank, reduced_rank;
    ptrdiff_t kept_dims[NT_COPY_MAX_RANK], kept_strides[NT_COPY_MAX_RANK];
    ptrdiff_t reduced_dims[NT_COPY_MAX_RANK], reduced_strides[NT_COPY_MAX_RANK];
    int function;                 ///< NT_REDUCE_
    float epsilon;                ///< of NT_REDUCE_SUM_LOG, and of the normalisations
    int normalizes_variance, epsilon_outside;
} nt_reduce;

/// y[kept index, row-major]
void nt_reduce_run(const nt_reduce *reduce, const float *x, float *y);
/// (x - mean) / deviation over the reduced dimensions, x's layout.
void nt_mean_variance_run(const nt_reduce *reduce, const float *x, float *y);
/// x / sqrt(sum of squares over the reduced dimensions + epsilon), x's layout.
void nt_l2_normalize_run(const nt_reduce *reduce, const float *x, float *y);

/// x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta.
typedef struct nt_lrn {
    size_t outer, channels, inner;           ///< element (o, c, i) lies at o * outer_stride + c * channel_stride + i * inner_stride
    size_t outer_stride, channel_stride, inner_stride;
    size_t size;
    float alpha, beta, k;
} nt_lrn;

void nt_lrn_run(const nt_lrn *lrn, const float *x, float *y, size_t part, size_t parts);

/// Elements [outer][extent][inner] picked along the axis by `count` indices. Returns 0, or 1 when an index is out of range.
typedef struct nt_gather {
    size_t outer, extent, inner, count;
} nt_gather;

int nt_gather_run(const nt_gather *gather, const float *x, const float *indices, float *y);

/// Elements picked along an axis of [outer][extent][inner] by as many indices, which lie as the result does: [outer][run / inner][inner].
typedef struct nt_elements {
    size_t count, run, extent, inner;
} nt_elements;

/// Slices of `inner` elements picked by `rows` rows of `depth` coordinates.
typedef struct nt_coordinates {
    size_t rows, depth, inner;
    size_t extents[NT_COPY_MAX_RANK], strides[NT_COPY_MAX_RANK];   ///< of the axes that are picked from
} nt_coordinates;

/// Both return 0, or 1 when an index is no whole number in its extent. Negative ones count from the back.
int nt_gather_elements_run(const nt_elements *elements, const float *x, const float *indices, float *y);
int nt_gather_slices_run(const nt_coordinates *coordinates, const float *x, const float *indices, float *y);

enum { NT_SCATTER_SLICES, NT_SCATTER_ELEMENTS, NT_SCATTER_COORDINATES };
enum {
    NT_SCATTER_UPDATE, NT_SCATTER_ADD, NT_SCATTER_SUBTRACT, NT_SCATTER_MULTIPLY, NT_SCATTER_DIVIDE, NT_SCATTER_MAXIMUM,
    NT_SCATTER_MINIMUM
};

/// y = x, then each update in order to the place that its index picks. By slices one index serves `inner` updates of each outer run.
typedef struct nt_scatter {
    int addressing, mode;
    size_t count;                 ///< of x
    nt_elements elements;         ///< of the updates; by slices and by elements
    nt_coordinates coordinates;   ///< by coordinates
} nt_scatter;

int nt_scatter_run(const nt_scatter *scatter, const float *x, const float *indices, const float *updates, float *y);

/// Running sums along the axis of [outer][extent][inner], from the front or the back, the element itself left out or not.
typedef struct nt_running_sum {
    size_t outer, extent, inner;
    int is_exclusive, is_reversed;
} nt_running_sum;

void nt_running_sum_run(const nt_running_sum *sum, const float *x, float *y);

/// For each place of the batch axis, as many elements from the start of the sequence axis reversed as its length says.
/// Returns 1 when a length is no whole number from 0 to the extent.
typedef struct nt_reverse_sequence {
    size_t count, batch_stride, batch_extent, sequence_stride, sequence_extent;
} nt_reverse_sequence;

int nt_reverse_sequence_run(const nt_reverse_sequence *reverse, const float *x, const float *lengths, float *y);

/// Where points lie between a box's first and last row, see `CropResize.Sampling`.
enum { NT_SAMPLE_STRICT_ENDPOINTS, NT_SAMPLE_ENDPOINTS, NT_SAMPLE_UPSAMPLE, NT_SAMPLE_REGIONS };

/// Boxes cut out of images and resized bilinearly. With 4 fields each box is cut out of every image, the box being the slower part of an
/// item's number; with 5 the first is the image's index. Images and result have strides of their own, in floats.
typedef struct nt_crop_resize {
    size_t items, images, channels, height, width, out_height, out_width, fields;
    int sampling, height_first, is_centered;
    double scale_y, scale_x;      ///< from a box's numbers to rows and columns
    size_t x_image_stride, x_channel_stride, x_row_stride, x_column_stride;
    size_t y_image_stride, y_channel_stride, y_row_stride, y_column_stride;
} nt_crop_resize;

/// Returns 1 when an image's index is out of range.
int nt_crop_resize_run(const nt_crop_resize *crop, const float *x, const float *boxes, float *y, size_t part, size_t parts);

/// Pads: for each output place along axis i, sources[i][place] is the input offset it reads, or -1 for `filler`. Row-major output.
typedef struct nt_pad {
    int rank;
    size_t dims[NT_COPY_MAX_RANK];
    const ptrdiff_t *sources[NT_COPY_MAX_RANK];
    float filler;
} nt_pad;

void nt_pad_run(const nt_pad *pad, const float *x, float *y);

/// One tap pair of a resize along one axis.
typedef struct nt_resize_tap {
    size_t low, high;             ///< input offsets, in floats
    float weight;                 ///< of high
} nt_resize_tap;

/// Bilinear or nearest resize: element (outer, y, x, c). Channels are contiguous; planar images have one.
typedef struct nt_tensor_resize {
    size_t outer, height, width, channels;
    size_t x_outer_stride;
    const nt_resize_tap *rows, *columns;
    int is_nearest;
    size_t y_stride;              ///< floats from output pixel to pixel
} nt_tensor_resize;

void nt_tensor_resize_run(const nt_tensor_resize *resize, const float *x, float *y, size_t part, size_t parts);

/// Batched products of row-major or transposed matrices, both known only at run time.
typedef struct nt_matmul {
    size_t batch, m, n, k;
    int transposes_a, transposes_b;
    const size_t *a_offsets, *b_offsets;   ///< of each batch, in floats
    const nt_gemm_kernel *kernel;
} nt_matmul;

size_t nt_matmul_scratch_count(const nt_matmul *matmul);
void nt_matmul_run(const nt_matmul *matmul, const float *a, const float *b, float *y, float *scratch, size_t part, size_t parts);

#ifdef __cplusplus
}
#endif
#endif
