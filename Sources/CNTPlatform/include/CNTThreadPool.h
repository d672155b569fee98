// A pool of worker threads that take a share each of one job at a time.
#ifndef CNT_THREAD_POOL_H
#define CNT_THREAD_POOL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nt_thread_pool nt_thread_pool;

/// A share of a job: `thread` counts from 0, the caller's own, to `threads` - 1. Shares may run at the same time.
typedef void (*nt_thread_job)(void *context, size_t thread, size_t threads);

/// A pool for jobs of up to `threads` shares: the caller's thread and threads - 1 workers, which start with the first job.
/// NULL when memory is short.
nt_thread_pool *nt_thread_pool_create(size_t threads);

/// Ends the workers and frees the pool. No job may be running. NULL is allowed.
void nt_thread_pool_destroy(nt_thread_pool *pool);

/// The shares that a job can have: 1 for NULL.
size_t nt_thread_pool_threads(const nt_thread_pool *pool);

/// Runs a job of `threads` shares (1 to the pool's), the caller's thread taking share 0, and returns when all are done.
/// Returns false, having run nothing, when the pool is serving another caller or its workers cannot be started.
/// Workers wait for the next job by spinning for a while, then sleep. A pool of as many threads as the process has cores keeps them on cores
/// of their own. Nothing is allocated or locked after the first job.
bool nt_thread_pool_run(nt_thread_pool *pool, size_t threads, nt_thread_job job, void *context);

/// Gives way to other work while waiting: `spins` counts the calls in one wait and starts at 0.
void nt_thread_relax(unsigned *spins);

#ifdef __cplusplus
}
#endif
#endif
