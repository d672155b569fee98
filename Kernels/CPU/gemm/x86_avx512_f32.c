#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx512.h"
#include "gemm_tile.h"

NT_GEMM_TILES(avx512_14x32, 14, 2)
NT_GEMM_TILES(avx512_7x64, 7, 4)
NT_GEMM_TILES(avx512_9x48, 9, 3)

#include "../simd/end.h"
#endif
