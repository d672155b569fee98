#include "gemm.h"
#include "../simd/portable.h"
#include "gemm_tile.h"

NT_GEMM_TILES(portable_4x8, 4, 2)

#include "../simd/end.h"
