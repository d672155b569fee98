import NTCPU
import NTOpenCL
import NTRuntime

/// Where the time of a session's runs goes, step by step, and how near each step comes to what the device can reach.
public struct Profile: Sendable {
    /// One kernel of a step.
    public struct Kernel: Sendable {
        /// Its family and tile: `gemm 10x32`.
        public let name: String
        /// Milliseconds of one run, the median over runs; nil when only the step as a whole is timed.
        public let milliseconds: Double?
    }

    /// One step of the plan.
    public struct Row: Sendable {
        public let backend: String
        public let layers: [String]
        public let operators: [String]
        public let kernels: [Kernel]
        /// Why these kernels; empty when there was no choice.
        public let choice: String
        public let output: String
        /// Milliseconds of one run, the median over runs.
        public let milliseconds: Double
        public let flops: Int
        /// Bytes that must be read and written at least.
        public let byteCount: Int

        /// The kernels as one text.
        public var kernel: String { kernels.map(\.name).joined(separator: " + ") }
        /// 10^9 floating-point operations a second.
        public var gigaflopsPerSecond: Double { milliseconds > 0 ? Double(flops) / milliseconds / 1e6 : 0 }
        /// 10^9 bytes a second.
        public var gigabytesPerSecond: Double { milliseconds > 0 ? Double(byteCount) / milliseconds / 1e6 : 0 }
    }

    /// What the device reaches in measurements of its own.
    public struct Peaks: Sendable {
        /// 10^9 floating-point operations a second in float32 multiply-adds from registers, all cores together.
        public let gigaflopsPerSecond: Double
        /// 10^9 bytes a second, read and written by a large copy; nil where the values of a network stay in caches.
        public let gigabytesPerSecond: Double?
        /// What they were measured on, for people.
        public let measuredOn: String
    }

    /// The peak that a step comes nearest to.
    public struct Nearness: Sendable {
        public enum Bound: String, Sendable { case arithmetic, memory }

        public let bound: Bound
        public let percent: Double
    }

    public let rows: [Row]
    public let runCount: Int
    /// Milliseconds of one run from its call to its return, the median; timing every step makes it longer than an ordinary run.
    public let runMilliseconds: Double
    /// Milliseconds of one run in which the device waited between one kernel and the next, the median; nil where kernels are not timed on a device.
    public let gapMilliseconds: Double?
    /// Nil for the reference backend, which is not meant to be fast.
    public let peaks: Peaks?

    /// Milliseconds of all steps of one run.
    public var stepMilliseconds: Double { rows.reduce(0) { $0 + $1.milliseconds } }

    /// Milliseconds of one run outside its steps and the gaps between them: the way to the device and back, and the host.
    public var outsideMilliseconds: Double { max(0, runMilliseconds - stepMilliseconds - (gapMilliseconds ?? 0)) }

    /// How near a step comes to the nearer of the peaks, in percent; nil when there is no peak for it or it took no time. More bytes a second than a large
    /// copy moves come out of caches: then memory is not what bounds the step.
    public func nearness(_ row: Row) -> Nearness? {
        guard let peaks, row.backend != ReferenceBackend().name, row.milliseconds > 0 else { return nil }
        let arithmetic = row.gigaflopsPerSecond / peaks.gigaflopsPerSecond * 100
        let memory = peaks.gigabytesPerSecond.map { row.gigabytesPerSecond / $0 * 100 } ?? 0
        return memory > arithmetic && memory <= 100 ? Nearness(bound: .memory, percent: memory) : Nearness(bound: .arithmetic, percent: arithmetic)
    }

    /// The indices of the slowest rows, slowest first, at most `count`.
    public func slowest(_ count: Int) -> [Int] {
        Array(rows.indices.filter { rows[$0].milliseconds > 0 }.sorted { rows[$0].milliseconds > rows[$1].milliseconds }.prefix(count))
    }
}

extension Profile.Peaks {
    /// Measures a backend's device, or takes what the cache has; nil for the reference.
    init?(of backend: any Backend) throws {
        switch backend {
        case let backend as OpenCLBackend:
            let peaks = try DevicePeaks.kept(for: backend)
            self.init(
                gigaflopsPerSecond: peaks.gigaflops, gigabytesPerSecond: peaks.gigabytesPerSecond, measuredOn: backend.device.name)
        case let backend as CPUBackend:
            guard let peak = CPUPeak.best() else { return nil }
            self.init(
                gigaflopsPerSecond: peak.gigaflops * Double(backend.threadCount), gigabytesPerSecond: nil,
                measuredOn: "one core with \(peak.name), times \(backend.threadCount)")
        default: return nil
        }
    }
}
