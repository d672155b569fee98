// Depthwise convolution and the 1x1 convolution that reads it, for devices with few wide cores: TX pixels of a row lie in private memory between the two.
//
// x is [N, H, W, C] with unit channel stride; y and the residual are pixels of O channels, `yPixel` and `rPixel` apart. C is a multiple of VW and at most
// CMAX, OW at least TX. Depthwise weights [KH][KW][C], bias [C]; pointwise weights in panels of TN = NV VW channels, [panel][C][TN], missing channels
// zero, bias [panel][TN]. KH, KW, SW are macros, so that the window lies in registers. Range: N x OH rows, `parts` of a row.
#define SPAN_X ((TX - 1) * SW + KW)
#define TN (NV * VW)

#if TX == 10
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#elif TX == 7
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6)
#else
#define ROWS(M) M(0) M(1) M(2) M(3) M(4)
#endif
#if NV == 2
#define VECTORS(M, i) M(i, 0) M(i, 1)
#else
#define VECTORS(M, i) M(i, 0)
#endif

#define DECLARE(i, v) VEC(VW) sum##i##_##v = LOADV(VW, float, panelBias, v * VW);
#define DECLARE_ROW(i) VECTORS(DECLARE, i)
#define WEIGHT(i, v) VEC(VW) weight##v = LOADV(VW, S, panel, v * VW);
#define ACCUMULATE(i, v) sum##i##_##v = fma((VEC(VW))(value##i), weight##v, sum##i##_##v);
#define STEP(i) { float value##i = middle[i * C + c]; VECTORS(ACCUMULATE, i) }
#define FINISH(i, v) \
    if (first + v * VW + VW <= O) { \
        VEC(VW) total = sum##i##_##v; \
        if (hasResidual) total += LOADV(VW, S, residual, atR + v * VW); \
        STOREV(VW, S, y, at + v * VW, FUNCTION(activate, VW)(total, p2, q2)); \
    } else if (first + v * VW < O) { \
        float part[VW]; \
        STOREV(VW, float, part, 0, sum##i##_##v); \
        for (int j = 0; j < O - first - v * VW; j++) { \
            float total = part[j]; \
            if (hasResidual) total += LOAD(S, residual, atR + v * VW + j); \
            STORE(S, y, at + v * VW + j, FUNCTION(activate, 1)(total, p2, q2)); \
        } \
    }
// The last run of a row begins early enough to be whole; what the run before has stored is left alone.
#define FINISH_ROW(i) \
    if (ox + i >= fresh) { \
        size_t at = (size_t)(ox + i) * yPixel + first, atR = (size_t)(ox + i) * rPixel + first; \
        VECTORS(FINISH, i) \
    }

NT_KERNEL nt_separable(
    NT_ITEM global const X_T *x, global const S *depthWeights, global const float *depthBias, global const S *weights,
    global const float *biases, global const S *residual, global S *y, int C, int O, int panels, int parts, int hasResidual,
    int offsetX, int offsetY, int offsetR, int xN, int xH, int xW, int yPixel, int rPixel, int rows, int H, int WIDTH, int OH, int OW,
    int SH, int PT, int PL, float p, float q, float p2, float q2)
{
    int line = ITEM(0), part = ITEM(1);
    if (line >= rows || part >= parts) return;
    int image = line / OH;
    int top = (line - image * OH) * SH - PT;
    x += offsetX + (size_t)image * xN;
    y += offsetY + (size_t)line * OW * yPixel;
    residual += offsetR + (size_t)line * OW * rPixel;
    float middle[TX * CMAX];
    int runs = (OW + TX - 1) / TX, end = (part + 1) * runs / parts;
    for (int run = part * runs / parts; run < end; run++) {
        int fresh = run * TX, ox = min(fresh, OW - TX);
        int left = ox * SW - PL;
        int whole = left >= 0 && left + SPAN_X <= WIDTH;
        for (int d = 0; d < C; d += VW) {
            VEC(VW) sums[TX];
            VEC(VW) start = LOADV(VW, float, depthBias, d);
#pragma unroll
            for (int t = 0; t < TX; t++) sums[t] = start;
#pragma unroll
            for (int ky = 0; ky < KH; ky++) {
                int iy = top + ky;
                if (iy >= 0 && iy < H) {
                    global const X_T *row = x + (iy * xH + left * xW + d);
                    VEC(VW) window[SPAN_X];
                    if (whole) {
#pragma unroll
                        for (int i = 0; i < SPAN_X; i++) window[i] = LOADV(VW, X_T, row, i * xW);
                    } else {
#pragma unroll
                        for (int i = 0; i < SPAN_X; i++) {
                            window[i] = (VEC(VW))(0.0f);
                            if (left + i >= 0 && left + i < WIDTH) window[i] = LOADV(VW, X_T, row, i * xW);
                        }
                    }
#pragma unroll
                    for (int kx = 0; kx < KW; kx++) {
                        VEC(VW) weight = LOADV(VW, S, depthWeights, (ky * KW + kx) * C + d);
#pragma unroll
                        for (int t = 0; t < TX; t++) sums[t] = fma(window[t * SW + kx], weight, sums[t]);
                    }
                }
            }
#pragma unroll
            for (int t = 0; t < TX; t++) STOREV(VW, float, middle, t * C + d, FUNCTION(activate, VW)(sums[t], p, q));
        }
        global const S *panel = weights;
        for (int k = 0; k < panels; k++) {
            int first = k * TN;
            global const float *panelBias = biases + first;
            ROWS(DECLARE_ROW)
            for (int c = 0; c < C; c++, panel += TN) {
                VECTORS(WEIGHT, 0)
                ROWS(STEP)
            }
            ROWS(FINISH_ROW)
        }
    }
}
