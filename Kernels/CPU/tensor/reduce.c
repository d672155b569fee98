#include "tensor.h"

#include <math.h>

void nt_softmax_run(const nt_axis *a, const float *x, float *y, size_t part, size_t parts) {
    const size_t from = a->outer * part / parts, to = a->outer * (part + 1) / parts, run = a->extent * a->inner;
    a->softmax->run(to - from, a->extent, a->inner, a->function, x + from * run, y + from * run);
}

void nt_arg_run(const nt_axis *a, const float *x, float *y) {
    for (size_t o = 0; o < a->outer; o++) {
        for (size_t i = 0; i < a->inner; i++) {
            const float *lane = x + o * a->extent * a->inner + i;
            size_t best = 0;
            for (size_t k = 1; k < a->extent; k++) {
                const float value = lane[k * a->inner], current = lane[best * a->inner];
                if (a->function ? value < current : value > current) best = k;
            }
            y[o * a->inner + i] = (float)best;
        }
    }
}

// Whether element p stands before element q in the order wanted. The index settles equals, so the order is total but for NaN.
static int precedes(const float *lane, size_t stride, int smallest, size_t p, size_t q) {
    const float a = lane[p * stride], b = lane[q * stride];
    if (a == b) return p < q;
    return smallest ? a < b : a > b;
}

void nt_topk_run(const nt_axis *a, const float *x, float *values, float *indices, float *scratch) {
    uint32_t *heap = (uint32_t *)scratch;
    for (size_t o = 0; o < a->outer; o++) {
        for (size_t i = 0; i < a->inner; i++) {
            const float *lane = x + o * a->extent * a->inner + i;
            // The k best so far in order; each newcomer that belongs among them is inserted.
            size_t held = 0;
            for (size_t e = 0; e < a->extent; e++) {
                if (held == a->k && !precedes(lane, a->inner, a->function, e, heap[held - 1])) continue;
                size_t at = held < a->k ? held++ : held - 1;
                while (at > 0 && precedes(lane, a->inner, a->function, e, heap[at - 1])) {
                    heap[at] = heap[at - 1];
                    at--;
                }
                heap[at] = (uint32_t)e;
            }
            for (size_t place = 0; place < a->k; place++) {
                const size_t target = (o * a->k + place) * a->inner + i;
                values[target] = lane[heap[place] * a->inner];
                indices[target] = (float)heap[place];
            }
        }
    }
}

// Advances a row-major index over dims and the offset under strides; false after the last.
static int advance(int rank, const ptrdiff_t *dims, const ptrdiff_t *strides, ptrdiff_t *index, ptrdiff_t *offset) {
    for (int axis = rank - 1; axis >= 0; axis--) {
        *offset += strides[axis];
        if (++index[axis] < dims[axis]) return 1;
        *offset -= strides[axis] * dims[axis];
        index[axis] = 0;
    }
    return 0;
}

static int is_empty(int rank, const ptrdiff_t *dims) {
    for (int i = 0; i < rank; i++) {
        if (dims[i] <= 0) return 1;
    }
    return 0;
}

static double combine(int function, double total, double value, double epsilon, double largest) {
    switch (function) {
    case NT_REDUCE_PRODUCT: return total * value;
    case NT_REDUCE_MAXIMUM: return value > total || isnan(value) ? value : total;
    case NT_REDUCE_MINIMUM: return value < total || isnan(value) ? value : total;
    case NT_REDUCE_L1: return total + fabs(value);
    case NT_REDUCE_L2:
    case NT_REDUCE_SUM_SQUARE: return total + value * value;
    case NT_REDUCE_SUM_LOG: return total + log(value + epsilon);
    case NT_REDUCE_LOG_SUM_EXP: return total + exp(value - largest);
    default: return total + value;
    }
}

static double initial(int function) {
    switch (function) {
    case NT_REDUCE_PRODUCT: return 1;
    case NT_REDUCE_MAXIMUM: return -INFINITY;
    case NT_REDUCE_MINIMUM: return INFINITY;
    default: return 0;
    }
}

// Combines the reduced dimensions seen from x; `count` counts the elements.
static double fold(const nt_reduce *r, int function, const float *x, double largest, double *count) {
    double total = initial(function), elements = 0;
    if (!is_empty(r->reduced_rank, r->reduced_dims)) {
        ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
        do {
            total = combine(function, total, x[offset], r->epsilon, largest);
            elements++;
        } while (advance(r->reduced_rank, r->reduced_dims, r->reduced_strides, index, &offset));
    }
    *count = elements;
    return total;
}

void nt_reduce_run(const nt_reduce *r, const float *x, float *y) {
    if (is_empty(r->kept_rank, r->kept_dims)) return;
    ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
    do {
        double count, largest = 0;
        if (r->function == NT_REDUCE_LOG_SUM_EXP) largest = fold(r, NT_REDUCE_MAXIMUM, x + offset, 0, &count);
        double total = fold(r, r->function, x + offset, largest, &count);
        switch (r->function) {
        case NT_REDUCE_MEAN: total /= count; break;
        case NT_REDUCE_L2: total = sqrt(total); break;
        case NT_REDUCE_LOG_SUM: total = log(total); break;
        case NT_REDUCE_LOG_SUM_EXP: total = log(total) + largest; break;
        default: break;
        }
        *y++ = (float)total;
    } while (advance(r->kept_rank, r->kept_dims, r->kept_strides, index, &offset));
}

static void scale_lane(const nt_reduce *r, const float *x, float *y, double mean, double divisor) {
    ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
    do {
        y[offset] = (float)((x[offset] - mean) / divisor);
    } while (advance(r->reduced_rank, r->reduced_dims, r->reduced_strides, index, &offset));
}

static double squared_deviation(const nt_reduce *r, const float *x, double mean) {
    double total = 0;
    ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
    do {
        const double difference = x[offset] - mean;
        total += difference * difference;
    } while (advance(r->reduced_rank, r->reduced_dims, r->reduced_strides, index, &offset));
    return total;
}

void nt_mean_variance_run(const nt_reduce *r, const float *x, float *y) {
    if (is_empty(r->kept_rank, r->kept_dims) || is_empty(r->reduced_rank, r->reduced_dims)) return;
    ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
    do {
        double count;
        const double mean = fold(r, NT_REDUCE_SUM, x + offset, 0, &count) / count;
        double divisor = 1;
        if (r->normalizes_variance) {
            const double variance = squared_deviation(r, x + offset, mean) / count;
            divisor = r->epsilon_outside ? sqrt(variance) + r->epsilon : sqrt(variance + r->epsilon);
        }
        scale_lane(r, x + offset, y + offset, mean, divisor);
    } while (advance(r->kept_rank, r->kept_dims, r->kept_strides, index, &offset));
}

void nt_l2_normalize_run(const nt_reduce *r, const float *x, float *y) {
    if (is_empty(r->kept_rank, r->kept_dims) || is_empty(r->reduced_rank, r->reduced_dims)) return;
    ptrdiff_t index[NT_COPY_MAX_RANK] = {0}, offset = 0;
    do {
        double count;
        const double squares = fold(r, NT_REDUCE_SUM_SQUARE, x + offset, 0, &count);
        scale_lane(r, x + offset, y + offset, 0, sqrt(squares + r->epsilon));
    } while (advance(r->kept_rank, r->kept_dims, r->kept_strides, index, &offset));
}
