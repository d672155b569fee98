// Pooling over x [N, H, W, C] with unit channel stride; y is dense [N, OH, OW, C] in pixels `yPixel` apart. C is a multiple of VW.
// One of POOL_MAXIMUM, POOL_AVERAGE, POOL_L2. Range: channel blocks, runs of `run` pixels. An average divides by the places inside the image, or with
// COUNTS_PADDING by those inside the padded image. A window without a place gives 0.
// With GROUP > 1, see `groups.cl`, a group's items share one window: a group has one block of one pixel, VW is 1 or 4.
#if defined(POOL_MAXIMUM)
#define TAKE(place) { VEC(VW) value = place; total = value > total || value != value ? value : total; }
#define COMBINE (b > a || b != b ? b : a)
#elif defined(POOL_L2)
#define TAKE(place) { VEC(VW) value = place; total = fma(value, value, total); }
#else
#define TAKE(place) total += place;
#endif
#ifndef COMBINE
#define COMBINE (a + b)
#endif

NT_GROUP_KERNEL nt_pool(
    NT_ITEM global const X_T *x, global OUT_T *y, int C, int blocks, int offsetX, int xN, int xH, int xW, int yPixel, int pixels, int run,
    int H, int WIDTH, int OH, int OW, int KH, int KW, int SH, int SW, int DH, int DW, int PT, int PL, int PB, int PR)
{
    GROUP_MEMORY(VW)
#if GROUP == 1
    int pixel = ITEM(1) * run;
    int first = ITEM(0) * blocks * VW;
#else
    int pixel = (int)get_group_id(1);
    int first = (int)get_group_id(0) * VW;
#endif
    int stop = min(C, first + blocks * VW);
    int end = min(pixels, pixel + run);
    x += offsetX;
    for (; pixel < end; pixel++) {
        int line = pixel / OW, image = line / OH;
        int top = (line - image * OH) * SH - PT, left = (pixel - line * OW) * SW - PL;
        // The window's places inside the image are rows fromY..<toY by columns fromX..<toX; those inside the padded image are counted apart.
        int fromY = 0, fromX = 0, toY = 0, toX = 0, paddedY = 0, paddedX = 0;
        for (int ky = 0; ky < KH; ky++) {
            fromY += top + ky * DH < 0;
            toY += top + ky * DH < H;
            paddedY += top + ky * DH < H + PB;
        }
        for (int kx = 0; kx < KW; kx++) {
            fromX += left + kx * DW < 0;
            toX += left + kx * DW < WIDTH;
            paddedX += left + kx * DW < WIDTH + PR;
        }
        int inside = max(0, toY - fromY) * max(0, toX - fromX);
#ifdef COUNTS_PADDING
        float divisor = (float)(paddedY * paddedX);
#else
        float divisor = (float)inside;
#endif
        global const X_T *corner = x + (size_t)image * xN + ((top + fromY * DH) * xH + (left + fromX * DW) * xW);
        global OUT_T *target = y + (size_t)pixel * yPixel;
        for (int c = first; c < stop; c += VW) {
#ifdef POOL_MAXIMUM
            VEC(VW) total = (VEC(VW))(-INFINITY);
#else
            VEC(VW) total = (VEC(VW))(0.0f);
#endif
#if GROUP > 1
            int across = max(1, toX - fromX);
            for (int place = MEMBER; place < inside; place += GROUP) {
                int ky = place / across, kx = place - ky * across;
                TAKE(LOADV(VW, X_T, corner, ky * DH * xH + kx * DW * xW + c))
            }
#if VW == 4
            float parts[4] = {total.x, total.y, total.z, total.w};
            SHARE_ALL(4, parts, COMBINE)
            total = (float4)(parts[0], parts[1], parts[2], parts[3]);
#else
            SHARE(total, COMBINE)
#endif
            if (MEMBER > 0) return;
#else
            if (inside == KH * KW) {
                for (int ky = 0; ky < KH; ky++)
                    for (int kx = 0; kx < KW; kx++) TAKE(LOADV(VW, X_T, corner, ky * DH * xH + kx * DW * xW + c))
            } else {
                for (int ky = 0; ky < toY - fromY; ky++)
                    for (int kx = 0; kx < toX - fromX; kx++) TAKE(LOADV(VW, X_T, corner, ky * DH * xH + kx * DW * xW + c))
            }
#endif
#if defined(POOL_MAXIMUM)
            if (inside == 0) total = (VEC(VW))(0.0f);
#elif defined(POOL_L2)
            total = sqrt(total);
#else
            total = divisor > 0.0f ? total / divisor : (VEC(VW))(0.0f);
#endif
            STOREV(VW, OUT_T, target, c, total);
        }
    }
}
