// out = activate(combine(a, b, c)) over strided operands: element-wise operators with broadcasting, copies between layouts, fills.
//
// The iteration space is `outerRank` axes and one inner axis. meta holds five numbers per outer axis: its extent and the strides of
// out, a, b, c, in elements. Work-item g takes elements [run * (g % chunks), + run) of the inner axis at outer place g / chunks.
// A_STEP, B_STEP, C_STEP, OUT_STEP are 1 or 0 when the operand's inner stride is that, and 2 when it is the argument.
// out may be a itself when their strides agree.
#define IS_VECTOR (A_STEP < 2 && B_STEP < 2 && C_STEP < 2 && OUT_STEP == 1 && W > 1)

#if A_STEP == 2
#define A_AT(j) ((j) * stepA)
#else
#define A_AT(j) ((j) * A_STEP)
#endif
#if B_STEP == 2
#define B_AT(j) ((j) * stepB)
#else
#define B_AT(j) ((j) * B_STEP)
#endif
#if C_STEP == 2
#define C_AT(j) ((j) * stepC)
#else
#define C_AT(j) ((j) * C_STEP)
#endif
#if OUT_STEP == 2
#define OUT_AT(j) ((j) * stepOut)
#else
#define OUT_AT(j) (j)
#endif

#if A_STEP == 1
#define A_VECTOR(j) LOADV(W, A_T, a, j)
#else
#define A_VECTOR(j) ((VEC(W))(LOAD(A_T, a, 0)))
#endif
#if B_STEP == 1
#define B_VECTOR(j) LOADV(W, B_T, b, j)
#else
#define B_VECTOR(j) ((VEC(W))(LOAD(B_T, b, 0)))
#endif
#if C_STEP == 1
#define C_VECTOR(j) LOADV(W, C_T, c, j)
#else
#define C_VECTOR(j) ((VEC(W))(LOAD(C_T, c, 0)))
#endif

NT_KERNEL nt_pointwise(
    NT_ITEM global const A_T *a, global const B_T *b, global const C_T *c, global OUT_T *out, global const int *meta,
    int outerRank, int inner, int run, int chunks, int items, int offsetOut, int offsetA, int offsetB, int offsetC,
    int stepOut, int stepA, int stepB, int stepC, float p, float q)
{
    int item = ITEM(0);
    if (item >= items) return;
    int rest = item / chunks;
    int j = (item - rest * chunks) * run;
    int end = min(inner, j + run);
    a += offsetA;
    b += offsetB;
    c += offsetC;
    out += offsetOut;
    for (int axis = outerRank - 1; axis >= 0; axis--) {
        global const int *row = meta + 5 * axis;
        int next = rest / row[0];
        int place = rest - next * row[0];
        rest = next;
        out += place * row[1];
        a += place * row[2];
        b += place * row[3];
        c += place * row[4];
    }
#if IS_VECTOR
    for (; j + W <= end; j += W) {
        VEC(W) value = FUNCTION(combine, W)(A_VECTOR(j), B_VECTOR(j), C_VECTOR(j));
        STOREV(W, OUT_T, out, j, FUNCTION(activate, W)(value, p, q));
    }
#endif
    for (; j < end; j++) {
        float value = FUNCTION(combine, 1)(LOAD(A_T, a, A_AT(j)), LOAD(B_T, b, B_AT(j)), LOAD(C_T, c, C_AT(j)));
        STORE(OUT_T, out, OUT_AT(j), FUNCTION(activate, 1)(value, p, q));
    }
}
