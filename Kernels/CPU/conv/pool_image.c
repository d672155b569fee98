#include "pool_image.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// How many of a dimension's taps lie before the end of the padded input.
static size_t padded_taps(size_t out, size_t stride, size_t dilation, size_t kernel, size_t padded_extent) {
    const size_t start = out * stride;
    if (start >= padded_extent) return 0;
    return smaller(kernel, (padded_extent - 1 - start) / dilation + 1);
}

// Where a row of output pixels reads: the window's rows inside the input, and how many lie inside the padded input.
typedef struct pool_row {
    const float *image;
    size_t ring_rows;
    size_t y_first, y_last, y_padded, oy;
} pool_row;

// Pixels ox..<ox + count, which see the same columns of their windows.
static void run_pixels(const nt_pool_image *p, const pool_row *row, size_t ox, size_t count, float *y) {
    const nt_window *w = &p->window;
    const float *taps[NT_POOL_MAX_TAPS];
    size_t x_first, x_last, tap_count = 0;
    nt_window_taps(ox, w->stride_x, w->pad_left, w->dilation_x, w->kernel_width, w->in_width, &x_first, &x_last);
    for (size_t ky = row->y_first; ky < row->y_last; ky++) {
        const size_t iy = row->oy * w->stride_y + ky * w->dilation_y - w->pad_top;
        const float *line = row->image + iy % row->ring_rows * w->in_width * p->x_stride;
        for (size_t kx = x_first; kx < x_last; kx++)
            taps[tap_count++] = line + (ox * w->stride_x + kx * w->dilation_x - w->pad_left) * p->x_stride;
    }
    size_t divisor = tap_count;
    if (p->counts_padding) {
        divisor = row->y_padded
            * padded_taps(ox, w->stride_x, w->dilation_x, w->kernel_width, w->in_width + w->pad_left + p->pad_right);
    }
    p->kernel->pixels(
        p->function, taps, tap_count, p->channels, divisor ? 1.0f / (float)divisor : 0, count, w->stride_x * p->x_stride,
        y + ox * p->y_stride, p->y_stride);
}

void nt_pool_image_row(const nt_pool_image *p, const float *image, size_t ring_rows, size_t oy, float *y) {
    const nt_window *w = &p->window;
    // Pixels first..<last have their whole window inside the input's columns.
    const size_t reach = (w->kernel_width - 1) * w->dilation_x + 1;
    const size_t first = smaller((w->pad_left + w->stride_x - 1) / w->stride_x, w->out_width);
    size_t last = w->in_width + w->pad_left >= reach ? (w->in_width + w->pad_left - reach) / w->stride_x + 1 : 0;
    last = smaller(last, w->out_width);
    pool_row row = {.image = image, .ring_rows = ring_rows, .oy = oy};
    nt_window_taps(oy, w->stride_y, w->pad_top, w->dilation_y, w->kernel_height, w->in_height, &row.y_first, &row.y_last);
    row.y_padded = padded_taps(oy, w->stride_y, w->dilation_y, w->kernel_height, w->in_height + w->pad_top + p->pad_bottom);
    for (size_t ox = 0; ox < w->out_width;) {
        const size_t count = ox == first && last > first ? last - first : 1;
        run_pixels(p, &row, ox, count, y);
        ox += count;
    }
}

void nt_pool_image_run(const nt_pool_image *p, const float *x, float *y, size_t part, size_t parts) {
    const nt_window *w = &p->window;
    const size_t total = p->batch * w->out_height;
    for (size_t index = total * part / parts; index < total * (part + 1) / parts; index++) {
        nt_pool_image_row(
            p, x + index / w->out_height * w->in_height * w->in_width * p->x_stride, w->in_height, index % w->out_height,
            y + index * w->out_width * p->y_stride);
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
