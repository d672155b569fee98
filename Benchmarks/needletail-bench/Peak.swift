import CNTPlatform
import NTCPU

/// The most multiply-adds a second that one core reaches with operands in registers.
enum Peak {
    /// GFLOP/s of the fastest instruction set.
    static func best() -> Double { CPUPeak.measure().map(\.gigaflops).max() ?? 1 }

    static func printAll() {
        print(String(cString: nt_cpu_brand()))
        for (name, gflops) in CPUPeak.measure() { print("\(Column.left(name, 12)) \(Column.number(gflops, 8, 1)) GFLOP/s on one core") }
    }
}
