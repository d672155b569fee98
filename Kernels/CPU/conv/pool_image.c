#include "pool_image.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// How many of a dimension's taps lie before the end of the padded input.
static size_t padded_taps(size_t out, size_t stride, size_t dilation, size_t kernel, size_t padded_extent) {
    const size_t start = out * stride;
    if (start >= padded_extent) return 0;
    return smaller(kernel, (padded_extent - 1 - start) / dilation + 1);
}

void nt_pool_image_run(const nt_pool_image *p, const float *x, float *y, size_t part, size_t parts) {
    const nt_window *w = &p->window;
    const size_t total = p->batch * w->out_height;
    const float *taps[NT_POOL_MAX_TAPS];
    for (size_t index = total * part / parts; index < total * (part + 1) / parts; index++) {
        const size_t image = index / w->out_height, oy = index % w->out_height;
        size_t y_first, y_last;
        nt_window_taps(oy, w->stride_y, w->pad_top, w->dilation_y, w->kernel_height, w->in_height, &y_first, &y_last);
        const size_t y_padded = padded_taps(
            oy, w->stride_y, w->dilation_y, w->kernel_height, w->in_height + w->pad_top + p->pad_bottom);
        for (size_t ox = 0; ox < w->out_width; ox++) {
            size_t x_first, x_last, count = 0;
            nt_window_taps(ox, w->stride_x, w->pad_left, w->dilation_x, w->kernel_width, w->in_width, &x_first, &x_last);
            for (size_t ky = y_first; ky < y_last; ky++) {
                const size_t iy = oy * w->stride_y + ky * w->dilation_y - w->pad_top;
                const float *row = x + (image * w->in_height + iy) * w->in_width * p->x_stride;
                for (size_t kx = x_first; kx < x_last; kx++) {
                    taps[count++] = row + (ox * w->stride_x + kx * w->dilation_x - w->pad_left) * p->x_stride;
                }
            }
            size_t divisor = count;
            if (p->counts_padding) {
                divisor = y_padded * padded_taps(
                    ox, w->stride_x, w->dilation_x, w->kernel_width, w->in_width + w->pad_left + p->pad_right);
            }
            const float scale = divisor ? 1.0f / (float)divisor : 0;
            p->kernel->pixel(
                p->function, taps, count, p->channels, scale, y + (index * w->out_width + ox) * p->y_stride);
        }
    }
}

void nt_pool_image_sum(
    const nt_pool_kernel *kernel, size_t batch, size_t height, size_t width, size_t x_stride, size_t channels, float scale,
    const float *x, float *y, size_t y_stride) {
    for (size_t n = 0; n < batch; n++) {
        kernel->sum(
            x + n * height * width * x_stride, height, width, width * x_stride, x_stride, channels, scale, y + n * y_stride);
    }
}
