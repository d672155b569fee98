#include "tensor.h"

#include <math.h>

// scale^-beta for beta 3/4 and 1/2, which is what networks use, and any other.
static double root_power(double scale, double beta) {
    if (beta == 0.75) {
        const double root = sqrt(scale);
        return 1 / (root * sqrt(root));
    }
    if (beta == 0.5) return 1 / sqrt(scale);
    return pow(scale, -beta);
}

void nt_lrn_run(const nt_lrn *l, const float *x, float *y, size_t part, size_t parts) {
    const size_t before = (l->size - 1) / 2, lanes = l->outer * l->inner;
    for (size_t lane = lanes * part / parts; lane < lanes * (part + 1) / parts; lane++) {
        const size_t start = lane / l->inner * l->outer_stride + lane % l->inner * l->inner_stride;
        for (size_t c = 0; c < l->channels; c++) {
            const size_t first = c > before ? c - before : 0;
            size_t last = c + l->size - before;  // one past the window
            if (last > l->channels) last = l->channels;
            double squares = 0;
            for (size_t j = first; j < last; j++) {
                const double value = x[start + j * l->channel_stride];
                squares += value * value;
            }
            const size_t at = start + c * l->channel_stride;
            const double scale = (double)l->k + (double)l->alpha / (double)l->size * squares;
            y[at] = (float)(x[at] * root_power(scale, l->beta));
        }
    }
}

int nt_gather_run(const nt_gather *g, const float *x, const float *indices, float *y) {
    for (size_t j = 0; j < g->count; j++) {
        const float value = indices[j];
        const float extent = (float)g->extent;
        if (!(value >= -extent && value < extent) || value != floorf(value)) return 1;
        size_t pick = value < 0 ? (size_t)((ptrdiff_t)value + (ptrdiff_t)g->extent) : (size_t)value;
        if (pick >= g->extent) return 1;
        for (size_t o = 0; o < g->outer; o++) {
            const float *from = x + (o * g->extent + pick) * g->inner;
            float *to = y + (o * g->count + j) * g->inner;
            for (size_t i = 0; i < g->inner; i++) to[i] = from[i];
        }
    }
    return 0;
}

static float *pad_axis(const nt_pad *p, int axis, const float *x, int inside, float *y) {
    if (axis == p->rank) {
        *y = inside ? *x : p->filler;
        return y + 1;
    }
    for (size_t i = 0; i < p->dims[axis]; i++) {
        const ptrdiff_t source = p->sources[axis][i];
        y = pad_axis(p, axis + 1, source < 0 ? x : x + source, inside && source >= 0, y);
    }
    return y;
}

void nt_pad_run(const nt_pad *p, const float *x, float *y) { pad_axis(p, 0, x, 1, y); }

void nt_tensor_resize_run(const nt_tensor_resize *r, const float *x, float *y, size_t part, size_t parts) {
    const size_t total = r->outer * r->height;
    for (size_t index = total * part / parts; index < total * (part + 1) / parts; index++) {
        const float *image = x + index / r->height * r->x_outer_stride;
        const nt_resize_tap row = r->rows[index % r->height];
        for (size_t column = 0; column < r->width; column++) {
            const nt_resize_tap tap = r->columns[column];
            float *target = y + (index * r->width + column) * r->y_stride;
            const float *p = image + row.low + tap.low;
            if (r->is_nearest) {
                for (size_t c = 0; c < r->channels; c++) target[c] = p[c];
                continue;
            }
            const float *q = image + row.low + tap.high, *u = image + row.high + tap.low, *v = image + row.high + tap.high;
            for (size_t c = 0; c < r->channels; c++) {
                const float top = p[c] + (q[c] - p[c]) * tap.weight, bottom = u[c] + (v[c] - u[c]) * tap.weight;
                target[c] = top + (bottom - top) * row.weight;
            }
        }
    }
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// A share's scratch: packed B, a bias of zeros, and A row by row when it comes transposed.
size_t nt_matmul_scratch_count(const nt_matmul *m) {
    return round_up(nt_gemm_packed_count(m->kernel, m->n, 1, m->k), 16) + round_up(nt_gemm_bias_count(m->kernel, m->n), 16)
        + (m->transposes_a ? m->m * m->k : 0);
}

void nt_matmul_run(const nt_matmul *m, const float *a, const float *b, float *y, float *scratch, size_t part, size_t parts) {
    float *bias = scratch + round_up(nt_gemm_packed_count(m->kernel, m->n, 1, m->k), 16);
    float *rows = bias + round_up(nt_gemm_bias_count(m->kernel, m->n), 16);
    nt_fill(nt_gemm_bias_count(m->kernel, m->n), 0, bias);
    for (size_t i = m->batch * part / parts; i < m->batch * (part + 1) / parts; i++) {
        const float *left = a + m->a_offsets[i], *right = b + m->b_offsets[i];
        nt_gemm_pack(
            m->kernel, m->n, 1, m->k, right, m->transposes_b ? m->k : 1, 0, m->transposes_b ? 1 : m->n, scratch);
        if (m->transposes_a) {
            nt_transpose(m->k, m->m, left, m->m, rows, m->k);
            left = rows;
        }
        nt_gemm_run(
            m->kernel, m->m, m->n, m->k, left, m->k, scratch, bias, y + i * m->m * m->n, m->n, NULL, 0, -INFINITY, INFINITY);
    }
}
