#if defined(__x86_64__)
#include "softmax.h"
#include "../simd/avx2.h"
#include "softmax_run.h"
#include "../simd/end.h"
#endif
