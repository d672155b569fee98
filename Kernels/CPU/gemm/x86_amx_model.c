#if defined(__x86_64__)
#include "gemm.h"
#include "../simd/amx_model.h"
#include "gemm_amx.h"

NT_GEMM_TILES(amx_model_32x32, 32, 2)

void nt_gemm_amx_model_begin(void) { tiles_begin(); }
void nt_gemm_amx_model_end(void) { tiles_end(); }

#include "../simd/end.h"
#endif
