// Operators that pick or place elements by computed indices, and running sums. All tensors are dense and row-major; indices are whole floats,
// negative ones from the back. An index out of range sets `problem[0]` and is passed over.

// The index at a value, or -1 with the problem set.
int nt_index(float value, int extent, global int *problem)
{
    if (value >= -(float)extent && value < (float)extent && floor(value) == value) return (int)value < 0 ? (int)value + extent : (int)value;
    atomic_or(problem, 1);
    return -1;
}

#if defined(PICK_ALONG)
NT_KERNEL nt_gather_along(
    NT_ITEM global const X_T *x, global const I_T *indices, global OUT_T *y, global int *problem, int count, int extent, int inner, int run)
{
    int i = ITEM(0);
    if (i >= count) return;
    int index = nt_index(LOAD(I_T, indices, i), extent, problem);
    float value = NAN;
    if (index >= 0) value = LOAD(X_T, x, (i / run * extent + index) * inner + i % inner);
    STORE(OUT_T, y, i, value);
}
#endif

#if defined(PICK_ND)
// meta: extent and stride of each of the `depth` first axes of x.
NT_KERNEL nt_gather_nd(
    NT_ITEM global const X_T *x, global const I_T *indices, global OUT_T *y, global int *problem, global const int *meta, int count,
    int depth, int inner)
{
    int i = ITEM(0);
    if (i >= count) return;
    int row = i / inner, at = i - row * inner, inside = 1;
    for (int axis = 0; axis < depth; axis++) {
        int index = nt_index(LOAD(I_T, indices, row * depth + axis), meta[2 * axis], problem);
        inside = inside && index >= 0;
        at += index * meta[2 * axis + 1];
    }
    float value = NAN;
    if (inside) value = LOAD(X_T, x, at);
    STORE(OUT_T, y, i, value);
}
#endif

#if defined(SCATTER)
float nt_scattered(float old, float new_)
{
#if defined(SCATTER_ADD)
    return old + new_;
#elif defined(SCATTER_SUBTRACT)
    return old - new_;
#elif defined(SCATTER_MULTIPLY)
    return old * new_;
#elif defined(SCATTER_DIVIDE)
    return old / new_;
#elif defined(SCATTER_MAXIMUM)
    return old != old ? old : (new_ > old || new_ != new_ ? new_ : old);
#elif defined(SCATTER_MINIMUM)
    return old != old ? old : (new_ < old || new_ != new_ ? new_ : old);
#else
    return new_;
#endif
}

// y holds a copy of x. One work-item takes the updates of one lane in order, so that later ones see earlier ones.
// Along an axis: lane (o, i) of outer x inner, `picks` updates each; SCATTER_ELEMENTS has an index for every update.
NT_KERNEL nt_scatter(
    NT_ITEM global const I_T *indices, global const U_T *updates, global OUT_T *y, global int *problem, int lanes, int extent, int inner, int picks)
{
    int lane = ITEM(0);
    if (lane >= lanes) return;
    int o = lane / inner, i = lane - o * inner;
    for (int k = 0; k < picks; k++) {
        int update = (o * picks + k) * inner + i;
#ifdef SCATTER_ELEMENTS
        int index = nt_index(LOAD(I_T, indices, update), extent, problem);
#else
        int index = nt_index(LOAD(I_T, indices, k), extent, problem);
#endif
        int at = (o * extent + index) * inner + i;
        if (index >= 0) STORE(OUT_T, y, at, nt_scattered(LOAD(OUT_T, y, at), LOAD(U_T, updates, update)));
    }
}

// By coordinates: lane i of the slices' elements. meta as for `nt_gather_nd`.
NT_KERNEL nt_scatter_nd(
    NT_ITEM global const I_T *indices, global const U_T *updates, global OUT_T *y, global int *problem, global const int *meta, int inner,
    int rows, int depth)
{
    int i = ITEM(0);
    if (i >= inner) return;
    for (int row = 0; row < rows; row++) {
        int at = i, inside = 1;
        for (int axis = 0; axis < depth; axis++) {
            int index = nt_index(LOAD(I_T, indices, row * depth + axis), meta[2 * axis], problem);
            inside = inside && index >= 0;
            at += index * meta[2 * axis + 1];
        }
        if (inside) STORE(OUT_T, y, at, nt_scattered(LOAD(OUT_T, y, at), LOAD(U_T, updates, row * inner + i)));
    }
}
#endif

#if defined(CUMULATIVE)
// Running sums along the middle axis of [outer][extent][inner], compensated (Kahan).
NT_KERNEL nt_cumulative(NT_ITEM global const X_T *x, global OUT_T *y, int lanes, int extent, int inner, int exclusive, int reversed)
{
    int lane = ITEM(0);
    if (lane >= lanes) return;
    int o = lane / inner, i = lane - o * inner;
    float sum = 0.0f, lost = 0.0f;
    for (int k = 0; k < extent; k++) {
        int at = (o * extent + (reversed ? extent - 1 - k : k)) * inner + i;
        float add = LOAD(X_T, x, at) - lost, next = sum + add;
        STORE(OUT_T, y, at, exclusive ? sum : next);
        lost = isfinite(next) ? (next - sum) - add : 0.0f;
        sum = next;
    }
}
#endif

#if defined(REVERSE_SEQUENCE)
NT_KERNEL nt_reverse_sequence(
    NT_ITEM global const X_T *x, global const I_T *lengths, global OUT_T *y, global int *problem, int count, int batchStride,
    int batchExtent, int sequenceStride, int sequenceExtent)
{
    int i = ITEM(0);
    if (i >= count) return;
    float value = LOAD(I_T, lengths, i / batchStride % batchExtent);
    int place = i / sequenceStride % sequenceExtent, source = place;
    if (value >= 0.0f && value <= (float)sequenceExtent && floor(value) == value) {
        if (place < (int)value) source = (int)value - 1 - place;
    } else {
        atomic_or(problem, 1);
    }
    STORE(OUT_T, y, i, LOAD(X_T, x, i + (source - place) * sequenceStride));
}
#endif

#if defined(CROP_RESIZE)
// Where point i of `count` lies between `first` and `last`, inside 0...limit - 1.
float nt_place(float first, float last, int i, int count, int limit)
{
    float extent = last - first + 1.0f, steps = (float)max(1, count - 1), at;
#if SAMPLING == 0
    at = (float)i * (extent - 1.0f) / steps;
#elif SAMPLING == 1
    at = count == 1 ? (extent - 1.0f) / 2.0f : (float)i * (extent - 1.0f) / steps;
#elif SAMPLING == 2
    at = fmin(extent - 1.0f, (float)i * (extent - extent / (float)count) / steps);
#else
    at = fmin(extent - 1.0f, ((float)i + 0.5f) * fmax(1.0f, extent - 1.0f) / (float)count);
#endif
    float source = fmin(fmax(first + at, 0.0f), (float)(limit - 1));
    return isfinite(source) ? source : 0.0f;
}

// HEIGHT_FIRST and CENTERED say how a box of four is written; with fields 5 the image's index stands before it.
NT_KERNEL nt_crop_resize(
    NT_ITEM global const X_T *x, global const I_T *boxes, global OUT_T *y, global int *problem, int count, int images, int channels,
    int H, int WIDTH, int OH, int OW, int fields, float scaleY, float scaleX)
{
    int i = ITEM(0);
    if (i >= count) return;
    int column = i % OW, row = i / OW % OH, plane = i / (OW * OH) % channels, item = i / (OW * OH * channels);
    int box = item, image;
    if (fields == 4) {
        box = item / images;
        image = item - box * images;
    } else {
        image = max(0, nt_index(LOAD(I_T, boxes, box * 5), images, problem));
    }
    int at = box * fields + fields - 4;
    float a = LOAD(I_T, boxes, at), b = LOAD(I_T, boxes, at + 1), c = LOAD(I_T, boxes, at + 2), d = LOAD(I_T, boxes, at + 3);
#ifdef HEIGHT_FIRST
    float y0 = a, x0 = b, y1 = c, x1 = d;
#else
    float y0 = b, x0 = a, y1 = d, x1 = c;
#endif
#ifdef CENTERED
    float halfY = y1 / 2.0f, halfX = x1 / 2.0f;
    y1 = y0 + halfY;
    y0 -= halfY;
    x1 = x0 + halfX;
    x0 -= halfX;
#endif
    float sourceY = nt_place(y0 * scaleY, y1 * scaleY, row, OH, H), sourceX = nt_place(x0 * scaleX, x1 * scaleX, column, OW, WIDTH);
    int top = (int)sourceY, left = (int)sourceX, bottom = min(top + 1, H - 1), right = min(left + 1, WIDTH - 1);
    float down = sourceY - (float)top, over = sourceX - (float)left;
    x += ((size_t)image * channels + plane) * H * WIDTH;
    float p = LOAD(X_T, x, top * WIDTH + left), q = LOAD(X_T, x, top * WIDTH + right);
    float r = LOAD(X_T, x, bottom * WIDTH + left), s = LOAD(X_T, x, bottom * WIDTH + right);
    float upper = p + (q - p) * over, lower = r + (s - r) * over;
    STORE(OUT_T, y, i, upper + (lower - upper) * down);
}
#endif
