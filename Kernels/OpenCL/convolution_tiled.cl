// Convolution for devices with many narrow cores: a group of LX x LY work-items computes BM pixels by BN channels, staging BK channels
// of both operands in local memory; each item keeps RM x RN sums. Layouts and arguments are those of `convolution.cl` with TN = BN.
#define BM (LY * RM)
#define BN (LX * RN)
#define ITEMS (LX * LY)

kernel __attribute__((reqd_work_group_size(LX, LY, 1))) void nt_convolution(
    global const X_T *x, global const S *weights, global const float *biases, global const S *residual, global S *y,
    global const X_T *zeros, int pixels, int O, int C, int panels, int span, int hasResidual, int offsetX, int offsetY, int offsetR,
    int xN, int xH, int xW, int xC, int yPixel, int rPixel, int H, int WIDTH, int OH, int OW, int KH, int KW, int SH,
    int SW, int DH, int DW, int PT, int PL, float p, float q)
{
    local float tileX[BK][BM + 1];
    local float tileW[BK][BN];
    int tileColumn = (int)get_group_id(1);
    int group = tileColumn / panels;
    int first = (tileColumn - group * panels) * BN;
    int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    int flat = ly * LX + lx;
    int m = (int)get_group_id(0) * BM;
    global const S *panel = weights + (size_t)tileColumn * KH * KW * C * BN;
    x += offsetX + group * C * xC;
    y += offsetY + group * O;
    residual += offsetR + group * O;

    float sums[RM][RN];
    for (int i = 0; i < RM; i++)
        for (int j = 0; j < RN; j++) sums[i][j] = biases[(size_t)tileColumn * BN + lx * RN + j];

    for (int tap = 0; tap < KH * KW; tap++) {
        int ky = tap / KW, kx = tap - ky * KW;
        for (int c0 = 0; c0 < C; c0 += BK) {
            for (int e = flat; e < BM * BK; e += ITEMS) {
                // Neighbouring items read neighbouring channels of one pixel.
                int row = e / BK, k = e - row * BK;
                int index = m + row;
                float value = 0.0f;
                if (index < pixels && c0 + k < C) {
                    int line = index / OW, image = line / OH;
                    int iy = (line - image * OH) * SH - PT + ky * DH, ix = (index - line * OW) * SW - PL + kx * DW;
                    if (iy >= 0 && iy < H && ix >= 0 && ix < WIDTH)
                        value = LOAD(X_T, x, (size_t)image * xN + iy * xH + ix * xW + (c0 + k) * xC);
                }
                tileX[k][row] = value;
            }
            for (int e = flat; e < BK * BN; e += ITEMS) {
                int k = e / BN, column = e - k * BN;
                tileW[k][column] = c0 + k < C ? LOAD(S, panel, ((size_t)tap * C + c0 + k) * BN + column) : 0.0f;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int k = 0; k < BK; k++) {
                float left[RM], right[RN];
                for (int i = 0; i < RM; i++) left[i] = tileX[k][ly * RM + i];
                for (int j = 0; j < RN; j++) right[j] = tileW[k][lx * RN + j];
                for (int i = 0; i < RM; i++)
                    for (int j = 0; j < RN; j++) sums[i][j] = fma(left[i], right[j], sums[i][j]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    for (int i = 0; i < RM; i++) {
        int index = m + ly * RM + i;
        if (index >= pixels) continue;
        for (int j = 0; j < RN; j++) {
            int channel = first + lx * RN + j;
            if (channel >= O) continue;
            float total = sums[i][j];
            if (hasResidual) total += LOAD(S, residual, (size_t)index * rPixel + channel);
            STORE(S, y, (size_t)index * yPixel + channel, FUNCTION(activate, 1)(total, p, q));
        }
    }
}
