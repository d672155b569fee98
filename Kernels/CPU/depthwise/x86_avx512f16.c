#if defined(__x86_64__)
#include "depthwise.h"
#include "../simd/avx512f16.h"
#include "depthwise_pairs.h"
#include "../simd/end.h"
#endif
