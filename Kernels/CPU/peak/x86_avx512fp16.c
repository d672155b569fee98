#if defined(__x86_64__)
#include "peak.h"
#include "../simd/avx512fp16.h"
#include "peak_loop.h"
#include "../simd/end.h"
#endif
