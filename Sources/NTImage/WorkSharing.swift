/// How a preparation is shared among threads.
package struct WorkSharing: Sendable {
    /// Threads that may take part.
    package var threadCount: Int
    /// Calls the body for each share 0..<count, on any threads, and returns when all are done.
    package var run: @Sendable (_ count: Int, _ body: @Sendable (_ share: Int) -> Void) -> Void

    package init(threadCount: Int, run: @escaping @Sendable (_ count: Int, _ body: @Sendable (_ share: Int) -> Void) -> Void) {
        self.threadCount = threadCount
        self.run = run
    }

    /// Stored pixels that are worth a share: what takes some twenty times as long as waking a thread.
    private static let pixelsPerShare = 1 << 17

    /// Into how many shares a plan's work goes: no more than its output has rows.
    func shareCount(_ plan: ResamplePlan) -> Int {
        let pixels = plan.columnCount * plan.vertical.span.count
        return max(1, min(threadCount, pixels / Self.pixelsPerShare, plan.vertical.count / 4))
    }
}
