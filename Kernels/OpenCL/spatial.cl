// Windows across channels, resizing, padding and picking: one work-item per output element.

#if defined(SPATIAL_LRN)
// x / (k + alpha / size * squares)^beta over `size` neighbouring channels; x and y are dense [outer][channels][inner].
NT_KERNEL nt_lrn(
    NT_ITEM global const X_T *x, global OUT_T *y, int count, int channels, int inner, int size, float scale, float beta, float k)
{
    int i = ITEM(0);
    if (i >= count) return;
    int c = i / inner % channels;
    int low = max(0, c - (size - 1) / 2), high = min(channels - 1, c - (size - 1) / 2 + size - 1);
    float squares = 0.0f;
    for (int j = low; j <= high; j++) {
        float value = LOAD(X_T, x, i + (j - c) * inner);
        squares = fma(value, value, squares);
    }
    STORE(OUT_T, y, i, LOAD(X_T, x, i) * pow(fma(scale, squares, k), -beta));
}
#endif

#if defined(SPATIAL_RESIZE)
// x dense [outer][H][W][inner] to y dense [outer][OH][OW][inner]. places: low and high per output row, then per column; weights likewise.
// With RESIZE_NEAREST only the low places count.
NT_KERNEL nt_resize(
    NT_ITEM global const X_T *x, global OUT_T *y, global const int *places, global const float *weights, int count, int H,
    int WIDTH, int OH, int OW, int inner)
{
    int i = ITEM(0);
    if (i >= count) return;
    int pixel = i / inner, c = i - pixel * inner;
    int line = pixel / OW, column = pixel - line * OW;
    int image = line / OH, row = line - image * OH;
    global const int *across = places + 2 * OH;
    x += (size_t)image * H * WIDTH * inner + c;
    int top = places[2 * row] * WIDTH, left = across[2 * column];
#ifdef RESIZE_NEAREST
    STORE(OUT_T, y, i, LOAD(X_T, x, (top + left) * inner));
#else
    int bottom = places[2 * row + 1] * WIDTH, right = across[2 * column + 1];
    float down = weights[row], over = weights[OH + column];
    float a = LOAD(X_T, x, (top + left) * inner), b = LOAD(X_T, x, (top + right) * inner);
    float d = LOAD(X_T, x, (bottom + left) * inner), e = LOAD(X_T, x, (bottom + right) * inner);
    float upper = a + (b - a) * over, lower = d + (e - d) * over;
    STORE(OUT_T, y, i, upper + (lower - upper) * down);
#endif
}
#endif

#if defined(SPATIAL_REMAP)
// y[i0, i1, ...] = x[table0[i0] + table1[i1] + ...], or the filler where a table says -1. meta: per axis the extent and where its table
// begins in `tables`; y is dense in this axis order.
NT_KERNEL nt_remap(
    NT_ITEM global const X_T *x, global OUT_T *y, global const int *meta, global const int *tables, int count, int rank,
    int offsetX, float filler)
{
    int i = ITEM(0);
    if (i >= count) return;
    int at = offsetX, inside = 1;
    for (int axis = rank - 1, rest = i; axis >= 0; axis--) {
        int next = rest / meta[2 * axis], place = rest - next * meta[2 * axis];
        rest = next;
        int step = tables[meta[2 * axis + 1] + place];
        inside = inside && step >= 0;
        at += step;
    }
    float value = filler;
    if (inside) value = LOAD(X_T, x, at);
    STORE(OUT_T, y, i, value);
}
#endif

#if defined(SPATIAL_GATHER)
// Picks along the middle axis of x dense [outer][extent][inner] by whole floats, negative ones from the back; y [outer][picks][inner].
// An index that is no whole number in range sets `problem[0]` and gives NaN.
NT_KERNEL nt_gather(
    NT_ITEM global const X_T *x, global const I_T *indices, global OUT_T *y, global int *problem, int count, int extent, int picks,
    int inner)
{
    int i = ITEM(0);
    if (i >= count) return;
    int row = i / inner, outer = row / picks;
    float index = LOAD(I_T, indices, row - outer * picks);
    float value = NAN;
    if (index >= -(float)extent && index < (float)extent && floor(index) == index) {
        int pick = (int)index;
        if (pick < 0) pick += extent;
        value = LOAD(X_T, x, ((size_t)outer * extent + pick) * inner + (i - row * inner));
    } else {
        atomic_or(problem, 1);
    }
    STORE(OUT_T, y, i, value);
}
#endif
