// Convolution for devices with few wide cores: one work-item keeps TM pixels by NV vectors of VW channels in registers.
//
// x is [N, H, W, C] under the strides xN, xH, xW, xC (elements); y and the residual are pixels of O channels, `yPixel` and `rPixel` apart.
// Weights are packed in panels of TN = NV VW output channels: [group][panel][KH KW C][TN], missing channels zero; bias [group][panel][TN].
// Dimension 1 of the range is group x panel, dimension 0 runs of `span` tiles. With POINTWISE the kernel is 1x1 with stride 1 and rows of
// x are `xW` apart. Places outside the image read `zeros`, C elements of nothing, so that the inner loop has no condition. With PLANAR the
// channels of x are `xC` apart; otherwise they are neighbours. With LINE a tile's pixels lie in one row of y (with POINTWISE all are one row): the last tile
// of a row begins early enough to be whole and leaves alone what the tile before has stored; a row has TM pixels at least.
#define TN (NV * VW)

#if TM == 14
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13)
#elif TM == 12
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#elif TM == 10
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#elif TM == 8
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#elif TM == 7
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6)
#elif TM == 6
#define ROWS(M) M(0) M(1) M(2) M(3) M(4) M(5)
#elif TM == 5
#define ROWS(M) M(0) M(1) M(2) M(3) M(4)
#elif TM == 4
#define ROWS(M) M(0) M(1) M(2) M(3)
#elif TM == 2
#define ROWS(M) M(0) M(1)
#else
#define ROWS(M) M(0)
#endif

#if NV == 4
#define VECTORS(M, i) M(i, 0) M(i, 1) M(i, 2) M(i, 3)
#elif NV == 2
#define VECTORS(M, i) M(i, 0) M(i, 1)
#else
#define VECTORS(M, i) M(i, 0)
#endif

#define DECLARE(i, v) VEC(VW) sum##i##_##v = LOADV(VW, float, bias, v * VW);
#define DECLARE_ROW(i) VECTORS(DECLARE, i)
#define WEIGHT(i, v) VEC(VW) weight##v = LOADV(VW, S, panel, v * VW);
#define ACCUMULATE(i, v) sum##i##_##v = fma((VEC(VW))(value##i), weight##v, sum##i##_##v);

#ifdef LINE
#define STEP(i) { float value##i = LOAD(X_T, row, at + i * SW * xW); VECTORS(ACCUMULATE, i) }
#define TAP(i) \
    int x##i = left + i * SW + kx * DW; \
    int inside##i = x##i >= 0 && x##i < WIDTH; \
    global const X_T *tap##i = inside##i ? row + (at + i * SW * xW) : zeros;
#elif defined(POINTWISE)
#define PLACE(i) global const X_T *row##i = x + (size_t)min(m + i, pixels - 1) * xW;
#define STEP(i) { float value##i = LOAD(X_T, row##i, c); VECTORS(ACCUMULATE, i) }
#else
// Where row i's window begins, and whether all of it lies inside the image.
#define PLACE(i) \
    int index##i = min(m + i, pixels - 1); \
    int line##i = index##i / OW; \
    int left##i = (index##i - line##i * OW) * SW - PL; \
    int image##i = line##i / OH; \
    int top##i = (line##i - image##i * OH) * SH - PT; \
    global const X_T *origin##i = x + (size_t)image##i * xN; \
    int corner##i = top##i * xH + left##i * xW; \
    whole = whole && top##i >= 0 && left##i >= 0 && top##i <= H - reachY && left##i <= WIDTH - reachX;
// A window inside the image: one offset serves every row.
#define CORNER(i) global const X_T *row##i = origin##i + corner##i;
#define STEP(i) { float value##i = LOAD(X_T, row##i, at); VECTORS(ACCUMULATE, i) }
// A window across the border: places outside read a zero under a stride of 0.
#define TAP(i) \
    int y##i = top##i + ky * DH, x##i = left##i + kx * DW; \
    int inside##i = y##i >= 0 && y##i < H && x##i >= 0 && x##i < WIDTH; \
    global const X_T *tap##i = inside##i ? origin##i + (y##i * xH + x##i * xW) : zeros;
#endif
#ifdef PLANAR
#define C_STRIDE xC
#define STEP_TAP(i) { float value##i = LOAD(X_T, tap##i, inside##i ? c * xC : 0); VECTORS(ACCUMULATE, i) }
#else
#define C_STRIDE 1
#define STEP_TAP(i) { float value##i = LOAD(X_T, tap##i, c); VECTORS(ACCUMULATE, i) }
#endif

#define FINISH(i, v) \
    if (first + v * VW + VW <= O) { \
        VEC(VW) total = sum##i##_##v; \
        if (hasResidual) total += LOADV(VW, S, residual, atR + v * VW); \
        STOREV(VW, S, y, at + v * VW, FUNCTION(activate, VW)(total, p, q)); \
    } else if (first + v * VW < O) { \
        float part[VW]; \
        STOREV(VW, float, part, 0, sum##i##_##v); \
        for (int j = 0; j < O - first - v * VW; j++) { \
            float total = part[j]; \
            if (hasResidual) total += LOAD(S, residual, atR + v * VW + j); \
            STORE(S, y, at + v * VW + j, FUNCTION(activate, 1)(total, p, q)); \
        } \
    }
#ifdef LINE
#define IS_FRESH(i) (ox + i >= fresh)
#else
#define IS_FRESH(i) (m + i < pixels)
#endif
#define FINISH_ROW(i) \
    if (IS_FRESH(i)) { \
        size_t at = (size_t)(m + i) * yPixel + first, atR = (size_t)(m + i) * rPixel + first; \
        VECTORS(FINISH, i) \
    }

NT_KERNEL nt_convolution(
    NT_ITEM global const X_T *x, global const S *weights, global const float *biases, global const S *residual, global S *y,
    global const X_T *zeros, int pixels, int O, int C, int panels, int span, int hasResidual, int offsetX, int offsetY, int offsetR,
    int xN, int xH, int xW, int xC, int yPixel, int rPixel, int H, int WIDTH, int OH, int OW, int KH, int KW, int SH,
    int SW, int DH, int DW, int PT, int PL, float p, float q)
{
    int tileColumn = ITEM(1);
    int group = tileColumn / panels;
    int first = (tileColumn - group * panels) * TN;
    global const float *bias = biases + (size_t)tileColumn * TN;
    x += offsetX + group * C * xC;
    y += offsetY + group * O;
    residual += offsetR + group * O;
    int reachY = (KH - 1) * DH + 1, reachX = (KW - 1) * DW + 1;
#ifdef LINE
#ifdef POINTWISE
    int runs = (pixels + TM - 1) / TM, lines = 1, width = pixels;
#else
    int runs = (OW + TM - 1) / TM, lines = pixels / OW, width = OW;
#endif
    int tile = ITEM(0) * span;
    int stop = min(lines * runs, tile + span);
    for (; tile < stop; tile++) {
        int line = tile / runs;
        int fresh = (tile - line * runs) * TM, ox = min(fresh, width - TM);
        int m = line * width + ox;
        ROWS(DECLARE_ROW)
#ifdef POINTWISE
        global const S *panel = weights + (size_t)tileColumn * C * TN;
        global const X_T *row = x + (size_t)ox * xW;
        for (int at = 0; at < C; at++, panel += TN) {
            VECTORS(WEIGHT, 0)
            ROWS(STEP)
        }
#else
        int image = line / OH, top = (line - image * OH) * SH - PT, left = ox * SW - PL;
        int whole = left >= 0 && left + (TM - 1) * SW + reachX <= WIDTH;
        for (int ky = 0; ky < KH; ky++) {
            int iy = top + ky * DH;
            if (iy < 0 || iy >= H) continue;
            global const S *panel = weights + ((size_t)tileColumn * KH + ky) * KW * C * TN;
            global const X_T *row = x + ((size_t)image * xN + iy * xH);
            if (whole) {
                for (int kx = 0; kx < KW; kx++) {
                    int at = (left + kx * DW) * xW;
                    for (int c = 0; c < C; c++, panel += TN, at += C_STRIDE) {
                        VECTORS(WEIGHT, 0)
                        ROWS(STEP)
                    }
                }
            } else {
                for (int kx = 0; kx < KW; kx++) {
                    int at = (left + kx * DW) * xW;
                    ROWS(TAP)
                    for (int c = 0; c < C; c++, panel += TN) {
                        VECTORS(WEIGHT, 0)
                        ROWS(STEP_TAP)
                    }
                }
            }
        }
#endif
        ROWS(FINISH_ROW)
    }
#else
    int m = ITEM(0) * span * TM;
    int stop = min(pixels, m + span * TM);
    for (; m < stop; m += TM) {
        global const S *panel = weights + (size_t)tileColumn * KH * KW * C * TN;
        ROWS(DECLARE_ROW)
#ifdef POINTWISE
        ROWS(PLACE)
        for (int c = 0; c < C; c++, panel += TN) {
            VECTORS(WEIGHT, 0)
            ROWS(STEP)
        }
#else
        int whole = 1;
        ROWS(PLACE)
        if (whole) {
            ROWS(CORNER)
            for (int ky = 0; ky < KH; ky++) {
                for (int kx = 0; kx < KW; kx++) {
                    int at = ky * DH * xH + kx * DW * xW;
                    for (int c = 0; c < C; c++, panel += TN, at += C_STRIDE) {
                        VECTORS(WEIGHT, 0)
                        ROWS(STEP)
                    }
                }
            }
        } else {
            for (int ky = 0; ky < KH; ky++) {
                for (int kx = 0; kx < KW; kx++) {
                    ROWS(TAP)
                    for (int c = 0; c < C; c++, panel += TN) {
                        VECTORS(WEIGHT, 0)
                        ROWS(STEP_TAP)
                    }
                }
            }
        }
#endif
        ROWS(FINISH_ROW)
    }
#endif
}
