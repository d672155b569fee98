import Foundation
import NTFiles
import NTGraph

/// What a device reaches in a built-in measurement: the scale that a profile's figures are read against.
package struct DevicePeaks: Sendable, Codable, Equatable {
    /// Multiply-adds (as 2) in float32 from registers, in 10^9 a second.
    package let gigaflops: Double
    /// Copies of growing size: small ones stay in caches, the last is bound by memory. At least one.
    package let copies: [Copy]

    /// What a copy of one size reaches.
    package struct Copy: Sendable, Codable, Equatable {
        /// Bytes read and written together.
        package let byteCount: Int
        /// Bytes read and written, in 10^9 a second.
        package let gigabytesPerSecond: Double

        package init(byteCount: Int, gigabytesPerSecond: Double) { (self.byteCount, self.gigabytesPerSecond) = (byteCount, gigabytesPerSecond) }
    }

    package init(gigaflops: Double, copies: [Copy]) { (self.gigaflops, self.copies) = (gigaflops, copies) }

    /// Measures for about `seconds`. Throws what the device throws.
    package static func measure(on backend: OpenCLBackend, seconds: Double = 0.4) throws -> DevicePeaks {
        let probe = PeakProbe(context: backend.context, style: backend.style)
        let gigaflops = try probe.multiplyAdds(seconds: seconds / 2)
        let sizes = probe.copySizes
        return DevicePeaks(
            gigaflops: gigaflops,
            copies: try sizes.map { Copy(byteCount: 2 * $0, gigabytesPerSecond: try probe.copy(of: $0, seconds: seconds / 2 / Double(sizes.count))) })
    }

    /// The peaks of a backend's device: measured now, which takes a fraction of a second, and not below what the cache has kept of earlier measurements,
    /// which other programs may have disturbed less. Kept numbers far above the measured are not believed; a file that cannot be read counts as none.
    /// Throws what the device throws.
    package static func kept(for backend: OpenCLBackend, in location: CacheLocation = CacheLocation()) throws -> DevicePeaks {
        let file = location.file("peaks", for: backend.device, suffix: "-\(backend.style.family.rawValue)")
        let known = file.flatMap { try? Files.read($0.path, limit: 1 << 16) }.flatMap { try? JSONDecoder().decode(DevicePeaks.self, from: $0) }
        let measured = try measure(on: backend)
        let found = DevicePeaks(
            gigaflops: better(known?.gigaflops, measured.gigaflops),
            copies: measured.copies.map { copy in
                let before = known?.copies.first { $0.byteCount == copy.byteCount }
                return Copy(byteCount: copy.byteCount, gigabytesPerSecond: better(before?.gigabytesPerSecond, copy.gigabytesPerSecond))
            })
        if let file, found != known {
            try? Files.makeFolder(Files.folder(of: file.path))
            try? Files.write(try JSONEncoder().encode(found), to: file.path)
        }
        return found
    }

    /// The kept number when it is higher, within a factor that a disturbed measurement explains.
    private static func better(_ kept: Double?, _ measured: Double) -> Double {
        guard let kept, kept > measured, kept <= 4 * measured else { return measured }
        return kept
    }
}

/// The two kernels of `peak.cl` and their timing.
private struct PeakProbe {
    let context: DeviceContext
    let style: DeviceStyle

    private var program: DeviceProgram {
        get throws(OpenCLError) { try context.program(ProgramKey(source: .peak, macros: ["W": "\(style.vectorWidth)"])) }
    }

    func multiplyAdds(seconds: Double) throws -> Double {
        let kernel = try DeviceKernel(try program, entry: "nt_multiply_add")
        let local = groupSize(kernel)
        let items = style.family == .manyCores ? style.computeUnits * 16 * local : style.computeUnits * 4
        let rounds = 20_000
        let buffer = try DeviceBuffer(context, byteCount: items * style.vectorWidth * 4)
        try kernel.set(0, buffer)
        try kernel.set(1, Int32(rounds))
        try kernel.set(2, Float(0.999))
        try kernel.set(3, Float(0.001))
        let best = try shortest(kernel, global: items, local: local, seconds: seconds)
        return Double(items * style.vectorWidth * 10 * 2) * Double(rounds) / best * 1e-9
    }

    private func groupSize(_ kernel: DeviceKernel) -> Int {
        style.family == .manyCores ? min(128, style.maximumWorkGroupSize, kernel.limits(on: context.device).workItems) : 1
    }

    /// Bytes of the copies' sources, smallest first: from what first-level caches hold to what none does.
    var copySizes: [Int] {
        let device = context.device
        let largest = max(1 << 20, min(128 << 20, device.maximumAllocationBytes / 4, device.globalMemoryBytes / 16))
        return (0..<16).map { (32 << 10) << (2 * $0) }.prefix { $0 < largest } + [largest]
    }

    func copy(of byteCount: Int, seconds: Double) throws -> Double {
        let vectors = byteCount / 4 / style.vectorWidth
        let run = style.family == .manyCores ? 4 : max(1, vectors / (style.computeUnits * 16))
        let (source, target) = (
            try DeviceBuffer(context, byteCount: byteCount), try DeviceBuffer(context, byteCount: byteCount)
        )
        let kernel = try DeviceKernel(try program, entry: "nt_copy")
        try kernel.set(0, source)
        try kernel.set(1, target)
        try kernel.set(2, Int32(run))
        try kernel.set(3, Int32(vectors))
        let local = groupSize(kernel)
        let items = ((vectors + run - 1) / run + local - 1) / local * local
        let best = try shortest(kernel, global: items, local: local, seconds: seconds)
        return Double(2 * vectors * style.vectorWidth * 4) / best * 1e-9
    }

    /// The shortest time of a kernel over some runs, the first left out.
    private func shortest(_ kernel: DeviceKernel, global: Int, local: Int, seconds: Double) throws -> Double {
        let queue = try CommandQueue(context, profiling: true)
        let clock = ContinuousClock()
        var best = Double.infinity
        do {
            try queue.launch(kernel, global: [global], local: [local])
            try queue.finish()
            let end = clock.now + .seconds(seconds)
            var count = 0
            repeat {
                let event = try queue.timedLaunch(kernel, global: [global], local: [local])
                try queue.finish()
                best = min(best, max(try event.seconds(), 1e-9))
                count += 1
            } while clock.now < end || count < 3
        } catch {
            queue.abandon()
            throw error
        }
        return best
    }
}
