// The body of every peak loop, written in the primitives of simd/*.h. With NT_PAIRS the factors lie in slots of two.

#if defined(NT_PAIRS)
#define PEAK_ROUND(sum, a, b) vfma_pairs(a, b, sum)
#else
#define PEAK_ROUND(sum, a, b) vfma(sum, a, b)
#endif

void VNAME(nt_peak)(size_t rounds);
void VNAME(nt_peak)(size_t rounds) {
    vf sums[12];
#pragma clang loop unroll(full)
    for (int i = 0; i < 12; i++) sums[i] = vset1((float)i);
    vf a = vset1(0.999f), b = vset1(0.001f);
    for (size_t r = 0; r < rounds; r++) {
        // Opaque, so that no multiply-add can be moved out of the loop.
#if defined(__x86_64__)
        __asm__ volatile("" : "+x"(a), "+x"(b));
#else
        __asm__ volatile("" : "+w"(a), "+w"(b));
#endif
#pragma clang loop unroll(full)
        for (int i = 0; i < 12; i++) sums[i] = PEAK_ROUND(sums[i], a, b);
    }
    vf total = sums[0];
#pragma clang loop unroll(full)
    for (int i = 1; i < 12; i++) total += sums[i];
    volatile float kept = vsum(total);
    (void)kept;
}
