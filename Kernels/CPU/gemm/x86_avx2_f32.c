#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx2.h"
#include "gemm_tile.h"

NT_GEMM_TILES(avx2_12x8, 12, 1)
NT_GEMM_TILES(avx2_6x16, 6, 2)

#include "../simd/end.h"
#endif
