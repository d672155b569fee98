// Memory that must not be touched, told to AddressSanitizer; without it, nothing happens.
#ifndef CNT_MEMORY_POISON_H
#define CNT_MEMORY_POISON_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// From here on any access to these bytes is reported, even one whose result is not used.
void nt_memory_poison(const void *start, size_t byte_count);

/// Allows access again.
void nt_memory_unpoison(const void *start, size_t byte_count);

#ifdef __cplusplus
}
#endif
#endif
