import CNTPlatform
import NTCPU
import NTRuntime

/// The most multiply-adds a second that one core reaches with operands in registers.
enum Peak {
    /// GFLOP/s of the fastest instruction set in one arithmetic.
    static func best(_ arithmetic: Arithmetic = .float32) -> Double { CPUPeak.best(arithmetic)?.gigaflops ?? 1 }

    /// The same in float32 for all that the processor has, whatever NEEDLETAIL_MAX_ISA cuts off, and whether it cuts off some.
    static func withoutCeiling() -> (gigaflops: Double, isHigher: Bool) {
        let bits = nt_isa_bits()
        nt_isa_set_ceiling(.max)
        defer { nt_isa_set_ceiling(bits) }
        return (best(), nt_isa_bits() != bits)
    }

    static func printAll() {
        print(String(cString: nt_cpu_brand()))
        for (name, arithmetic, gflops) in CPUPeak.measure() {
            print("\(Column.left(name, 12)) \(Column.number(gflops, 8, 1)) GFLOP/s on one core in \(arithmetic.rawValue)")
        }
    }
}
