#if defined(__x86_64__)
#include "pool.h"
#include "../simd/avx2.h"
#include "pool_pixel.h"
#include "../simd/end.h"
#endif
