// Convolution for devices with many narrow cores, as a product of matrices: a group of LX x LY work-items computes BM pixels by BN channels. It stages BK of
// the K = KH KW C steps of the inner product at a time in local memory, and loads the next stage into registers meanwhile; each item keeps RM x RN sums.
// Layouts and arguments are those of `convolution.cl` with TN = BN, but that a group takes `span` stages, from the one that its place in dimension 2 of the
// range begins with: with SPLIT there are several such places, y holds their sums as float [place][pixel][column of weights], and nt_convolution_sum ends the
// work. RN is a multiple of 4, RM one of 4 or less than 4. Weights and float sums lie aligned (ALIGNED).
// With X_VECTORS four steps from a multiple of 4 on are neighbours in x and aligned as a vector; with Y_VECTORS so are four channels of y and the residual.
#define BM (LY * RM)
#define BN (LX * RN)
#define ITEMS (LX * LY)
// Vectors of 4 in a stage, and how many of them an item takes: every ITEMS-th. Neighbouring items read neighbouring steps of a pixel.
#define X_COUNT (BM * BK / 4)
#define W_COUNT (BN * BK / 4)
#define X_EACH ((X_COUNT + ITEMS - 1) / ITEMS)
#define W_EACH ((W_COUNT + ITEMS - 1) / ITEMS)
#define X_HAS(j) (X_COUNT % ITEMS == 0 || flat + (j) * ITEMS < X_COUNT)
#define W_HAS(j) (W_COUNT % ITEMS == 0 || flat + (j) * ITEMS < W_COUNT)
// The pixel of an item's vector j, and of its sum i; a vector of its sums starts at a channel. Rows of local memory keep vectors aligned and banks apart.
#define X_ROW(j) (flat / (BK / 4) + (j) * (ITEMS / (BK / 4)))
#if RM % 4 == 0
#define ROW(i) ((i) / 4 * 4 * LY + ly * 4 + (i) % 4)
#else
#define ROW(i) (ly * RM + (i))
#endif
#define COLUMN(j) (((j) * LX + lx) * 4)
#ifdef SPLIT
#define Y_T float
#else
#define Y_T S
#endif

// Ends four sums of a pixel that begin at a channel.
#ifdef Y_VECTORS
#define FINISH(sum, index, channel) \
    if ((channel) < O) { \
        float4 total = sum; \
        if (hasResidual) total += LOADA(S, residual, (size_t)(index) * rPixel + (channel)); \
        STOREA(S, y, (size_t)(index) * yPixel + (channel), FUNCTION(activate, 4)(total, p, q)); \
    }
#else
#define FINISH_ONE(sum, index, channel) \
    if ((channel) < O) { \
        float total = sum; \
        if (hasResidual) total += LOAD(S, residual, (size_t)(index) * rPixel + (channel)); \
        STORE(S, y, (size_t)(index) * yPixel + (channel), FUNCTION(activate, 1)(total, p, q)); \
    }
#define FINISH(sum, index, channel) \
    FINISH_ONE((sum).x, index, channel) FINISH_ONE((sum).y, index, (channel) + 1) \
    FINISH_ONE((sum).z, index, (channel) + 2) FINISH_ONE((sum).w, index, (channel) + 3)
#endif

// Where the inner product is: a channel, and the place in the window.
typedef struct { int c, kx, ky; } nt_step;
nt_step nt_advance(nt_step at, int count, int C, int KW)
{
    at.c += count;
#ifndef POINTWISE
    while (at.c >= C) {
        at.c -= C;
        if (++at.kx == KW) {
            at.kx = 0;
            at.ky++;
        }
    }
#endif
    return at;
}

kernel __attribute__((reqd_work_group_size(LX, LY, 1))) void nt_convolution(
    global const X_T *x, global const S *weights, global const float *biases, global const S *residual, global Y_T *y,
    global const X_T *zeros, int pixels, int O, int C, int panels, int span, int hasResidual, int offsetX, int offsetY, int offsetR,
    int xN, int xH, int xW, int xC, int yPixel, int rPixel, int H, int WIDTH, int OH, int OW, int KH, int KW, int SH,
    int SW, int DH, int DW, int PT, int PL, float p, float q)
{
    local float tileX[BK][BM + 4] __attribute__((aligned(16)));
    local float4 tileW[W_COUNT];
    int tileColumn = (int)get_group_id(1);
    int group = tileColumn / panels;
    int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    int flat = ly * LX + lx;
    int m = (int)get_group_id(0) * BM;
    int weightCount = KH * KW * C * BN;
    int stage = (int)get_group_id(2) * span, last = min(stage + span, (KH * KW * C + BK - 1) / BK);
    global const S *panel = weights + (size_t)tileColumn * weightCount;
    // Images without channels have no stage; steps still divide by their number.
    C = max(C, 1);
    x += offsetX + group * C * xC;

    global const X_T *origins[X_EACH];
    int tops[X_EACH], lefts[X_EACH];
#pragma unroll
    for (int j = 0; j < X_EACH; j++) {
        int index = m + X_ROW(j);
#ifdef POINTWISE
        origins[j] = x + (size_t)index * xW;
        tops[j] = index < pixels && X_HAS(j);
#else
        int line = index / OW, image = line / OH;
        origins[j] = x + (size_t)image * xN;
        lefts[j] = (index - line * OW) * SW - PL;
        // No window reaches the image from so far above.
        tops[j] = index < pixels && X_HAS(j) ? (line - image * OH) * SH - PT : -(1 << 30);
#endif
    }
    int start = stage * BK + flat % (BK / 4) * 4;
    nt_step step = {start, 0, 0};
#ifndef POINTWISE
    int tap = start / C;
    step.c = start - tap * C;
    step.ky = tap / KW;
    step.kx = tap - step.ky * KW;
#endif

    float4 sums[RM][RN / 4];
#pragma unroll
    for (int j = 0; j < RN / 4; j++) {
#ifdef SPLIT
        float4 begin = (float4)(0.0f);
#else
        float4 begin = LOADA(float, biases, (size_t)tileColumn * BN + COLUMN(j));
#endif
#pragma unroll
        for (int i = 0; i < RM; i++) sums[i][j] = begin;
    }

    // One element of x, or a vector of them.
#ifdef POINTWISE
#define IS_INSIDE(j, at) (tops[j] && (at).c < C)
#define PLACE(j, at) ((at).c * xC)
#else
#define IS_INSIDE(j, at) \
    ((at).ky < KH && tops[j] + (at).ky * DH >= 0 && tops[j] + (at).ky * DH < H && lefts[j] + (at).kx * DW >= 0 && lefts[j] + (at).kx * DW < WIDTH)
#define PLACE(j, at) ((tops[j] + (at).ky * DH) * xH + (lefts[j] + (at).kx * DW) * xW + (at).c * xC)
#endif
#ifdef X_VECTORS
#define FETCH_X(j) if (IS_INSIDE(j, step)) nextX[j] = LOADA(X_T, origins[j], PLACE(j, step));
#else
#define FETCH_X(j) { \
    nt_step at = step; \
    if (IS_INSIDE(j, at)) nextX[j].x = LOAD(X_T, origins[j], PLACE(j, at)); \
    at = nt_advance(at, 1, C, KW); \
    if (IS_INSIDE(j, at)) nextX[j].y = LOAD(X_T, origins[j], PLACE(j, at)); \
    at = nt_advance(at, 1, C, KW); \
    if (IS_INSIDE(j, at)) nextX[j].z = LOAD(X_T, origins[j], PLACE(j, at)); \
    at = nt_advance(at, 1, C, KW); \
    if (IS_INSIDE(j, at)) nextX[j].w = LOAD(X_T, origins[j], PLACE(j, at)); }
#endif
#define FETCH(stage) { \
    _Pragma("unroll") for (int j = 0; j < X_EACH; j++) { \
        nextX[j] = (float4)(0.0f); \
        FETCH_X(j) \
    } \
    _Pragma("unroll") for (int j = 0; j < W_EACH; j++) { \
        int at = (stage) * (BK * BN) + (flat + j * ITEMS) * 4; \
        nextW[j] = (float4)(0.0f); \
        if (W_HAS(j) && at < weightCount) nextW[j] = LOADA(S, panel, at); \
    } }

    float4 nextX[X_EACH], nextW[W_EACH];
    if (stage < last) FETCH(stage)
    for (; stage < last; stage++) {
#pragma unroll
        for (int j = 0; j < X_EACH; j++) {
            if (!X_HAS(j)) continue;
            int k = flat % (BK / 4) * 4;
            tileX[k][X_ROW(j)] = nextX[j].x;
            tileX[k + 1][X_ROW(j)] = nextX[j].y;
            tileX[k + 2][X_ROW(j)] = nextX[j].z;
            tileX[k + 3][X_ROW(j)] = nextX[j].w;
        }
#pragma unroll
        for (int j = 0; j < W_EACH; j++)
            if (W_HAS(j)) tileW[flat + j * ITEMS] = nextW[j];
        barrier(CLK_LOCAL_MEM_FENCE);
        step = nt_advance(step, BK, C, KW);
        if (stage + 1 < last) FETCH(stage + 1)
#if RM * RN > 32
#pragma unroll 2
#else
#pragma unroll 4
#endif
        for (int k = 0; k < BK; k++) {
            float left[RM];
            float4 right[RN / 4];
#if RM % 4 == 0
#pragma unroll
            for (int i = 0; i < RM; i += 4) {
                float4 rows = *(local const float4 *)&tileX[k][ROW(i)];
                left[i] = rows.x;
                left[i + 1] = rows.y;
                left[i + 2] = rows.z;
                left[i + 3] = rows.w;
            }
#else
#pragma unroll
            for (int i = 0; i < RM; i++) left[i] = tileX[k][ROW(i)];
#endif
#pragma unroll
            for (int j = 0; j < RN / 4; j++) right[j] = tileW[(k * BN + COLUMN(j)) / 4];
#pragma unroll
            for (int i = 0; i < RM; i++) {
#pragma unroll
                for (int j = 0; j < RN / 4; j++) sums[i][j] = fma((float4)(left[i]), right[j], sums[i][j]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

#ifdef SPLIT
    int columns = (int)get_num_groups(1) * BN;
    y += (size_t)get_group_id(2) * pixels * columns + tileColumn * BN;
#else
    int first = (tileColumn - group * panels) * BN;
    y += offsetY + group * O;
    residual += offsetR + group * O;
#endif
#pragma unroll
    for (int i = 0; i < RM; i++) {
        int index = m + ROW(i);
        if (index >= pixels) continue;
#pragma unroll
        for (int j = 0; j < RN / 4; j++) {
#ifdef SPLIT
            STOREA(float, y, (size_t)index * columns + COLUMN(j), sums[i][j]);
#else
            FINISH(sums[i][j], index, first + COLUMN(j))
#endif
        }
    }
}

#ifdef SPLIT
// Adds what the places have left of each sum, in their order. Range: vectors of `columns`, pixels.
kernel void nt_convolution_sum(
    global const float *partial, global const float *biases, global const S *residual, global S *y, int pixels, int O, int panels,
    int places, int columns, int hasResidual, int offsetY, int offsetR, int yPixel, int rPixel, float p, float q)
{
    int column = (int)get_global_id(0) * 4, index = (int)get_global_id(1);
    int group = column / (panels * BN), channel = column - group * panels * BN;
    if (column >= columns || index >= pixels || channel >= O) return;
    y += offsetY + group * O;
    residual += offsetR + group * O;
    float4 sum = LOADA(float, biases, column);
    for (int place = 0; place < places; place++) sum += LOADA(float, partial, ((size_t)place * pixels + index) * columns + column);
    FINISH(sum, index, channel)
}
#endif
