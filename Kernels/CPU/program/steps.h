// The functions of program steps: each hands its call to the kernel family that it is named for.
// Parameters are that family's struct; inputs and outputs stand in the order of the comment.
#ifndef NT_STEPS_H
#define NT_STEPS_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

int nt_step_conv(const nt_step_call *call);           ///< nt_conv: x, residual or none -> y
int nt_step_winograd(const nt_step_call *call);       ///< nt_winograd: x, residual or none -> y; scratch
int nt_step_strassen(const nt_step_call *call);       ///< nt_strassen_conv: x, residual or none -> y; scratch
int nt_step_depthwise(const nt_step_call *call);      ///< nt_depthwise_image: x -> y
int nt_step_separable(const nt_step_call *call);      ///< nt_separable: x, residual or none -> y; scratch
int nt_step_stem(const nt_step_call *call);           ///< nt_stem: x -> y; scratch
int nt_step_stem_pool(const nt_step_call *call);      ///< nt_stem_pool: x -> y; scratch
int nt_step_pool(const nt_step_call *call);           ///< nt_pool_image: x -> y
int nt_step_pool_sum(const nt_step_call *call);       ///< nt_pool_sum_image: x -> y
int nt_step_copy(const nt_step_call *call);           ///< nt_copy: x -> y
int nt_step_unary(const nt_step_call *call);          ///< nt_rows: x -> y
int nt_step_broadcast(const nt_step_call *call);      ///< nt_broadcast: a, b -> y
int nt_step_select(const nt_step_call *call);         ///< nt_broadcast: condition, a, b -> y
int nt_step_channels(const nt_step_call *call);       ///< nt_channels: x -> y
int nt_step_softmax(const nt_step_call *call);        ///< nt_axis: x -> y
int nt_step_arg(const nt_step_call *call);            ///< nt_axis: x -> y
int nt_step_topk(const nt_step_call *call);           ///< nt_axis: x -> values, indices; scratch of extent floats
int nt_step_reduce(const nt_step_call *call);         ///< nt_reduce: x -> y
int nt_step_mean_variance(const nt_step_call *call);  ///< nt_reduce: x -> y
int nt_step_l2_normalize(const nt_step_call *call);   ///< nt_reduce: x -> y
int nt_step_lrn(const nt_step_call *call);            ///< nt_lrn: x -> y
int nt_step_gather(const nt_step_call *call);         ///< nt_gather: x, indices -> y; 1 when an index is out of range
int nt_step_gather_elements(const nt_step_call *call);   ///< nt_elements: x, indices -> y; 1 when an index is out of range
int nt_step_gather_slices(const nt_step_call *call);  ///< nt_coordinates: x, indices -> y; likewise
int nt_step_scatter(const nt_step_call *call);        ///< nt_scatter: x, indices, updates -> y; likewise
int nt_step_running_sum(const nt_step_call *call);    ///< nt_running_sum: x -> y
int nt_step_reverse_sequence(const nt_step_call *call);  ///< nt_reverse_sequence: x, lengths -> y; 1 when a length is out of range
int nt_step_crop_resize(const nt_step_call *call);    ///< nt_crop_resize: x, boxes -> y; 1 when an image's index is out of range
int nt_step_pad(const nt_step_call *call);            ///< nt_pad: x -> y
int nt_step_resize(const nt_step_call *call);         ///< nt_tensor_resize: x -> y
int nt_step_matmul(const nt_step_call *call);         ///< nt_matmul: a, b -> y; scratch
int nt_step_convert(const nt_step_call *call);        ///< nt_conversion: x -> y
int nt_step_fill(const nt_step_call *call);           ///< nt_filling: -> y

/// The parameters of nt_step_pool_sum.
typedef struct nt_pool_sum_image {
    const struct nt_pool_kernel *kernel;
    size_t batch, height, width, x_stride, channels, y_stride;
    float scale;
} nt_pool_sum_image;

/// The parameters of nt_step_fill.
typedef struct nt_filling {
    size_t count;
    float value;
} nt_filling;

#ifdef __cplusplus
}
#endif
#endif
