#include "separable.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Slots from pixel to pixel of the scratch images: whole cache lines, and no multiple of 4 KiB, which would put the pixels of
// a tile into the same few sets of the first-level cache.
size_t nt_separable_wide_stride(const nt_separable *s) {
    const size_t lines = (nt_slots(s->depthwise.kernel->element, s->depthwise.channels) + 15) / 16 * 16;
    return lines % 256 == 0 ? lines + 16 : lines;
}

static size_t ring_rows(const nt_separable *s) {
    const nt_window *w = &s->depthwise.window;
    return smaller((s->strip_rows - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1, w->in_height);
}

static int has_ring(const nt_separable *s) { return s->has_expansion || s->stem || s->before; }

static size_t ring_count(const nt_separable *s) {
    return has_ring(s) ? ring_rows(s) * s->depthwise.window.in_width * nt_separable_wide_stride(s) : 0;
}

static size_t strip_count(const nt_separable *s) { return s->strip_rows * s->depthwise.window.out_width * nt_separable_wide_stride(s); }

static size_t product_count(const nt_separable *s) {
    return s->project.strassen ? nt_strassen_scratch_count(s->project.strassen) : 0;
}

// In this order: the ring, the strip, the scratch of Strassen's method, that of the stem or the chain before.
size_t nt_separable_scratch_count(const nt_separable *s) {
    const size_t own = ring_count(s) + strip_count(s) + product_count(s);
    return own + (s->stem ? nt_stem_scratch_count(s->stem) : 0) + (s->before ? nt_separable_scratch_count(s->before) : 0);
}

size_t nt_separable_strip_rows(const nt_separable *s, size_t cache_bytes) {
    nt_separable trial = *s;
    for (trial.strip_rows = 1; trial.strip_rows < s->depthwise.window.out_height; trial.strip_rows++) {
        nt_separable next = trial;
        next.strip_rows++;
        if (nt_separable_scratch_count(&next) * sizeof(float) > cache_bytes) break;
    }
    return trial.strip_rows;
}

static void run_pointwise(
    const nt_pointwise *p, size_t pixels, const float *x, size_t x_stride, int y_element, float *y, size_t y_stride,
    const float *residual, size_t residual_stride) {
    const nt_activation *a = &p->activation;
    nt_gemm_run_to(
        y_element, p->kernel, pixels, p->outputs, p->channels, x, x_stride, p->packed, p->bias, y, y_stride, residual,
        residual_stride, a->lo, a->hi);
    nt_activation_apply(a, y_element, pixels, p->outputs, y, y_stride);
}

static void run_rows(
    const nt_separable *s, const float *image, float *y, const float *residual, float *scratch, size_t oy, size_t count, size_t *filled,
    size_t part, size_t parts);

// Brings rows from..<to of an image into their places of the ring, in runs that do not wrap.
static void fill_ring(const nt_separable *s, const float *image, float *ring, size_t from, size_t to, size_t *filled_before) {
    const size_t width = s->depthwise.window.in_width, wide = nt_separable_wide_stride(s), rows = ring_rows(s);
    float *rest = ring + ring_count(s) + strip_count(s) + product_count(s);
    while (from < to) {
        const size_t slot = from % rows, count = smaller(to - from, rows - slot);
        float *target = ring + slot * width * wide;
        if (s->stem) {
            nt_stem_rows(s->stem, image, target, rest, from, count);
        } else if (s->before) {
            run_rows(s->before, image, target, NULL, rest, from, count, filled_before, 0, 1);
        } else {
            run_pointwise(
                &s->expand, count * width, image + from * width * s->x_stride, s->x_stride, s->depthwise.kernel->element, target,
                wide, NULL, 0);
        }
        from += count;
    }
}

// The depthwise stage of output rows oy..<oy + count of one image, after its input rows before `*filled` have been through the ring; behind
// `filled` stand those of the chains before.
static void run_strip(
    const nt_separable *s, const float *image, float *scratch, size_t oy, size_t count, size_t *filled) {
    const nt_depthwise_image *d = &s->depthwise;
    const nt_window *w = &d->window;
    const size_t wide = nt_separable_wide_stride(s), ring_height = ring_rows(s);
    float *ring = scratch, *strip = scratch + ring_count(s);
    const size_t x_stride = has_ring(s) ? wide : s->x_stride;
    if (has_ring(s)) {
        const ptrdiff_t top = (ptrdiff_t)(oy * w->stride_y) - (ptrdiff_t)w->pad_top;
        const ptrdiff_t bottom = top + (ptrdiff_t)((count - 1) * w->stride_y + (w->kernel_height - 1) * w->dilation_y + 1);
        const size_t first = top < 0 ? 0 : (size_t)top;
        const size_t last = bottom < 0 ? 0 : smaller((size_t)bottom, w->in_height);
        if (*filled < first) *filled = first;
        if (*filled < last) {
            fill_ring(s, image, ring, *filled, last, filled + 1);
            *filled = last;
        }
    }
    for (size_t r = 0; r < count;) {
        ptrdiff_t numbers[NT_DEPTHWISE_MAX_ROWS];
        const float *rows[NT_DEPTHWISE_MAX_ROWS];
        const size_t out_rows = nt_depthwise_image_window(d, oy + r, count - r, numbers);
        for (size_t i = 0; i < w->kernel_height + (out_rows - 1) * w->stride_y; i++) {
            const size_t iy = (size_t)numbers[i];
            rows[i] = numbers[i] < 0 ? NULL
                : has_ring(s)        ? ring + iy % ring_height * w->in_width * wide
                                     : image + iy * w->in_width * s->x_stride;
        }
        nt_depthwise_image_rows(d, rows, out_rows, x_stride, strip + r * w->out_width * wide, wide);
        r += out_rows;
    }
}

// The projection of a strip: all of it, or share `part` of `parts` of its columns.
static void project_strip(
    const nt_separable *s, size_t count, float *y, const float *residual, float *scratch, size_t part, size_t parts) {
    const float *strip = scratch + ring_count(s);
    const nt_strassen *strassen = s->project.strassen;
    if (strassen) {
        nt_strassen_run(
            strassen, &s->project.activation, count, strip, nt_separable_wide_stride(s), y, s->y_stride, residual, s->residual_stride,
            scratch + ring_count(s) + strip_count(s), part, parts);
    } else {
        run_pointwise(
            &s->project, count, strip, nt_separable_wide_stride(s), s->y_element, y, s->y_stride, residual, s->residual_stride);
    }
}

// Output rows oy..<oy + count of one image, strip by strip; y and the residual begin at the first of them.
static void run_rows(
    const nt_separable *s, const float *image, float *y, const float *residual, float *scratch, size_t oy, size_t count, size_t *filled,
    size_t part, size_t parts) {
    const size_t width = s->depthwise.window.out_width;
    for (size_t done = 0; done < count; done += s->strip_rows) {
        const size_t rows = smaller(s->strip_rows, count - done), pixel = done * width;
        run_strip(s, image, scratch, oy + done, rows, filled);
        project_strip(
            s, rows * width, y + pixel * s->y_stride, residual ? residual + pixel * s->residual_stride : NULL, scratch, part, parts);
    }
}

static size_t image_slots(const nt_separable *s) {
    if (s->before) return image_slots(s->before);
    return s->stem ? nt_stem_image_count(s->stem) : s->depthwise.window.in_height * s->depthwise.window.in_width * s->x_stride;
}

void nt_separable_run(
    const nt_separable *s, const float *x, float *y, const float *residual, float *scratch, size_t part, size_t parts) {
    const nt_window *w = &s->depthwise.window;
    // Without Strassen's method strips may begin at any row.
    const size_t unit = s->project.strassen ? s->strip_rows : 1, per_image = ceil_div(w->out_height, unit);
    const size_t total = s->depthwise.batch * per_image;
    const size_t columns = s->project.strassen ? nt_strassen_column_parts(s->project.strassen, total, parts) : 1;
    const size_t shares = parts / columns, end = total * (part / columns + 1) / shares;
    size_t index = total * (part / columns) / shares;
    while (index < end) {
        const size_t image = index / per_image, first = index % per_image, units = smaller(per_image - first, end - index);
        const size_t oy = first * unit, pixel = (image * w->out_height + oy) * w->out_width;
        size_t filled[NT_SEPARABLE_MAX_CHAINS] = {0};
        run_rows(
            s, x + image * image_slots(s), y + pixel * s->y_stride, residual ? residual + pixel * s->residual_stride : NULL, scratch, oy,
            smaller(w->out_height - oy, units * unit), filled, part % columns, columns);
        index += units;
    }
}
