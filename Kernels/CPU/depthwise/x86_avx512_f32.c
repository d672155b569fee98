#if defined(__x86_64__)
#include "depthwise.h"
#include "../simd/avx512.h"
#include "depthwise_row.h"
#include "../simd/end.h"
#endif
