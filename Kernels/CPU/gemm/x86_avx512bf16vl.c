#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx512bf16vl.h"
#include "gemm_tile.h"

NT_GEMM_TILES(avx512bf16vl_8x24, 8, 3)

#include "../simd/end.h"
#endif
