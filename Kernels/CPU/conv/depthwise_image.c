#include "depthwise_image.h"

void nt_depthwise_image_row(
    const nt_depthwise_image *d, const float *const *rows, size_t first, size_t last, size_t x_stride, float *y,
    size_t y_stride) {
    const nt_window *w = &d->window;
    const size_t padded = nt_depthwise_padded(d->channels);
    const nt_depthwise_row row = {
        .rows = rows, .row_count = last - first, .in_width = w->in_width, .x_stride = x_stride,
        .weights = d->weights + first * w->kernel_width * padded, .weight_stride = padded, .bias = d->bias,
        .channels = d->channels, .kernel_width = w->kernel_width, .stride = w->stride_x, .dilation = w->dilation_x,
        .pad_left = w->pad_left, .y = y, .y_stride = y_stride, .out_width = w->out_width, .lo = d->activation.lo,
        .hi = d->activation.hi};
    d->kernel->run(&row);
    nt_activation_apply(&d->activation, d->kernel->element, w->out_width, d->channels, y, y_stride);
}

void nt_depthwise_image_run(const nt_depthwise_image *d, const float *x, float *y, size_t part, size_t parts) {
    const nt_window *w = &d->window;
    const size_t total = d->batch * w->out_height;
    const float *rows[NT_DEPTHWISE_MAX_HEIGHT];
    for (size_t index = total * part / parts; index < total * (part + 1) / parts; index++) {
        const size_t image = index / w->out_height, oy = index % w->out_height;
        size_t first, last;
        nt_window_taps(oy, w->stride_y, w->pad_top, w->dilation_y, w->kernel_height, w->in_height, &first, &last);
        for (size_t ky = first; ky < last; ky++) {
            const size_t iy = oy * w->stride_y + ky * w->dilation_y - w->pad_top;
            rows[ky - first] = x + (image * w->in_height + iy) * w->in_width * d->x_stride;
        }
        nt_depthwise_image_row(
            d, rows, first, last, d->x_stride, y + index * w->out_width * d->y_stride, d->y_stride);
    }
}
