import CNTPlatform

/// Worker threads that take shares of one job at a time: the calling thread and `threadCount - 1` workers, started with the first job.
/// Safe from any thread; a caller that finds the pool busy computes its shares alone.
package final class ThreadPool: @unchecked Sendable {
    package let threadCount: Int
    /// For C code that runs jobs; valid while the pool lives. Nil when memory was short: then all work is the caller's.
    package let handle: OpaquePointer?

    package init(threadCount: Int) {
        self.threadCount = max(1, threadCount)
        handle = threadCount > 1 ? nt_thread_pool_create(threadCount) : nil
    }

    deinit { nt_thread_pool_destroy(handle) }
}
