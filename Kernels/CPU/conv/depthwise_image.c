#include "depthwise_image.h"

size_t nt_depthwise_image_window(const nt_depthwise_image *d, size_t oy, size_t left, ptrdiff_t rows[NT_DEPTHWISE_MAX_ROWS]) {
    const nt_window *w = &d->window;
    // Two rows of a window of 3 x 3 share the loads of what both see.
    const int two = left > 1 && w->kernel_height == 3 && w->kernel_width == 3 && w->dilation_y == 1 && w->dilation_x == 1
        && w->stride_y == w->stride_x && w->stride_y <= 2;
    const size_t count = w->kernel_height + (two ? w->stride_y : 0);
    for (size_t r = 0; r < count; r++) {
        const ptrdiff_t row = (ptrdiff_t)(oy * w->stride_y + r * w->dilation_y) - (ptrdiff_t)w->pad_top;
        rows[r] = row < (ptrdiff_t)w->in_height ? row : -1;
        if (row < 0) rows[r] = -1;
    }
    return two ? 2 : 1;
}

void nt_depthwise_image_rows(
    const nt_depthwise_image *d, const float *const *rows, size_t out_rows, size_t x_stride, float *y, size_t y_stride) {
    const nt_window *w = &d->window;
    const nt_depthwise_rows window = {
        .rows = rows, .out_rows = out_rows, .in_width = w->in_width, .x_stride = x_stride, .weights = d->weights,
        .weight_stride = nt_depthwise_padded(d->channels), .bias = d->bias, .channels = d->channels,
        .kernel_height = w->kernel_height, .kernel_width = w->kernel_width, .stride = w->stride_x, .dilation = w->dilation_x,
        .pad_left = w->pad_left, .y = y, .y_stride = y_stride, .y_row_stride = w->out_width * y_stride,
        .out_width = w->out_width, .lo = d->activation.lo, .hi = d->activation.hi};
    d->kernel->run(&window);
    nt_activation_apply(&d->activation, d->kernel->element, out_rows * w->out_width, d->channels, y, y_stride);
}

void nt_depthwise_image_run(const nt_depthwise_image *d, const float *x, float *y, size_t part, size_t parts) {
    const nt_window *w = &d->window;
    const size_t total = d->batch * w->out_height, end = total * (part + 1) / parts;
    size_t index = total * part / parts;
    while (index < end) {
        const size_t image = index / w->out_height, oy = index % w->out_height, left = w->out_height - oy;
        ptrdiff_t numbers[NT_DEPTHWISE_MAX_ROWS];
        const float *rows[NT_DEPTHWISE_MAX_ROWS];
        const size_t out_rows = nt_depthwise_image_window(d, oy, left < end - index ? left : end - index, numbers);
        for (size_t r = 0; r < w->kernel_height + (out_rows - 1) * w->stride_y; r++) {
            rows[r] = numbers[r] < 0 ? NULL : x + (image * w->in_height + (size_t)numbers[r]) * w->in_width * d->x_stride;
        }
        nt_depthwise_image_rows(d, rows, out_rows, d->x_stride, y + index * w->out_width * d->y_stride, d->y_stride);
        index += out_rows;
    }
}
