// What the functions that stand in for the C library's share with the counter.
#ifndef NT_COUNTING_H
#define NT_COUNTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NT_COUNTS_CALLS 0
#else
#define NT_COUNTS_CALLS 1
#endif

enum {
    nt_count_allocation,
    nt_count_free,
    nt_count_lock,
    nt_count_wait,
    nt_count_wake,
    nt_count_entry,
    nt_count_kinds,
};

extern _Atomic bool nt_is_counting;
extern _Thread_local bool nt_is_counting_thread;
extern _Atomic uint64_t nt_counted[nt_count_kinds];

static inline void nt_count(int kind) {
    if (atomic_load_explicit(&nt_is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&nt_counted[kind], 1, memory_order_relaxed);
}

#endif
