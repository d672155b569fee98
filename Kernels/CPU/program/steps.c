#include "steps.h"

#include "../element/conversion.h"
#include "../conv/pool_image.h"
#include "../conv/separable.h"
#include "../conv/stem_pool.h"
#include "../strassen/strassen.h"
#include "../tensor/tensor.h"
#include "../winograd/winograd.h"

#define X call->inputs[0]
#define Y call->outputs[0]
#define SHARE call->part, call->parts

int nt_step_conv(const nt_step_call *call) {
    nt_conv_run(call->parameters, X, Y, call->inputs[1], SHARE);
    return 0;
}

int nt_step_winograd(const nt_step_call *call) {
    nt_winograd_run(call->parameters, X, Y, call->inputs[1], call->scratch, SHARE);
    return 0;
}

int nt_step_strassen(const nt_step_call *call) {
    nt_strassen_conv_run(call->parameters, X, Y, call->inputs[1], call->scratch, SHARE);
    return 0;
}

int nt_step_depthwise(const nt_step_call *call) {
    nt_depthwise_image_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_separable(const nt_step_call *call) {
    nt_separable_run(call->parameters, X, Y, call->inputs[1], call->scratch, SHARE);
    return 0;
}

int nt_step_stem(const nt_step_call *call) {
    nt_stem_run(call->parameters, X, Y, call->scratch, SHARE);
    return 0;
}

int nt_step_stem_pool(const nt_step_call *call) {
    nt_stem_pool_run(call->parameters, X, Y, call->scratch, SHARE);
    return 0;
}

int nt_step_pool(const nt_step_call *call) {
    nt_pool_image_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_pool_sum(const nt_step_call *call) {
    const nt_pool_sum_image *p = call->parameters;
    nt_pool_image_sum(p->kernel, p->batch, p->height, p->width, p->x_stride, p->channels, p->scale, X, Y, p->y_stride);
    return 0;
}

int nt_step_copy(const nt_step_call *call) {
    nt_copy_run(call->parameters, X, Y);
    return 0;
}

int nt_step_unary(const nt_step_call *call) {
    nt_unary_rows(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_broadcast(const nt_step_call *call) {
    nt_broadcast_run(call->parameters, X, call->inputs[1], Y, SHARE);
    return 0;
}

int nt_step_select(const nt_step_call *call) {
    nt_select_run(call->parameters, X, call->inputs[1], call->inputs[2], Y);
    return 0;
}

int nt_step_channels(const nt_step_call *call) {
    nt_channels_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_softmax(const nt_step_call *call) {
    nt_softmax_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_arg(const nt_step_call *call) {
    nt_arg_run(call->parameters, X, Y);
    return 0;
}

int nt_step_topk(const nt_step_call *call) {
    nt_topk_run(call->parameters, X, Y, call->outputs[1], call->scratch);
    return 0;
}

int nt_step_reduce(const nt_step_call *call) {
    nt_reduce_run(call->parameters, X, Y);
    return 0;
}

int nt_step_mean_variance(const nt_step_call *call) {
    nt_mean_variance_run(call->parameters, X, Y);
    return 0;
}

int nt_step_l2_normalize(const nt_step_call *call) {
    nt_l2_normalize_run(call->parameters, X, Y);
    return 0;
}

int nt_step_lrn(const nt_step_call *call) {
    nt_lrn_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_gather(const nt_step_call *call) { return nt_gather_run(call->parameters, X, call->inputs[1], Y); }

int nt_step_gather_elements(const nt_step_call *call) {
    return nt_gather_elements_run(call->parameters, X, call->inputs[1], Y);
}

int nt_step_gather_slices(const nt_step_call *call) { return nt_gather_slices_run(call->parameters, X, call->inputs[1], Y); }

int nt_step_scatter(const nt_step_call *call) {
    return nt_scatter_run(call->parameters, X, call->inputs[1], call->inputs[2], Y);
}

int nt_step_running_sum(const nt_step_call *call) {
    nt_running_sum_run(call->parameters, X, Y);
    return 0;
}

int nt_step_reverse_sequence(const nt_step_call *call) {
    return nt_reverse_sequence_run(call->parameters, X, call->inputs[1], Y);
}

int nt_step_crop_resize(const nt_step_call *call) {
    return nt_crop_resize_run(call->parameters, X, call->inputs[1], Y, SHARE);
}

int nt_step_pad(const nt_step_call *call) {
    nt_pad_run(call->parameters, X, Y);
    return 0;
}

int nt_step_resize(const nt_step_call *call) {
    nt_tensor_resize_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_matmul(const nt_step_call *call) {
    nt_matmul_run(call->parameters, X, call->inputs[1], Y, call->scratch, SHARE);
    return 0;
}

int nt_step_convert(const nt_step_call *call) {
    nt_conversion_run(call->parameters, X, Y, SHARE);
    return 0;
}

int nt_step_fill(const nt_step_call *call) {
    const nt_filling *f = call->parameters;
    nt_fill(f->count, f->value, Y);
    return 0;
}
