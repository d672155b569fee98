#if defined(__x86_64__)
#include "elementwise.h"
#include "../simd/avx2.h"
#include "elementwise_run.h"
#include "../simd/end.h"
#endif
