#include "bfloat16.h"

void nt_conversion_run(const nt_conversion *c, const float *x, float *y, size_t part, size_t parts) {
    const size_t end = c->rows * (part + 1) / parts;
    for (size_t row = c->rows * part / parts; row < end; row++) {
        if (c->to_bfloat16) nt_row_to_bfloat16(c->count, x + row * c->x_stride, y + row * c->y_stride);
        else nt_row_from_bfloat16(c->count, x + row * c->x_stride, y + row * c->y_stride);
    }
}
