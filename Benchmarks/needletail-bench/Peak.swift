import CNTKernels
import CNTPlatform

/// The most multiply-adds a second that one core reaches with operands in registers.
enum Peak {
    /// GFLOP/s of the instruction sets that this processor has, and their names, slowest first.
    static func measure() -> [(name: String, gflops: Double)] {
        (0..<nt_peak_count()).compactMap { index in
            guard let loop = nt_peak_at(index), loop.pointee.isa & nt_isa_bits() == loop.pointee.isa else { return nil }
            let rounds = 20_000
            let seconds = Stopwatch.best(seconds: 0.3) { loop.pointee.run(rounds) }
            return (String(cString: loop.pointee.name), Double(rounds) * loop.pointee.flops_per_round / seconds / 1e9)
        }
    }

    /// The highest of them.
    static func best() -> Double { measure().map(\.gflops).max() ?? 1 }

    static func printAll() {
        print(String(cString: nt_cpu_brand()))
        for (name, gflops) in measure() { print("\(Column.left(name, 12)) \(Column.number(gflops, 8, 1)) GFLOP/s on one core") }
    }
}
