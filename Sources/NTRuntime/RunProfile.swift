/// Seconds spent in each step of a plan, added up over runs. Used by one thread at a time.
package final class RunProfile {
    /// Per step of the plan, in order.
    package private(set) var seconds: [Double]
    package private(set) var runCount = 0
    /// Where the running partition's steps begin in `seconds`.
    var offset = 0

    package init(stepCount: Int) { seconds = [Double](repeating: 0, count: stepCount) }

    /// Adds to the time of the running partition's step `index`.
    package func add(_ duration: Double, toStep index: Int) {
        guard seconds.indices.contains(offset + index) else { return }
        seconds[offset + index] += duration
    }

    func finishRun() { runCount += 1 }
}
