// Pooling over x [N, H, W, C] with unit channel stride; y is dense [N, OH, OW, C] in pixels `yPixel` apart. C is a multiple of VW.
// One of POOL_MAXIMUM, POOL_AVERAGE, POOL_L2. Range: channel blocks, pixels. An average divides by the places inside the image, or with
// COUNTS_PADDING by those inside the padded image. A window without a place gives 0.
kernel void nt_pool(
    global const X_T *x, global OUT_T *y, int C, int blocks, int offsetX, int xN, int xH, int xW, int yPixel, int pixels,
    int H, int WIDTH, int OH, int OW, int KH, int KW, int SH, int SW, int DH, int DW, int PT, int PL, int PB, int PR)
{
    int pixel = (int)get_global_id(1);
    int c = (int)get_global_id(0) * blocks * VW;
    int stop = min(C, c + blocks * VW);
    if (pixel >= pixels) return;
    int line = pixel / OW, image = line / OH;
    int top = (line - image * OH) * SH - PT, left = (pixel - line * OW) * SW - PL;
    x += offsetX + (size_t)image * xN;
    y += (size_t)pixel * yPixel;
    int padded = 0, inside = 0;
    for (int ky = 0; ky < KH; ky++) {
        int iy = top + ky * DH;
        if (iy >= H + PB) break;
        for (int kx = 0; kx < KW; kx++) {
            int ix = left + kx * DW;
            if (ix >= WIDTH + PR) break;
            padded++;
            if (iy >= 0 && iy < H && ix >= 0 && ix < WIDTH) inside++;
        }
    }
#ifdef COUNTS_PADDING
    float divisor = (float)padded;
#else
    float divisor = (float)inside;
#endif
    for (; c < stop; c += VW) {
#ifdef POOL_MAXIMUM
        VEC(VW) total = (VEC(VW))(-INFINITY);
#else
        VEC(VW) total = (VEC(VW))(0.0f);
#endif
        for (int ky = 0; ky < KH; ky++) {
            int iy = top + ky * DH;
            if (iy < 0) continue;
            if (iy >= H) break;
            for (int kx = 0; kx < KW; kx++) {
                int ix = left + kx * DW;
                if (ix < 0) continue;
                if (ix >= WIDTH) break;
                VEC(VW) value = LOADV(VW, X_T, x, iy * xH + ix * xW + c);
#if defined(POOL_MAXIMUM)
                total = value <= total ? total : value;
#elif defined(POOL_L2)
                total = fma(value, value, total);
#else
                total += value;
#endif
            }
        }
#if defined(POOL_MAXIMUM)
        if (inside == 0) total = (VEC(VW))(0.0f);
#elif defined(POOL_L2)
        total = sqrt(total);
#else
        total = divisor > 0.0f ? total / divisor : (VEC(VW))(0.0f);
#endif
        STOREV(VW, OUT_T, y, c, total);
    }
}
