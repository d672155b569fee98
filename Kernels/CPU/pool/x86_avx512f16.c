#if defined(__x86_64__)
#include "pool.h"
#include "../simd/avx512f16.h"
#include "pool_pairs.h"
#include "../simd/end.h"
#endif
