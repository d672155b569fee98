// Batched matrix products of two computed operands: y [batch][M][N] = a [M][K] b [K][N], a under strides, b with unit stride along N.
// meta: per batch axis its extent and the strides of a and b. One work-item computes TM rows of VW columns.
NT_KERNEL nt_matmul(
    NT_ITEM global const A_T *a, global const B_T *b, global OUT_T *y, global const int *meta, int batchRank, int batches, int M,
    int N, int K, int aRow, int aStep, int bRow, int offsetA, int offsetB)
{
    int n = ITEM(0) * VW, m = ITEM(1) * TM, batch = ITEM(2);
    if (n >= N || m >= M || batch >= batches) return;
    a += offsetA;
    b += offsetB;
    for (int axis = batchRank - 1, rest = batch; axis >= 0; axis--) {
        int next = rest / meta[3 * axis], place = rest - next * meta[3 * axis];
        rest = next;
        a += place * meta[3 * axis + 1];
        b += place * meta[3 * axis + 2];
    }
    y += ((size_t)batch * M + m) * N + n;
    VEC(VW) sums[TM];
    for (int i = 0; i < TM; i++) sums[i] = (VEC(VW))(0.0f);
    int width = min(VW, N - n), height = min(TM, M - m);
    if (width == VW) {
        for (int k = 0; k < K; k++) {
            VEC(VW) right = LOADV(VW, B_T, b, (size_t)k * bRow + n);
#pragma unroll
            for (int i = 0; i < TM; i++)
                sums[i] = fma((VEC(VW))(LOAD(A_T, a, (size_t)min(m + i, M - 1) * aRow + k * aStep)), right, sums[i]);
        }
        for (int i = 0; i < height; i++) STOREV(VW, OUT_T, y, (size_t)i * N, sums[i]);
        return;
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++)
                sum = fma(LOAD(A_T, a, (size_t)(m + i) * aRow + k * aStep), LOAD(B_T, b, (size_t)k * bRow + n + j), sum);
            STORE(OUT_T, y, (size_t)i * N + j, sum);
        }
}
