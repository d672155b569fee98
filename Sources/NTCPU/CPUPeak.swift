import CNTKernels
import CNTPlatform

/// The most multiply-adds a second that one core reaches with operands in registers.
package enum CPUPeak {
    /// 10^9 floating-point operations a second of one core, for each instruction set that this processor has, slowest first. Takes `seconds` for each.
    package static func measure(seconds: Double = 0.3) -> [(name: String, gigaflops: Double)] {
        (0..<nt_peak_count()).compactMap { index in
            guard let loop = nt_peak_at(index)?.pointee, loop.isa & nt_isa_bits() == loop.isa else { return nil }
            return (String(cString: loop.name), gigaflops(loop, seconds))
        }
    }

    /// The same for the last of them alone, the widest: what float32 kernels are held to.
    package static func best(seconds: Double = 0.3) -> (name: String, gigaflops: Double)? {
        let loops = (0..<nt_peak_count()).compactMap { nt_peak_at($0)?.pointee }.filter { $0.isa & nt_isa_bits() == $0.isa }
        return loops.last.map { (String(cString: $0.name), gigaflops($0, seconds)) }
    }

    /// The rate of the fastest of many short runs, so that some of them escape the work of other programs.
    private static func gigaflops(_ loop: nt_peak, _ seconds: Double) -> Double {
        let (rounds, clock) = (20_000, ContinuousClock())
        loop.run(rounds)
        let start = clock.now
        var best = Double.infinity
        repeat {
            let begin = clock.now
            loop.run(rounds)
            best = min(best, max((clock.now - begin) / .seconds(1), 1e-9))
        } while (clock.now - start) / .seconds(1) < seconds
        return Double(rounds) * loop.flops_per_round / best / 1e9
    }
}
