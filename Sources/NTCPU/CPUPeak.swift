import CNTKernels
import CNTPlatform
import NTRuntime

/// The most multiply-adds a second that one core reaches with operands in registers.
package enum CPUPeak {
    /// 10^9 floating-point operations a second of one core, for each instruction set and type of factors that this processor has, slowest first of each
    /// type. Takes `seconds` for each.
    package static func measure(seconds: Double = 0.3) -> [(name: String, arithmetic: Arithmetic, gigaflops: Double)] {
        loops.map { (String(cString: $0.name), arithmetic($0.element), gigaflops($0, seconds)) }
    }

    /// The same for the fastest instruction set for one type of factors: what kernels of that arithmetic are held to. Nil when there is none.
    package static func best(_ arithmetic: Arithmetic = .float32, seconds: Double = 0.3) -> (name: String, gigaflops: Double)? {
        loops.last { Self.arithmetic($0.element) == arithmetic }.map { (String(cString: $0.name), gigaflops($0, seconds)) }
    }

    private static var loops: [nt_peak] {
        (0..<nt_peak_count()).compactMap { nt_peak_at($0)?.pointee }.filter { $0.isa & nt_isa_bits() == $0.isa }
    }

    /// What multiply-adds on an element, NT_ELEMENT_, are called.
    package static func arithmetic(_ element: Int32) -> Arithmetic { CPUBackend.arithmetic(element) }

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
