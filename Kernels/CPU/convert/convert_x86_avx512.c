#include "convert.h"

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#define NT_TIER(name) name##_avx512
#include "convert_rows.inc"
#pragma clang attribute pop
#endif
