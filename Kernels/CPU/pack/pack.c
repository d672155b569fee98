#include "pack.h"

#include <string.h>

static void drop(nt_copy *c, int axis) {
    for (int i = axis; i + 1 < c->rank; i++) {
        c->dims[i] = c->dims[i + 1];
        c->from[i] = c->from[i + 1];
        c->to[i] = c->to[i + 1];
    }
    c->rank--;
}

void nt_copy_simplify(nt_copy *c) {
    for (int i = c->rank - 1; i >= 0; i--) {
        if (c->dims[i] == 1) drop(c, i);
    }
    // Insertion sort by descending target stride keeps equal strides in order.
    for (int i = 1; i < c->rank; i++) {
        for (int j = i; j > 0 && c->to[j] > c->to[j - 1]; j--) {
            ptrdiff_t *columns[3] = {c->dims, c->from, c->to};
            for (int k = 0; k < 3; k++) {
                const ptrdiff_t held = columns[k][j];
                columns[k][j] = columns[k][j - 1];
                columns[k][j - 1] = held;
            }
        }
    }
    for (int i = c->rank - 2; i >= 0; i--) {
        if (c->from[i] == c->from[i + 1] * c->dims[i + 1] && c->to[i] == c->to[i + 1] * c->dims[i + 1]) {
            c->dims[i + 1] *= c->dims[i];
            drop(c, i);
        }
    }
}

void nt_transpose(size_t rows, size_t columns, const float *from, size_t from_stride, float *to, size_t to_stride) {
    enum { block = 16 };
    for (size_t i = 0; i < rows; i += block) {
        const size_t height = rows - i < block ? rows - i : block;
        for (size_t j = 0; j < columns; j += block) {
            const size_t width = columns - j < block ? columns - j : block;
            for (size_t b = 0; b < width; b++) {
                const float *source = from + i * from_stride + j + b;
                float *target = to + (j + b) * to_stride + i;
                for (size_t a = 0; a < height; a++) target[a] = source[a * from_stride];
            }
        }
    }
}

static void copy_axis(const nt_copy *c, int axis, const float *from, float *to) {
    const ptrdiff_t n = c->dims[axis], sf = c->from[axis], st = c->to[axis];
    if (axis + 1 == c->rank) {
        if (sf == 1 && st == 1) {
            memcpy(to, from, (size_t)n * sizeof(float));
        } else if (sf == 0 && st == 1) {
            nt_fill((size_t)n, from[0], to);
        } else {
            for (ptrdiff_t i = 0; i < n; i++) to[i * st] = from[i * sf];
        }
        return;
    }
    if (axis + 2 == c->rank && sf == 1 && c->to[axis + 1] == 1 && c->from[axis + 1] > 0) {
        nt_transpose((size_t)c->dims[axis + 1], (size_t)n, from, (size_t)c->from[axis + 1], to, (size_t)st);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++) copy_axis(c, axis + 1, from + i * sf, to + i * st);
}

void nt_copy_run(const nt_copy *c, const float *from, float *to) {
    for (int i = 0; i < c->rank; i++) {
        if (c->dims[i] <= 0) return;
    }
    if (c->rank == 0) to[0] = from[0];
    else copy_axis(c, 0, from, to);
}

void nt_fill(size_t n, float value, float *to) {
    for (size_t i = 0; i < n; i++) to[i] = value;
}
