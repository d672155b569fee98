// Counts calls of this process that an inference must not make: allocations, locks, system calls that wait, entries into libraries.
//
// The target defines the allocator's and the locks' functions itself, so a program linked with it counts its own calls, the Swift
// runtime's and every library's. Only programs made for counting may link it. Under a sanitizer, which has an allocator of its own,
// `nt_call_counts_available` returns false and nothing is counted.
#ifndef CNT_CALL_COUNTER_H
#define CNT_CALL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Calls of all threads between `nt_call_counts_begin` and `nt_call_counts_end`, unless said otherwise.
typedef struct nt_call_counts {
    uint64_t allocations;  ///< malloc, calloc, realloc and the aligned ones, mmap
    uint64_t frees;        ///< free of anything but NULL, munmap
    uint64_t locks;        ///< pthread mutexes, read-write locks, conditions and semaphores taken or waited for
    uint64_t waits;        ///< futex waits of the thread that began the count; other threads may sleep
    uint64_t wakes;        ///< futex wakes: sleeping workers called for
    uint64_t entries;      ///< 1 when the code of a guarded library ran
} nt_call_counts;

bool nt_call_counts_available(void);

/// Guards the code of the loaded libraries whose file name contains one of `count` texts: while counting, entering it is noticed. Returns how
/// many stretches of code are guarded. The texts must stay valid.
int nt_call_counts_guard(const char *const *names, int count);

/// A futex wait that does not last, for checking that waits are counted.
void nt_call_counts_wait(void);

/// Starts counting at zero. One thread at a time may count.
void nt_call_counts_begin(void);

/// Stops counting.
nt_call_counts nt_call_counts_end(void);

#ifdef __cplusplus
}
#endif
#endif
