#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx512fp16.h"
#define NT_PARTIAL_SUMS
#include "gemm_tile.h"

// As many sums as leave registers for a row of B and a number of A, which these multiply-adds cannot read from memory as it lies.
NT_GEMM_TILES(avx512fp16_14x32, 14, 2)
NT_GEMM_TILES(avx512fp16_6x64, 6, 4)
NT_GEMM_TILES(avx512fp16_9x48, 9, 3)

#include "../simd/end.h"
#endif
