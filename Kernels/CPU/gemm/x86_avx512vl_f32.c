#if defined(__x86_64__)
#include "gemm.h"
#define NT_AVX512_VL
#include "../simd/avx2.h"
#include "gemm_tile.h"

NT_GEMM_TILES(avx512vl_8x24, 8, 3)
NT_GEMM_TILES(avx512vl_24x8, 24, 1)

#include "../simd/end.h"
#endif
