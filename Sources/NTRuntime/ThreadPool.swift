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

    /// Calls `body` for each share 0..<`count` of a job, at the same time where the pool is free and has as many threads, else one after another.
    package func share(_ count: Int, _ body: @Sendable (Int) -> Void) {
        let isShared = withoutActuallyEscaping(body) { body in
            withUnsafePointer(to: body) { pointer in
                nt_thread_pool_run(
                    handle, count, { context, share, _ in context?.assumingMemoryBound(to: (@Sendable (Int) -> Void).self).pointee(share) },
                    UnsafeMutableRawPointer(mutating: pointer))
            }
        }
        if !isShared { for share in 0..<count { body(share) } }
    }
}
