// Operators that combine elements of a lane: reductions, softmax, normalisations over axes.
//
// A lane is what the reduced axes span at one place of the kept axes. meta holds three numbers per axis, kept axes first, then the reduced:
// extent, stride of x, stride of y. The last reduced axis is the inner one of `inner` elements; `outer` is the product of the others.
// GROUP work-items share a lane, see `groups.cl`; with GROUP 1 an item does a lane alone.
// Long sums are taken in blocks whose totals are added with compensation (Kahan), so that they keep their digits.
#if GROUP == 1
#define LANE_BEGIN() \
    int lane = ITEM(0), member = 0; \
    if (lane >= lanes) return;
#else
#define LANE_BEGIN() \
    GROUP_MEMORY(1) \
    int lane = (int)get_group_id(0), member = MEMBER;
#endif

#define LANE_BASES() \
    int baseX = offsetX, baseY = offsetY; \
    for (int axis = keptRank - 1, rest = lane; axis >= 0; axis--) { \
        int next = rest / meta[3 * axis], place = rest - next * meta[3 * axis]; \
        rest = next; \
        baseX += place * meta[3 * axis + 1]; \
        baseY += place * meta[3 * axis + 2]; \
    }

// Runs the body for this item's elements, with atX, atY their places and `element` their row-major index in the lane.
#define LANE_EACH(body) \
    for (int o = 0; o < outer; o++) { \
        int rowX = baseX, rowY = baseY; \
        for (int axis = keptRank + reducedRank - 2, rest = o; axis >= keptRank; axis--) { \
            int next = rest / meta[3 * axis], place = rest - next * meta[3 * axis]; \
            rest = next; \
            rowX += place * meta[3 * axis + 1]; \
            rowY += place * meta[3 * axis + 2]; \
        } \
        for (int j = member; j < inner; j += GROUP) { \
            int atX = rowX + j * stepX, atY = rowY + j * stepY, element = o * inner + j; \
            (void)atX; (void)atY; (void)element; \
            body \
        } \
    }

// A sum in blocks of 64, the blocks' totals compensated.
typedef struct { float total, lost, block; int count; } nt_sum;
void nt_sum_flush(private nt_sum *s)
{
    float add = s->block - s->lost, next = s->total + add;
    s->lost = isfinite(next) ? (next - s->total) - add : 0.0f;
    s->total = next;
    s->block = 0.0f;
    s->count = 0;
}
void nt_sum_add(private nt_sum *s, float value)
{
    s->block += value;
    if (++s->count == 64) nt_sum_flush(s);
}
float nt_sum_value(private nt_sum *s)
{
    nt_sum_flush(s);
    return s->total;
}

float nt_larger(float a, float b) { return a != a ? a : (b > a || b != b ? b : a); }
float nt_smaller(float a, float b) { return a != a ? a : (b < a || b != b ? b : a); }

#define ARGUMENTS \
    global const X_T *x, global OUT_T *y, global const int *meta, int lanes, int keptRank, int reducedRank, int outer, \
    int inner, int stepX, int stepY, int offsetX, int offsetY, float parameter, int count

#if defined(LANES_REDUCE)
// One of REDUCE_SUM, _MEAN, _PRODUCT, _MAXIMUM, _MINIMUM, _L1, _L2, _SUM_SQUARE, _LOG_SUM, _SUM_LOG, _LOG_SUM_EXP.
NT_GROUP_KERNEL nt_reduce(NT_ITEM ARGUMENTS)
{
    LANE_BEGIN()
    LANE_BASES()
#if defined(REDUCE_PRODUCT)
    float total = 1.0f;
    LANE_EACH(total *= LOAD(X_T, x, atX);)
    SHARE(total, a * b)
#elif defined(REDUCE_MAXIMUM)
    float total = -INFINITY;
    LANE_EACH(total = nt_larger(total, LOAD(X_T, x, atX));)
    SHARE(total, nt_larger(a, b))
#elif defined(REDUCE_MINIMUM)
    float total = INFINITY;
    LANE_EACH(total = nt_smaller(total, LOAD(X_T, x, atX));)
    SHARE(total, nt_smaller(a, b))
#else
    float largest = 0.0f;
#if defined(REDUCE_LOG_SUM_EXP)
    largest = -INFINITY;
    LANE_EACH(largest = fmax(largest, LOAD(X_T, x, atX));)
    SHARE(largest, fmax(a, b))
#endif
    nt_sum sum = {0.0f, 0.0f, 0.0f, 0};
    LANE_EACH(
        float value = LOAD(X_T, x, atX);
#if defined(REDUCE_L1)
        value = fabs(value);
#elif defined(REDUCE_L2) || defined(REDUCE_SUM_SQUARE)
        value = value * value;
#elif defined(REDUCE_SUM_LOG)
        value = log(value + parameter);
#elif defined(REDUCE_LOG_SUM_EXP)
        value = exp(value - largest);
#endif
        nt_sum_add(&sum, value);
    )
    float total = nt_sum_value(&sum);
    SHARE(total, a + b)
#if defined(REDUCE_MEAN)
    total /= (float)count;
#elif defined(REDUCE_L2)
    total = sqrt(total);
#elif defined(REDUCE_LOG_SUM)
    total = log(total);
#elif defined(REDUCE_LOG_SUM_EXP)
    total = log(total) + largest;
#endif
#endif
    if (member == 0) STORE(OUT_T, y, baseY, total);
}
#endif

#if defined(LANES_SOFTMAX)
NT_GROUP_KERNEL nt_softmax(NT_ITEM ARGUMENTS)
{
    LANE_BEGIN()
    LANE_BASES()
    float largest = -INFINITY;
    LANE_EACH(largest = fmax(largest, LOAD(X_T, x, atX));)
    SHARE(largest, fmax(a, b))
    nt_sum sum = {0.0f, 0.0f, 0.0f, 0};
    LANE_EACH(nt_sum_add(&sum, exp(LOAD(X_T, x, atX) - largest));)
    float total = nt_sum_value(&sum);
    SHARE(total, a + b)
#ifdef SOFTMAX_LOG
    float shift = log(total);
    LANE_EACH(STORE(OUT_T, y, atY, LOAD(X_T, x, atX) - largest - shift);)
#else
    LANE_EACH(STORE(OUT_T, y, atY, exp(LOAD(X_T, x, atX) - largest) / total);)
#endif
}
#endif

#if defined(LANES_NORMALIZE)
// NORMALIZE_L2: x / sqrt(sum of squares + epsilon). Otherwise (x - mean), with NORMALIZE_VARIANCE over sqrt(variance + epsilon), with
// EPSILON_OUTSIDE over sqrt(variance) + epsilon.
NT_GROUP_KERNEL nt_normalize(NT_ITEM ARGUMENTS)
{
    LANE_BEGIN()
    LANE_BASES()
    float mean = 0.0f, divisor = 1.0f;
#ifndef NORMALIZE_L2
    nt_sum sum = {0.0f, 0.0f, 0.0f, 0};
    LANE_EACH(nt_sum_add(&sum, LOAD(X_T, x, atX));)
    mean = nt_sum_value(&sum);
    SHARE(mean, a + b)
    mean /= (float)count;
#endif
#if defined(NORMALIZE_L2) || defined(NORMALIZE_VARIANCE)
    nt_sum squares = {0.0f, 0.0f, 0.0f, 0};
    LANE_EACH(float value = LOAD(X_T, x, atX) - mean; nt_sum_add(&squares, value * value);)
    float total = nt_sum_value(&squares);
    SHARE(total, a + b)
#ifdef NORMALIZE_L2
    divisor = sqrt(total + parameter);
#elif defined(EPSILON_OUTSIDE)
    divisor = sqrt(total / (float)count) + parameter;
#else
    divisor = sqrt(total / (float)count + parameter);
#endif
#endif
    LANE_EACH(STORE(OUT_T, y, atY, (LOAD(X_T, x, atX) - mean) / divisor);)
}
#endif

#if defined(LANES_ARGUMENT)
#ifdef ARGUMENT_MINIMUM
#define WORST INFINITY
#define IS_BETTER(x, y) ((x) < (y))
#else
#define WORST -INFINITY
#define IS_BETTER(x, y) ((x) > (y))
#endif
// The first index of the largest element, with ARGUMENT_MINIMUM of the smallest, along one reduced axis.
NT_GROUP_KERNEL nt_argument(NT_ITEM ARGUMENTS)
{
    LANE_BEGIN()
    LANE_BASES()
    // The best of this item's elements, then of all; then the first place that holds it, whose number travels as the bits of a float.
    int index = inner;
    float best = 0.0f;
    for (int j = member; j < inner; j += GROUP) {
        float value = LOAD(X_T, x, baseX + j * stepX);
        if (value == value && (index == inner || IS_BETTER(value, best))) {
            best = value;
            index = j;
        }
    }
    float first = LOAD(X_T, x, baseX), most = index == inner ? WORST : best;
    SHARE(most, IS_BETTER(b, a) ? b : a)
    float bits = as_float(index == inner || best != most ? inner : index);
    SHARE(bits, as_int(b) < as_int(a) ? b : a)
    // NaN is larger and smaller than nothing: before all others it stays the best, elsewhere it is none.
    index = first == first ? as_int(bits) : 0;
    if (member == 0) STORE(OUT_T, y, baseY, (float)index);
}
#endif

#if defined(LANES_TOP)
// The `count` largest elements of a lane in order, with TOP_SMALLEST the smallest, and their indices, equals in order of index; NaN counts as
// larger than everything. Each round finds the first element after the one before.
#ifdef TOP_SMALLEST
#define BEFORE(a, b) ((a) < (b) || ((a) == (a) && (b) != (b)))
#else
#define BEFORE(a, b) ((b) < (a) || ((b) == (b) && (a) != (a)))
#endif
NT_KERNEL nt_top(NT_ITEM ARGUMENTS, global float *indices)
{
    LANE_BEGIN()
    LANE_BASES()
    float last = 0.0f;
    int lastIndex = -1;
    for (int place = 0; place < count; place++) {
        float best = 0.0f;
        int index = -1;
        for (int j = 0; j < inner; j++) {
            float value = LOAD(X_T, x, baseX + j * stepX);
            int later = lastIndex < 0 || BEFORE(last, value) || (!BEFORE(value, last) && j > lastIndex);
            if (later && (index < 0 || BEFORE(value, best))) {
                best = value;
                index = j;
            }
        }
        last = best;
        lastIndex = index;
        STORE(OUT_T, y, baseY + place * stepY, best);
        indices[baseY + place * stepY] = (float)index;
    }
}
#endif
