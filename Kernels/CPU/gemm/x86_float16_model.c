#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/avx512fp16_model.h"
// Every tile by one function with loops: the model is there for its results.
#define NT_PARTIAL_SUMS
#define NT_MODEL
#include "gemm_tile.h"

NT_GEMM_TILES(float16_model_14x32, 14, 2)

#include "../simd/end.h"
#endif
