#include "tensor.h"

#include <math.h>

// The place that a whole number picks, from the back when it is negative. Returns 0, or 1 when it lies outside the extent.
static int pick(float value, size_t count, size_t *place) {
    const float extent = (float)count;
    if (!(value >= -extent && value < extent) || value != floorf(value)) return 1;
    *place = value < 0 ? (size_t)((ptrdiff_t)value + (ptrdiff_t)count) : (size_t)value;
    return *place >= count;
}

// The offset of the slice at `depth` coordinates.
static int pick_slice(const nt_coordinates *c, const float *indices, size_t *offset) {
    *offset = 0;
    for (size_t axis = 0; axis < c->depth; axis++) {
        size_t place;
        if (pick(indices[axis], c->extents[axis], &place)) return 1;
        *offset += place * c->strides[axis];
    }
    return 0;
}

int nt_gather_elements_run(const nt_elements *e, const float *x, const float *indices, float *y) {
    for (size_t i = 0; i < e->count; i++) {
        size_t place;
        if (pick(indices[i], e->extent, &place)) return 1;
        y[i] = x[(i / e->run * e->extent + place) * e->inner + i % e->inner];
    }
    return 0;
}

int nt_gather_slices_run(const nt_coordinates *c, const float *x, const float *indices, float *y) {
    for (size_t row = 0; row < c->rows; row++) {
        size_t offset;
        if (pick_slice(c, indices + row * c->depth, &offset)) return 1;
        for (size_t i = 0; i < c->inner; i++) y[row * c->inner + i] = x[offset + i];
    }
    return 0;
}

static float combined(int mode, float before, float update) {
    switch (mode) {
        case NT_SCATTER_ADD: return before + update;
        case NT_SCATTER_SUBTRACT: return before - update;
        case NT_SCATTER_MULTIPLY: return before * update;
        case NT_SCATTER_DIVIDE: return before / update;
        case NT_SCATTER_MAXIMUM: return isnan(before) || isnan(update) ? NAN : fmaxf(before, update);
        case NT_SCATTER_MINIMUM: return isnan(before) || isnan(update) ? NAN : fminf(before, update);
        default: return update;
    }
}

int nt_scatter_run(const nt_scatter *s, const float *x, const float *indices, const float *updates, float *y) {
    for (size_t i = 0; i < s->count; i++) y[i] = x[i];
    if (s->addressing == NT_SCATTER_COORDINATES) {
        const nt_coordinates *c = &s->coordinates;
        for (size_t row = 0; row < c->rows; row++) {
            size_t offset;
            if (pick_slice(c, indices + row * c->depth, &offset)) return 1;
            for (size_t i = 0; i < c->inner; i++)
                y[offset + i] = combined(s->mode, y[offset + i], updates[row * c->inner + i]);
        }
        return 0;
    }
    const nt_elements *e = &s->elements;
    for (size_t i = 0; i < e->count; i++) {
        size_t place;
        const size_t index = s->addressing == NT_SCATTER_SLICES ? i % e->run / e->inner : i;
        if (pick(indices[index], e->extent, &place)) return 1;
        float *target = y + (i / e->run * e->extent + place) * e->inner + i % e->inner;
        *target = combined(s->mode, *target, updates[i]);
    }
    return 0;
}

void nt_running_sum_run(const nt_running_sum *s, const float *x, float *y) {
    for (size_t o = 0; o < s->outer; o++) {
        for (size_t i = 0; i < s->inner; i++) {
            double sum = 0;
            for (size_t k = 0; k < s->extent; k++) {
                const size_t at = (o * s->extent + (s->is_reversed ? s->extent - 1 - k : k)) * s->inner + i;
                const double next = sum + (double)x[at];
                y[at] = (float)(s->is_exclusive ? sum : next);
                sum = next;
            }
        }
    }
}

int nt_reverse_sequence_run(const nt_reverse_sequence *r, const float *x, const float *lengths, float *y) {
    for (size_t i = 0; i < r->batch_extent; i++)
        if (!(lengths[i] >= 0 && lengths[i] <= (float)r->sequence_extent) || lengths[i] != floorf(lengths[i])) return 1;
    for (size_t i = 0; i < r->count; i++) {
        const size_t length = (size_t)lengths[i / r->batch_stride % r->batch_extent];
        const size_t place = i / r->sequence_stride % r->sequence_extent;
        const size_t source = place < length ? length - 1 - place : place;
        y[i] = x[i - place * r->sequence_stride + source * r->sequence_stride];
    }
    return 0;
}

typedef struct {
    size_t low, high;
    float weight;  // of high
} place_between;

// Point `i` of `count` between `first` and `last`, inside 0...limit - 1; NaN counts as 0.
static place_between place(const nt_crop_resize *c, double first, double last, size_t i, size_t count, size_t limit) {
    const double extent = last - first + 1, n = (double)count, point = (double)i, steps = count > 1 ? n - 1 : 1;
    double at;
    switch (c->sampling) {
        case NT_SAMPLE_STRICT_ENDPOINTS: at = point * (extent - 1) / steps; break;
        case NT_SAMPLE_ENDPOINTS: at = count == 1 ? (extent - 1) / 2 : point * (extent - 1) / steps; break;
        case NT_SAMPLE_UPSAMPLE: at = point * (extent - extent / n) / steps; break;
        default: at = (point + 0.5) * (extent - 1 >= 1 ? extent - 1 : 1) / n;
    }
    if ((c->sampling == NT_SAMPLE_UPSAMPLE || c->sampling == NT_SAMPLE_REGIONS) && !(at < extent - 1)) at = extent - 1;
    double source = first + at;
    if (isnan(source)) return (place_between){0, 0, 0};
    if (source < 0) source = 0;
    if (source > (double)(limit - 1)) source = (double)(limit - 1);
    const size_t low = (size_t)source;
    return (place_between){low, low + 1 < limit ? low + 1 : limit - 1, (float)(source - (double)low)};
}

int nt_crop_resize_run(const nt_crop_resize *c, const float *x, const float *boxes, float *y, size_t part, size_t parts) {
    const size_t rows = c->items * c->out_height;
    for (size_t index = rows * part / parts; index < rows * (part + 1) / parts; index++) {
        const size_t item = index / c->out_height, line = index % c->out_height;
        const float *box = boxes + (c->fields == 4 ? item / c->images : item) * c->fields;
        size_t image = item % c->images;
        if (c->fields == 5 && pick(*box++, c->images, &image)) return 1;
        double top = c->height_first ? box[0] : box[1], left = c->height_first ? box[1] : box[0];
        double bottom = c->height_first ? box[2] : box[3], right = c->height_first ? box[3] : box[2];
        if (c->is_centered) {
            const double down = bottom / 2, over = right / 2;
            bottom = top + down, top -= down;
            right = left + over, left -= over;
        }
        const place_between row = place(c, top * c->scale_y, bottom * c->scale_y, line, c->out_height, c->height);
        const float *upper = x + image * c->x_image_stride + row.low * c->x_row_stride;
        const float *lower = x + image * c->x_image_stride + row.high * c->x_row_stride;
        float *target = y + item * c->y_image_stride + line * c->y_row_stride;
        for (size_t column = 0; column < c->out_width; column++) {
            const place_between at = place(c, left * c->scale_x, right * c->scale_x, column, c->out_width, c->width);
            const size_t p = at.low * c->x_column_stride, q = at.high * c->x_column_stride;
            float *pixel = target + column * c->y_column_stride;
            for (size_t channel = 0; channel < c->channels; channel++) {
                const size_t plane = channel * c->x_channel_stride;
                const float above = upper[p + plane] + (upper[q + plane] - upper[p + plane]) * at.weight;
                const float below = lower[p + plane] + (lower[q + plane] - lower[p + plane]) * at.weight;
                pixel[channel * c->y_channel_stride] = above + (below - above) * row.weight;
            }
        }
    }
    return 0;
}
