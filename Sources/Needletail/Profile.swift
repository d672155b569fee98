import Foundation
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
        /// Floating-point operations that the kernels really do: fewer than `flops` by Winograd's method.
        public let performedFlops: Int
        /// What most of them are computed in: `float32`, or `bfloat16` or `float16` with float32 sums.
        public let arithmetic: String
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
        /// The same with bfloat16 factors; nil where there are none in hardware, or no step uses them.
        public let bfloat16GigaflopsPerSecond: Double?
        /// The same in float16.
        public let float16GigaflopsPerSecond: Double?
        /// What copies of growing size reach, the last bound by memory and those before by caches; empty where that is not measured.
        public let copies: [Copy]
        /// What they were measured on, for people.
        public let measuredOn: String
    }

    /// What a device's copy of one size reaches.
    public struct Copy: Sendable {
        /// Bytes read and written together.
        public let byteCount: Int
        /// 10^9 bytes a second, read and written.
        public let gigabytesPerSecond: Double
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

    /// How near a step comes to the nearer of the peaks, in percent; nil when there is no peak for it or it took no time.
    public func nearness(_ row: Row) -> Nearness? {
        guard let arithmetic = arithmeticPercent(row) else { return nil }
        guard let memory = memoryPercent(row), memory > arithmetic else { return Nearness(bound: .arithmetic, percent: arithmetic) }
        return Nearness(bound: .memory, percent: memory)
    }

    /// The multiply-adds that a step's kernels do a second, in percent of the peak of their arithmetic; nil when there is no peak or the step took no time.
    public func arithmeticPercent(_ row: Row) -> Double? {
        guard let peaks, row.backend != ReferenceBackend().name, row.milliseconds > 0 else { return nil }
        let peak =
            switch Arithmetic(rawValue: row.arithmetic) {
            case .bfloat16: peaks.bfloat16GigaflopsPerSecond
            case .float16: peaks.float16GigaflopsPerSecond
            case .float32, nil: peaks.gigaflopsPerSecond
            }
        return peak.map { Double(row.performedFlops) / row.milliseconds / 1e6 / $0 * 100 }
    }

    /// The bytes that a step moves a second, in percent of what a copy of as many bytes reaches, in caches or in memory. Nil when that is not measured, the
    /// step took no time, or it is faster than the copy: then that does not bound it.
    public func memoryPercent(_ row: Row) -> Double? {
        guard let peaks, row.backend != ReferenceBackend().name, row.milliseconds > 0, row.byteCount > 0 else { return nil }
        let percent = peaks.copyRate(row.byteCount).map { row.gigabytesPerSecond / $0 * 100 }
        return percent.flatMap { $0 > 100 ? nil : $0 }
    }

    /// The indices of the slowest rows, slowest first, at most `count`.
    public func slowest(_ count: Int) -> [Int] {
        Array(rows.indices.filter { rows[$0].milliseconds > 0 }.sorted { rows[$0].milliseconds > rows[$1].milliseconds }.prefix(count))
    }
}

extension Profile.Peaks {
    /// 10^9 bytes a second that a copy moves which reads and writes so many bytes: between the sizes that were measured, by their logarithms.
    func copyRate(_ byteCount: Int) -> Double? {
        guard let above = copies.firstIndex(where: { $0.byteCount >= byteCount }) else { return copies.last?.gigabytesPerSecond }
        guard above > 0 else { return copies[0].gigabytesPerSecond }
        let (low, high) = (copies[above - 1], copies[above])
        let place = log(Double(byteCount) / Double(low.byteCount)) / log(Double(high.byteCount) / Double(low.byteCount))
        return low.gigabytesPerSecond + (high.gigabytesPerSecond - low.gigabytesPerSecond) * place
    }

    /// Measures a backend's device for the arithmetic that steps use, or takes what the cache has; nil for the reference.
    init?(of backend: any Backend, for arithmetic: Set<Arithmetic>) throws {
        switch backend {
        case let backend as OpenCLBackend:
            let peaks = try DevicePeaks.kept(for: backend)
            self.init(
                gigaflopsPerSecond: peaks.gigaflops, bfloat16GigaflopsPerSecond: nil, float16GigaflopsPerSecond: nil,
                copies: peaks.copies.map { Profile.Copy(byteCount: $0.byteCount, gigabytesPerSecond: $0.gigabytesPerSecond) },
                measuredOn: backend.device.name)
        case let backend as CPUBackend:
            guard let peak = CPUPeak.best() else { return nil }
            let halves = [Arithmetic.bfloat16, .float16].map { arithmetic.contains($0) ? CPUPeak.best($0) : nil }
            let names = [peak.name] + halves.compactMap { $0?.name }
            let rates = halves.map { half in half.map { $0.gigaflops * Double(backend.workerCount) } }
            self.init(
                gigaflopsPerSecond: peak.gigaflops * Double(backend.workerCount), bfloat16GigaflopsPerSecond: rates[0],
                float16GigaflopsPerSecond: rates[1], copies: [],
                measuredOn: "one core with \(names.joined(separator: " and ")), times \(backend.workerCount)")
        default: return nil
        }
    }
}
