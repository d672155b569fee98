#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CNTThreadPool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Spins, some quarter of a millisecond, before a thread that waits for others naps, and before a worker without a job goes to sleep.
enum { spins_before_nap = 4096, spins_before_sleep = 4096 };

typedef struct nt_worker {
    nt_thread_pool *pool;
    size_t index;
    pthread_t thread;
} nt_worker;

struct nt_thread_pool {
    size_t threads;
    size_t started;              // workers running; changed by the holder of `busy` alone
    nt_worker *workers;
    // Each line of its own, so that waiting does not disturb.
    _Alignas(64) _Atomic uint32_t generation;  // one more with each job
    _Atomic uint32_t sleepers;
    _Alignas(64) _Atomic uint32_t finished;    // workers done with the current job
    _Alignas(64) _Atomic bool busy;
    bool ends;
    nt_thread_job job;
    void *context;
    size_t job_threads;
    int caller_cpu;              // where the last caller ran when the workers were pinned; -1 before
};

void nt_thread_relax(unsigned *spins) {
    if (++*spins > spins_before_nap) {
        // Whoever is waited for may be waiting for this core. A yield would give a busy neighbour its whole slice; a sleeper is let in again at once.
        const struct timespec nap = {.tv_sec = 0, .tv_nsec = 20000};
        nanosleep(&nap, NULL);
        return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_while(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0); }

static uint32_t await_generation(nt_thread_pool *pool, uint32_t seen) {
    unsigned spins = 0;
    for (;;) {
        const uint32_t now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen) return now;
        if (spins < spins_before_sleep) {
            nt_thread_relax(&spins);
            continue;
        }
        atomic_fetch_add(&pool->sleepers, 1);
        // The kernel compares again, so a job announced since is not slept through.
        if (atomic_load(&pool->generation) == seen) sleep_while(&pool->generation, seen);
        atomic_fetch_sub(&pool->sleepers, 1);
        spins = 0;
    }
}

static void *work(void *argument) {
    nt_worker *worker = argument;
    nt_thread_pool *pool = worker->pool;
    uint32_t seen = 0;
    for (;;) {
        seen = await_generation(pool, seen);
        if (pool->ends) return NULL;
        if (worker->index < pool->job_threads) pool->job(pool->context, worker->index, pool->job_threads);
        atomic_fetch_add_explicit(&pool->finished, 1, memory_order_release);
    }
}

nt_thread_pool *nt_thread_pool_create(size_t threads) {
    if (threads < 1) threads = 1;
    nt_thread_pool *pool = aligned_alloc(64, (sizeof(nt_thread_pool) + 63) / 64 * 64);
    if (!pool) return NULL;
    *pool = (nt_thread_pool){.threads = threads, .caller_cpu = -1};
    pool->workers = calloc(threads, sizeof(nt_worker));
    if (!pool->workers) {
        free(pool);
        return NULL;
    }
    return pool;
}

static void announce(nt_thread_pool *pool) {
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) > 0) wake_all(&pool->generation);
}

void nt_thread_pool_destroy(nt_thread_pool *pool) {
    if (!pool) return;
    pool->ends = true;
    announce(pool);
    for (size_t i = 0; i < pool->started; i++) pthread_join(pool->workers[i].thread, NULL);
    free(pool->workers);
    free(pool);
}

size_t nt_thread_pool_threads(const nt_thread_pool *pool) { return pool ? pool->threads : 1; }

// Workers start at the generation 0 they compare with, so all of them must start before the first job is announced.
static bool start_workers(nt_thread_pool *pool) {
    while (pool->started + 1 < pool->threads) {
        nt_worker *worker = &pool->workers[pool->started];
        *worker = (nt_worker){.pool = pool, .index = pool->started + 1};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) return false;
        pool->started++;
    }
    return true;
}

// When a pool has as many threads as the process has cores, each worker gets a core that is not the caller's: left to itself the
// scheduler may put two spinning threads on one core. Done again when a caller comes from another core.
static void pin_workers(nt_thread_pool *pool) {
    const int cpu = sched_getcpu();
    if (cpu < 0 || cpu == pool->caller_cpu) return;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || (size_t)CPU_COUNT(&allowed) != pool->threads) return;
    pool->caller_cpu = cpu;
    int core = cpu;
    for (size_t i = 0; i < pool->started; i++) {
        do core = (core + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(core, &allowed));
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(core, &own);
        pthread_setaffinity_np(pool->workers[i].thread, sizeof own, &own);
    }
}

bool nt_thread_pool_run(nt_thread_pool *pool, size_t threads, nt_thread_job job, void *context) {
    if (!pool || threads > pool->threads || threads < 1) return false;
    if (atomic_exchange_explicit(&pool->busy, true, memory_order_acquire)) return false;
    if (pool->started + 1 < pool->threads && !start_workers(pool)) {
        atomic_store_explicit(&pool->busy, false, memory_order_release);
        return false;
    }
    pin_workers(pool);
    pool->job = job;
    pool->context = context;
    pool->job_threads = threads;
    atomic_store_explicit(&pool->finished, 0, memory_order_relaxed);
    announce(pool);
    job(context, 0, threads);
    unsigned spins = 0;
    while (atomic_load_explicit(&pool->finished, memory_order_acquire) < pool->started) nt_thread_relax(&spins);
    atomic_store_explicit(&pool->busy, false, memory_order_release);
    return true;
}
