#include "CNTMemoryPoison.h"

#if __has_feature(address_sanitizer)
void __asan_poison_memory_region(const volatile void *start, size_t byte_count);
void __asan_unpoison_memory_region(const volatile void *start, size_t byte_count);

void nt_memory_poison(const void *start, size_t byte_count) { __asan_poison_memory_region(start, byte_count); }
void nt_memory_unpoison(const void *start, size_t byte_count) { __asan_unpoison_memory_region(start, byte_count); }
#else
void nt_memory_poison(const void *start, size_t byte_count) { (void)start, (void)byte_count; }
void nt_memory_unpoison(const void *start, size_t byte_count) { (void)start, (void)byte_count; }
#endif
