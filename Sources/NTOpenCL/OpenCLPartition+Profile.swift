import NTRuntime

extension OpenCLPartition {
    /// Adds a finished run's kernel times to a profile, and the time in which the device waited between one kernel's end and the next one's start.
    /// `events` are in the order of the queue, each with its step.
    func record(_ events: [(step: Int, event: DeviceEvent)], in profile: RunProfile) throws(OpenCLError) {
        var (gap, lastEnd) = (0.0, UInt64?.none)
        var (step, kernel) = (-1, 0)
        for (owner, event) in events {
            let span = try event.span()
            kernel = owner == step ? kernel + 1 : 0
            step = owner
            profile.add(Double(span.end - span.start) * 1e-9, toStep: step, kernel: kernel)
            if let lastEnd, span.start > lastEnd { gap += Double(span.start - lastEnd) * 1e-9 }
            lastEnd = max(lastEnd ?? 0, span.end)
        }
        profile.add(gap: gap)
    }
}
