import CNTPlatform
import NTCPU
import NTRuntime

/// The most multiply-adds a second that one core reaches with operands in registers.
enum Peak {
    /// GFLOP/s of the fastest instruction set in one arithmetic.
    static func best(_ arithmetic: Arithmetic = .float32) -> Double { CPUPeak.best(arithmetic)?.gigaflops ?? 1 }

    static func printAll() {
        print(String(cString: nt_cpu_brand()))
        for (name, arithmetic, gflops) in CPUPeak.measure() {
            print("\(Column.left(name, 12)) \(Column.number(gflops, 8, 1)) GFLOP/s on one core in \(arithmetic.rawValue)")
        }
    }
}
