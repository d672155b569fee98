#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNTPlatform.h"

#include <stdlib.h>
#include <sys/mman.h>

void *nt_aligned_alloc(size_t alignment, size_t byte_count) {
    const size_t huge = (size_t)2 << 20;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    if (byte_count >= huge && alignment < huge) alignment = huge;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, byte_count ? byte_count : 1) != 0) return NULL;
    if (byte_count >= huge) madvise(memory, byte_count & ~(huge - 1), MADV_HUGEPAGE);
    return memory;
}

void nt_aligned_free(void *memory) { free(memory); }
