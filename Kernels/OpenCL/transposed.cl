// Transposed convolution, gathered: each work-item computes one output pixel for one panel of VW channels. x is [N, H, W, C] under
// strides with unit channel stride; weights are packed [group][panel][KH KW C][VW] as for `convolution.cl`; y dense pixels of O x groups.
NT_KERNEL nt_transposed(
    NT_ITEM global const X_T *x, global const S *weights, global const float *biases, global S *y, int pixels, int O, int C,
    int panels, int columns, int offsetX, int xN, int xH, int xW, int yPixel, int H, int WIDTH, int OH, int OW, int KH,
    int KW, int SH, int SW, int DH, int DW, int PT, int PL, float p, float q)
{
    int pixel = ITEM(0);
    int tileColumn = ITEM(1);
    if (pixel >= pixels || tileColumn >= columns) return;
    int group = tileColumn / panels;
    int first = (tileColumn - group * panels) * VW;
    int line = pixel / OW, ox = pixel - line * OW, image = line / OH, oy = line - image * OH;
    global const S *panel = weights + (size_t)tileColumn * KH * KW * C * VW;
    x += offsetX + (size_t)image * xN + group * C;
    VEC(VW) sum = LOADV(VW, float, biases, tileColumn * VW);
    for (int ky = 0; ky < KH; ky++) {
        int ty = oy + PT - ky * DH, iy = ty / SH;
        if (ty < 0 || iy * SH != ty || iy >= H) continue;
        for (int kx = 0; kx < KW; kx++) {
            int tx = ox + PL - kx * DW, ix = tx / SW;
            if (tx < 0 || ix * SW != tx || ix >= WIDTH) continue;
            global const X_T *row = x + (iy * xH + ix * xW);
            global const S *w = panel + (size_t)(ky * KW + kx) * C * VW;
            for (int c = 0; c < C; c++)
                sum = fma((VEC(VW))(LOAD(X_T, row, c)), LOADV(VW, S, w, c * VW), sum);
        }
    }
    float part[VW];
    STOREV(VW, float, part, 0, FUNCTION(activate, VW)(sum, p, q));
    size_t at = (size_t)pixel * yPixel + group * O + first;
    for (int j = 0; j < min(VW, O - first); j++) STORE(S, y, at + j, part[j]);
}
