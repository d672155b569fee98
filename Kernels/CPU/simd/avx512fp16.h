// AVX-512's primitives, float16 in slots of two, and arithmetic on them by AVX512-FP16. `end.h` closes the region.
#define NT_AVX512_FP16
#include "avx512f16.h"

/// sum + x * y of each of the 32 numbers, rounded once to float16.
VINLINE vf vfma_pairs(vf x, vf y, vf sum) { return (vf)_mm512_fmadd_ph((__m512h)x, (__m512h)y, (__m512h)sum); }
