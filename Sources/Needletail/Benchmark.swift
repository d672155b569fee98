import Foundation
import NTGraph
import NTRuntime

/// Measures one session: repeated runs over random inputs of the model's own shapes, images uniform in 0-255, tensors in -1...1.
public final class Benchmark {
    /// Times of single runs in milliseconds.
    public struct Latency: Sendable {
        /// Sorted, shortest first; never empty.
        public let sorted: [Double]

        public init(sorted: [Double]) { self.sorted = sorted }

        public var count: Int { sorted.count }
        public var mean: Double { sorted.reduce(0, +) / Double(max(1, count)) }
        public var median: Double { percentile(50) }

        /// The value below which `percent` of the runs lie, by the nearest rank.
        public func percentile(_ percent: Double) -> Double {
            sorted[min(count - 1, max(0, Int((percent / 100 * Double(count)).rounded(.up)) - 1))]
        }
    }

    public let session: Session
    public let batch: Int
    private let entry: PlanEntry
    private let state: ExecutionState

    /// Prepares the plan for `batch` images at a time and runs it once.
    public init(_ session: Session, batch: Int = 1) throws {
        self.session = session
        self.batch = batch
        entry = try session.plan(PlanKey(shapes: [:], batch: batch))
        state = try NeedletailError.wrapping(.executionFailed) { [entry] in try entry.plan.makeState() }
        var generator = SplitMix64(state: 42)
        for (index, id) in entry.plan.graph.inputs.enumerated() {
            let value = entry.plan.graph[id]
            let isImage = session.model.imageInput(named: value.name) != nil
            let target = state.inputs[index].base.assumingMemoryBound(to: Float.self)
            for place in 0..<value.type.shape.count {
                let unit = Float(generator.next() >> 40) * 0x1p-24
                target[place] = isImage ? (unit * 255).rounded() : unit * 2 - 1
            }
        }
        try session.execute(entry, state)
    }

    /// What the self-check of this batch's first run has found, see `Session.verificationResult`.
    public var verificationResult: VerificationResult? { entry.verification.result }

    /// What the last run has computed, by name: all images of the batch, whose inputs come from one seed and are the same on every backend.
    public func outputs() throws -> [String: Tensor] {
        var result: [String: Tensor] = [:]
        for (index, id) in entry.plan.graph.outputs.enumerated() {
            let value = entry.plan.graph[id]
            let base = state.outputs[index].base.assumingMemoryBound(to: Float.self)
            result[value.name] = try Tensor(
                shape: value.type.shape.dims, elements: Array(UnsafeBufferPointer(start: base, count: value.type.shape.count)))
        }
        return result
    }

    /// Floating-point operations of one run.
    public var flops: Int { entry.plan.graph.flops }

    /// Layers that run on the slow reference, with the reason.
    public var fallbacks: [String] { entry.plan.fallbacks.map { "\($0.layer) (\($0.operatorKind)): \($0.reason)" } }

    /// Runs for about `seconds`, at least once, and returns the time of each run.
    public func run(seconds: Double) throws -> Latency {
        var times: [Double] = []
        times.reserveCapacity(1 << 16)
        let start = ContinuousClock.now
        repeat {
            let before = ContinuousClock.now
            try session.execute(entry, state)
            times.append((ContinuousClock.now - before) / .milliseconds(1))
        } while (ContinuousClock.now - start) / .seconds(1) < seconds
        return Latency(sorted: times.sorted())
    }

    /// Runs for about `seconds` with a clock around each step, and measures what the device can reach. Every time is the median over the runs, so
    /// that a neighbour's work in some of them does not show.
    public func profile(seconds: Double) throws -> Profile {
        let steps = entry.plan.steps
        let times = RunProfile(stepCount: steps.count)
        var samples = ProfileSamples(stepCount: steps.count)
        let start = ContinuousClock.now
        repeat {
            times.reset()
            let before = ContinuousClock.now
            try session.execute(entry, state, profile: times)
            samples.add(times, runSeconds: (ContinuousClock.now - before) / .seconds(1))
        } while (ContinuousClock.now - start) / .seconds(1) < seconds && samples.runCount < ProfileSamples.maximumCount
        return Profile(
            rows: steps.enumerated().map { index, item in samples.row(index, backend: item.backend, item.step) },
            runCount: samples.runCount, runMilliseconds: samples.runMilliseconds, gapMilliseconds: samples.gapMilliseconds,
            peaks: try NeedletailError.wrapping(.executionFailed) { try Profile.Peaks(of: session.backend, for: Set(steps.map(\.step.arithmetic))) })
    }

    /// The most memory this process has held at once, in bytes, as the kernel counts it (VmHWM).
    public static var peakMemoryByteCount: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}

/// Steele, Lea and Flood's SplitMix64: a small generator whose sequence depends on its seed alone.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
