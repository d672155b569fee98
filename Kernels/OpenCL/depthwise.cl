// Depthwise convolution (one filter per channel) over x [N, H, W, C] with unit channel stride. One work-item takes `blocks` vectors of VW
// channels and `tiles` runs of TX neighbouring pixels of one row; C is a multiple of VW. Weights [KH][KW][C], bias [C] in float.
// KH, KW, SW are macros, so that the window lies in registers. Range: channel blocks, runs of tiles, N x OH rows.
#define SPAN_X ((TX - 1) * SW + KW)

NT_KERNEL nt_depthwise(
    NT_ITEM global const X_T *restrict x, global const S *restrict weights, global const float *restrict biases,
    global S *restrict y, int C, int blocks, int offsetX, int offsetY, int xN, int xH, int xW, int yPixel, int rows,
    int H, int WIDTH, int OH, int OW, int tiles, int SH, int DH, int PT, int PL, float p, float q)
{
    int line = ITEM(2);
    int first = ITEM(1) * tiles * TX;
    int c = ITEM(0) * blocks * VW;
    int stop = min(C, c + blocks * VW);
    if (first >= OW || line >= rows) return;
    int last = min(OW, first + tiles * TX);
    int image = line / OH;
    int top = (line - image * OH) * SH - PT;
    x += offsetX + (size_t)image * xN;
    y += offsetY + (size_t)line * OW * yPixel;
    // Channels are the inner loop, so that memory is walked line by line.
    for (int ox = first; ox < last; ox += TX) {
        int left = ox * SW - PL;
        int whole = left >= 0 && left + SPAN_X <= WIDTH;
        for (int d = c; d < stop; d += VW) {
            VEC(VW) sums[TX];
            VEC(VW) start = LOADV(VW, float, biases, d);
#pragma unroll
            for (int t = 0; t < TX; t++) sums[t] = start;
#pragma unroll
            for (int ky = 0; ky < KH; ky++) {
                int iy = top + ky * DH;
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
                        VEC(VW) weight = LOADV(VW, S, weights, (ky * KW + kx) * C + d);
#pragma unroll
                        for (int t = 0; t < TX; t++) sums[t] = fma(window[t * SW + kx], weight, sums[t]);
                    }
                }
            }
#pragma unroll
            for (int t = 0; t < TX; t++)
                if (ox + t < OW) STOREV(VW, S, y, (size_t)(ox + t) * yPixel + d, FUNCTION(activate, VW)(sums[t], p, q));
        }
    }
}

// The same for any kernel, stride and dilation, one pixel at a time.
NT_KERNEL nt_depthwise_any(
    NT_ITEM global const X_T *x, global const S *weights, global const float *biases, global S *y, int C, int blocks,
    int offsetX, int offsetY, int xN, int xH, int xW, int yPixel, int pixels, int H, int WIDTH, int OH, int OW, int kh,
    int kw, int SH, int sw, int DH, int dw, int PT, int PL, float p, float q)
{
    int pixel = ITEM(1);
    int c = ITEM(0) * blocks * VW;
    int stop = min(C, c + blocks * VW);
    if (pixel >= pixels) return;
    int line = pixel / OW, image = line / OH;
    int top = (line - image * OH) * SH - PT, left = (pixel - line * OW) * sw - PL;
    x += offsetX + (size_t)image * xN;
    y += offsetY + (size_t)pixel * yPixel;
    for (; c < stop; c += VW) {
        VEC(VW) sum = LOADV(VW, float, biases, c);
        for (int ky = 0; ky < kh; ky++) {
            int iy = top + ky * DH;
            if (iy < 0 || iy >= H) continue;
            for (int kx = 0; kx < kw; kx++) {
                int ix = left + kx * dw;
                if (ix < 0 || ix >= WIDTH) continue;
                sum = fma(LOADV(VW, X_T, x, iy * xH + ix * xW + c), LOADV(VW, S, weights, (ky * kw + kx) * C + c), sum);
            }
        }
        STOREV(VW, S, y, c, FUNCTION(activate, VW)(sum, p, q));
    }
}
