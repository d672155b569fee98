// Products of RM pixels with a constant matrix, for devices with many narrow cores: a group's items share the inner products of RN channels, each taking
// every GROUP-th vector of four steps, and with it neighbours of what its neighbours take.
//
// x is RM pixels of C channels, `xPixel` apart; y and the residual are pixels `yPixel` and `rPixel` apart. Weights are rows of C channels, zeros up to the next
// multiple of 4, for a multiple of RN channels; so are the biases. With X_VECTORS C is a multiple of 4 and vectors of x lie aligned as such.
#ifdef X_VECTORS
#define FETCH(vector, pixel, c) vector = LOADA(X_T, x, (pixel) + (c));
#else
// What lies behind the last channel is not to be read, nor multiplied by a zero.
#define FETCH(vector, pixel, c) { \
    vector.x = LOAD(X_T, x, (pixel) + (c)); \
    if ((c) + 1 < C) vector.y = LOAD(X_T, x, (pixel) + (c) + 1); \
    if ((c) + 2 < C) vector.z = LOAD(X_T, x, (pixel) + (c) + 2); \
    if ((c) + 3 < C) vector.w = LOAD(X_T, x, (pixel) + (c) + 3); }
#endif

NT_GROUP_KERNEL nt_dense(
    global const X_T *x, global const S *weights, global const float *biases, global const S *residual, global S *y, int O, int C,
    int hasResidual, int offsetX, int offsetY, int offsetR, int xPixel, int yPixel, int rPixel, float p, float q)
{
    GROUP_MEMORY(RM * RN)
    int first = (int)get_group_id(0) * RN, vectors = (C + 3) / 4;
    x += offsetX;
    y += offsetY;
    residual += offsetR;
    weights += (size_t)first * vectors * 4;
    float4 sums[RM][RN];
#pragma unroll
    for (int i = 0; i < RM; i++) {
#pragma unroll
        for (int j = 0; j < RN; j++) sums[i][j] = (float4)(0.0f);
    }
    // Two rounds' vectors are on their way at once; those of a round that is not are zeros.
    for (int k = MEMBER; k < vectors; k += 2 * GROUP) {
        float4 values[2][RM], rows[2][RN];
#pragma unroll
        for (int round = 0; round < 2; round++) {
            int at = k + round * GROUP, has = at < vectors;
#pragma unroll
            for (int i = 0; i < RM; i++) {
                values[round][i] = (float4)(0.0f);
                if (has) FETCH(values[round][i], (size_t)i * xPixel, at * 4)
            }
#pragma unroll
            for (int j = 0; j < RN; j++) {
                rows[round][j] = (float4)(0.0f);
                if (has) rows[round][j] = LOADA(S, weights, ((size_t)j * vectors + at) * 4);
            }
        }
#pragma unroll
        for (int round = 0; round < 2; round++) {
#pragma unroll
            for (int j = 0; j < RN; j++) {
#pragma unroll
                for (int i = 0; i < RM; i++) sums[i][j] = fma(values[round][i], rows[round][j], sums[i][j]);
            }
        }
    }
    float totals[RM * RN];
#pragma unroll
    for (int i = 0; i < RM; i++) {
#pragma unroll
        for (int j = 0; j < RN; j++) totals[i * RN + j] = (sums[i][j].x + sums[i][j].y) + (sums[i][j].z + sums[i][j].w);
    }
    SHARE_ALL(RM * RN, totals, a + b)
#pragma unroll
    for (int i = 0; i < RM; i++) {
#pragma unroll
        for (int j = 0; j < RN; j++) {
            int channel = first + j;
            if (MEMBER != (i * RN + j) % GROUP || channel >= O) continue;
            float total = totals[i * RN + j] + biases[channel];
            if (hasResidual) total += LOAD(S, residual, (size_t)i * rPixel + channel);
            STORE(S, y, (size_t)i * yPixel + channel, FUNCTION(activate, 1)(total, p, q));
        }
    }
}
