/// Seconds spent in each step of a plan, added up over runs. Used by one thread at a time.
package final class RunProfile {
    /// Per step of the plan, in order.
    package private(set) var seconds: [Double]
    /// Per step of the plan and kernel of the step; a step whose backend times it as a whole has one entry, one that never ran none.
    package private(set) var kernelSeconds: [[Double]]
    /// Seconds in which a device that was given all its work waited between one kernel and the next; nil when the backend cannot tell.
    package private(set) var gapSeconds: Double?
    package private(set) var runCount = 0
    /// Where the running partition's steps begin in `seconds`.
    var offset = 0

    package init(stepCount: Int) {
        seconds = [Double](repeating: 0, count: stepCount)
        kernelSeconds = [[Double]](repeating: [], count: stepCount)
    }

    /// Adds to the time of kernel `kernel` of the running partition's step `index`.
    package func add(_ duration: Double, toStep index: Int, kernel: Int = 0) {
        let step = offset + index
        guard seconds.indices.contains(step), kernel >= 0 else { return }
        seconds[step] += duration
        while kernelSeconds[step].count <= kernel { kernelSeconds[step].append(0) }
        kernelSeconds[step][kernel] += duration
    }

    /// Adds to the time between kernels.
    package func add(gap duration: Double) { gapSeconds = (gapSeconds ?? 0) + duration }

    /// Forgets all times and runs.
    package func reset() {
        for step in seconds.indices {
            seconds[step] = 0
            for kernel in kernelSeconds[step].indices { kernelSeconds[step][kernel] = 0 }
        }
        (gapSeconds, runCount) = (nil, 0)
    }

    func finishRun() { runCount += 1 }
}
