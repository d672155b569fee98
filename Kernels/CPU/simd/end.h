// Closes the region that avx512.h, avx2.h or portable.h opened.
#pragma clang attribute pop
#undef VL
#undef VNAME
#undef VINLINE
#undef NT_PAIRS
