// The functions that are counted, each handing on to the C library's own.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "counting.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if NT_COUNTS_CALLS

// glibc's allocator under the names by which it stays reachable.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t size) {
    nt_count(nt_count_allocation);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    nt_count(nt_count_allocation);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    nt_count(nt_count_allocation);
    return __libc_realloc(memory, size);
}

void *reallocarray(void *memory, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, total);
}

void *memalign(size_t alignment, size_t size) {
    nt_count(nt_count_allocation);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    void *found = memalign(alignment, size);
    if (!found) return ENOMEM;
    *memory = found;
    return 0;
}

void free(void *memory) {
    if (memory) nt_count(nt_count_free);
    __libc_free(memory);
}

// The rest is found when first called. Looking up calls none of them.
#define NEXT(type, name) \
    static _Atomic(type) found_##name; \
    static type next_##name(void) { \
        type function = atomic_load_explicit(&found_##name, memory_order_acquire); \
        if (!function) { \
            function = (type)dlsym(RTLD_NEXT, #name); \
            atomic_store_explicit(&found_##name, function, memory_order_release); \
        } \
        return function; \
    }

typedef void *(*map_fn)(void *, size_t, int, int, int, off_t);
NEXT(map_fn, mmap)
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    nt_count(nt_count_allocation);
    return next_mmap()(address, size, protection, flags, file, offset);
}

typedef int (*unmap_fn)(void *, size_t);
NEXT(unmap_fn, munmap)
int munmap(void *address, size_t size) {
    nt_count(nt_count_free);
    return next_munmap()(address, size);
}

#define COUNTED_LOCK(name, argument) \
    typedef int (*name##_fn)(argument *); \
    NEXT(name##_fn, name) \
    int name(argument *lock) { \
        nt_count(nt_count_lock); \
        return next_##name()(lock); \
    }

COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
COUNTED_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
COUNTED_LOCK(sem_wait, sem_t)
COUNTED_LOCK(sem_trywait, sem_t)

#define COUNTED_TIMED_LOCK(name, argument) \
    typedef int (*name##_fn)(argument *, const struct timespec *); \
    NEXT(name##_fn, name) \
    int name(argument *lock, const struct timespec *until) { \
        nt_count(nt_count_lock); \
        return next_##name()(lock, until); \
    }

COUNTED_TIMED_LOCK(pthread_mutex_timedlock, pthread_mutex_t)
COUNTED_TIMED_LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_t)
COUNTED_TIMED_LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_t)
COUNTED_TIMED_LOCK(sem_timedwait, sem_t)

typedef int (*spin_fn)(pthread_spinlock_t *);
NEXT(spin_fn, pthread_spin_lock)
int pthread_spin_lock(pthread_spinlock_t *lock) {
    nt_count(nt_count_lock);
    return next_pthread_spin_lock()(lock);
}

typedef int (*condition_fn)(pthread_cond_t *, pthread_mutex_t *);
NEXT(condition_fn, pthread_cond_wait)
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    nt_count(nt_count_lock);
    return next_pthread_cond_wait()(condition, mutex);
}

typedef int (*timed_condition_fn)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
NEXT(timed_condition_fn, pthread_cond_timedwait)
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    nt_count(nt_count_lock);
    return next_pthread_cond_timedwait()(condition, mutex, until);
}

typedef long (*system_fn)(long, ...);
NEXT(system_fn, syscall)
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex) {
        const int operation = (int)a[1] & FUTEX_CMD_MASK;
        if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_OP || operation == FUTEX_WAKE_BITSET) {
            nt_count(nt_count_wake);
        } else if (nt_is_counting_thread) {
            nt_count(nt_count_wait);
        }
    }
    return next_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
