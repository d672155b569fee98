#if defined(__x86_64__)
#include "strassen.h"
#include "../simd/avx512.h"
#include "strassen_sums.h"
#include "../simd/end.h"
#endif
