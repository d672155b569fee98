#include "tensor.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void drop(nt_broadcast *t, int axis) {
    for (int i = axis; i + 1 < t->rank; i++) {
        t->dims[i] = t->dims[i + 1];
        t->y[i] = t->y[i + 1];
        t->a[i] = t->a[i + 1];
        t->b[i] = t->b[i + 1];
        t->c[i] = t->c[i + 1];
    }
    t->rank--;
}

static int joins(const ptrdiff_t *strides, const ptrdiff_t *dims, int i) { return strides[i] == strides[i + 1] * dims[i + 1]; }

void nt_broadcast_simplify(nt_broadcast *t) {
    for (int i = t->rank - 1; i >= 0; i--) {
        if (t->dims[i] == 1) drop(t, i);
    }
    for (int i = t->rank - 2; i >= 0; i--) {
        if (joins(t->y, t->dims, i) && joins(t->a, t->dims, i) && joins(t->b, t->dims, i) && joins(t->c, t->dims, i)) {
            t->dims[i + 1] *= t->dims[i];
            drop(t, i);
        }
    }
}

// `n` elements from strided memory: in place when the stride is 0 or 1, else gathered.
static const float *operand(const float *p, ptrdiff_t stride, size_t n, float *buffer, size_t *step) {
    *step = stride == 0 ? 0 : 1;
    if (stride == 0 || stride == 1) return p;
    for (size_t i = 0; i < n; i++) buffer[i] = p[(ptrdiff_t)i * stride];
    return buffer;
}

static void inner(const nt_broadcast *t, const float *a, const float *b, float *y, size_t n, ptrdiff_t sa, ptrdiff_t sb, ptrdiff_t sy) {
    enum { block = 256 };
    float left[block], right[block], result[block];
    const nt_activation *act = &t->activation;
    const int direct = sy == 1 && (sa == 0 || sa == 1) && (sb == 0 || sb == 1);
    for (size_t i = 0; i < n;) {
        const size_t count = direct ? n : smaller(block, n - i);
        size_t step_a, step_b;
        const float *p = operand(a + (ptrdiff_t)i * sa, sa, count, left, &step_a);
        const float *q = operand(b + (ptrdiff_t)i * sb, sb, count, right, &step_b);
        float *target = sy == 1 ? y + i : result;
        act->elementwise->binary(t->function, count, p, step_a, q, step_b, act->lo, act->hi, target);
        if (act->function >= 0) act->elementwise->unary(act->function, count, target, act->alpha, act->beta, target);
        if (sy != 1) {
            for (size_t j = 0; j < count; j++) y[(ptrdiff_t)(i + j) * sy] = result[j];
        }
        i += count;
    }
}

static void walk(const nt_broadcast *t, int axis, const float *a, const float *b, float *y, ptrdiff_t from, ptrdiff_t to) {
    a += from * t->a[axis];
    b += from * t->b[axis];
    y += from * t->y[axis];
    if (axis + 1 == t->rank) {
        inner(t, a, b, y, (size_t)(to - from), t->a[axis], t->b[axis], t->y[axis]);
        return;
    }
    for (ptrdiff_t i = from; i < to; i++, a += t->a[axis], b += t->b[axis], y += t->y[axis]) {
        walk(t, axis + 1, a, b, y, 0, t->dims[axis + 1]);
    }
}

void nt_broadcast_run(const nt_broadcast *t, const float *a, const float *b, float *y, size_t part, size_t parts) {
    for (int i = 0; i < t->rank; i++) {
        if (t->dims[i] <= 0) return;
    }
    if (t->rank == 0) {
        if (part == 0) inner(t, a, b, y, 1, 1, 1, 1);
        return;
    }
    const size_t n = (size_t)t->dims[0];
    const size_t from = n * part / parts, to = n * (part + 1) / parts;
    if (from < to) walk(t, 0, a, b, y, (ptrdiff_t)from, (ptrdiff_t)to);
}

static void select_axis(const nt_broadcast *t, int axis, const float *c, const float *a, const float *b, float *y) {
    for (ptrdiff_t i = 0; i < t->dims[axis]; i++, c += t->c[axis], a += t->a[axis], b += t->b[axis], y += t->y[axis]) {
        if (axis + 1 == t->rank) *y = *c != 0 ? *a : *b;
        else select_axis(t, axis + 1, c, a, b, y);
    }
}

void nt_select_run(const nt_broadcast *t, const float *c, const float *a, const float *b, float *y) {
    if (t->rank == 0) *y = *c != 0 ? *a : *b;
    else select_axis(t, 0, c, a, b, y);
}

void nt_unary_rows(const nt_rows *r, const float *x, float *y, size_t part, size_t parts) {
    if (r->rows == 1) {
        const size_t from = r->count * part / parts, to = r->count * (part + 1) / parts;
        r->kernel->unary(r->function, to - from, x + from, r->alpha, r->beta, y + from);
        return;
    }
    for (size_t i = r->rows * part / parts; i < r->rows * (part + 1) / parts; i++) {
        r->kernel->unary(r->function, r->count, x + i * r->x_stride, r->alpha, r->beta, y + i * r->y_stride);
    }
}

static void channel_run(const nt_channels *c, const float *x, const float *scale, const float *bias, size_t step, size_t n, float *y) {
    const nt_activation *a = &c->activation;
    if (bias) a->elementwise->affine(n, x, scale, bias, step, a->lo, a->hi, y);
    else a->elementwise->prelu(n, x, scale, step, y);
    if (a->function >= 0) a->elementwise->unary(a->function, n, y, a->alpha, a->beta, y);
}

void nt_channels_run(const nt_channels *c, const float *x, float *y, size_t part, size_t parts) {
    if (c->channels_last) {
        for (size_t i = c->outer * part / parts; i < c->outer * (part + 1) / parts; i++) {
            channel_run(c, x + i * c->x_stride, c->scale, c->bias, 1, c->channels, y + i * c->y_stride);
        }
        return;
    }
    const size_t runs = c->outer * c->channels;
    for (size_t i = runs * part / parts; i < runs * (part + 1) / parts; i++) {
        const size_t channel = i % c->channels;
        channel_run(
            c, x + i * c->inner, c->scale + channel, c->bias ? c->bias + channel : NULL, 0, c->inner, y + i * c->inner);
    }
}
