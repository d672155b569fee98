#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx512bf16.h"
#include "gemm_tile.h"

NT_GEMM_TILES(avx512bf16_14x32, 14, 2)
NT_GEMM_TILES(avx512bf16_7x64, 7, 4)
NT_GEMM_TILES(avx512bf16_9x48, 9, 3)

#include "../simd/end.h"
#endif
