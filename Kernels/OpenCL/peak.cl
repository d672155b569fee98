// What a device can do at most: a copy, and multiply-adds that need no memory.

// Each work-item copies `run` vectors of W floats.
kernel void nt_copy(global const float *x, global float *y, int run, int vectors)
{
    int i = (int)get_global_id(0) * run, end = min(vectors, i + run);
    for (; i < end; i++) STOREV(W, float, y, (size_t)i * W, LOADV(W, float, x, (size_t)i * W));
}

// Ten chains of multiply-adds on vectors of W floats, `rounds` long; the sum is stored so that nothing is left out.
#define CHAINS(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9)
#define START(i) VEC(W) chain##i = (VEC(W))(start + i);
#define ROUND(i) chain##i = fma(chain##i, factor, addend);
#define TOTAL(i) total += chain##i;
kernel void nt_multiply_add(global float *y, int rounds, float scale, float shift)
{
    float start = (float)get_global_id(0);
    VEC(W) factor = (VEC(W))(scale), addend = (VEC(W))(shift), total = (VEC(W))(0.0f);
    CHAINS(START)
    for (int i = 0; i < rounds; i++) {
        CHAINS(ROUND)
    }
    CHAINS(TOTAL)
    STOREV(W, float, y, (size_t)get_global_id(0) * W, total);
}
