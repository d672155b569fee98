#include "convert.h"

#if defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#define NT_TIER(name) name##_avx2
#include "convert_rows.inc"
#pragma clang attribute pop
#endif
