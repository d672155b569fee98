#include "stem_pool.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// Rows of the ring: those of two output rows, so that the convolution makes several at a time.
static size_t ring_rows(const nt_stem_pool *s) {
    const nt_window *w = &s->pool.window;
    return smaller(w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1, w->in_height);
}

static size_t ring_count(const nt_stem_pool *s) { return ring_rows(s) * s->pool.window.in_width * s->pool.x_stride; }

size_t nt_stem_pool_scratch_count(const nt_stem_pool *s) { return ring_count(s) + nt_stem_scratch_count(&s->stem); }

// Brings the convolution's rows before `last` into the ring, from *filled or `first` on, in runs that do not wrap.
static void fill_ring(
    const nt_stem_pool *s, const float *image, float *scratch, size_t first, size_t last, size_t *filled) {
    const size_t rows = ring_rows(s), row_slots = s->pool.window.in_width * s->pool.x_stride;
    if (*filled < first) *filled = first;
    while (*filled < last) {
        const size_t slot = *filled % rows, count = smaller(last - *filled, rows - slot);
        nt_stem_rows(&s->stem, image, scratch + slot * row_slots, scratch + ring_count(s), *filled, count);
        *filled += count;
    }
}

void nt_stem_pool_run(const nt_stem_pool *s, const float *x, float *y, float *scratch, size_t part, size_t parts) {
    const nt_window *w = &s->pool.window;
    const size_t total = s->pool.batch * w->out_height, end = total * (part + 1) / parts;
    size_t filled = 0, last_image = (size_t)-1;
    for (size_t index = total * part / parts; index < end; index++) {
        const size_t image = index / w->out_height, oy = index % w->out_height;
        if (image != last_image) filled = 0;
        last_image = image;
        size_t tap, tap_end;
        nt_window_taps(oy, w->stride_y, w->pad_top, w->dilation_y, w->kernel_height, w->in_height, &tap, &tap_end);
        if (tap < tap_end) {
            const size_t start = oy * w->stride_y, last = start + (tap_end - 1) * w->dilation_y + 1 - w->pad_top;
            fill_ring(
                s, x + image * nt_stem_image_count(&s->stem), scratch, start < w->pad_top ? 0 : start - w->pad_top, last, &filled);
        }
        nt_pool_image_row(&s->pool, scratch, ring_rows(s), oy, y + index * w->out_width * s->pool.y_stride);
    }
}
