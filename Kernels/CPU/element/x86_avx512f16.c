#if defined(__x86_64__)
#include "conversion.h"
#include "../simd/avx512f16.h"
#include "conversion_row.h"
#include "../simd/end.h"
#endif
