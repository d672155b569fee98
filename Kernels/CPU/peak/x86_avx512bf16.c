#if defined(__x86_64__)
#include "peak.h"
#include "../simd/avx512bf16.h"
#include "peak_loop.h"
#include "../simd/end.h"
#endif
