#if defined(__x86_64__)
#include "winograd.h"
#include "../simd/avx512f16.h"
#include "winograd_transform.h"
#include "../simd/end.h"
#endif
