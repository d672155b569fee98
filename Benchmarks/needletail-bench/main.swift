import Foundation
import Needletail

let usage = """
    usage: needletail-bench VERB

      kernels M N K        every GEMM kernel on C[M][N] = A[M][K] B[K][N], by arithmetic, Strassen's method and OpenBLAS's product: time, GFLOP/s,
                           percent of the peak; arrows mark what is chosen at each precision
      choice [NETWORK...]  the chosen kernel against the fastest, for every matrix product of the benchmark networks; fails when one is
                           more than 10 % behind
      peak                 multiply-adds a second of one core, by instruction set
      layers NETWORK [--threads N] [--seconds S]
                           one of the benchmark networks on the cpu backend, step by step; `layers all` gives totals
    """

/// What was wrong with the arguments.
struct UsageError: Error { let message: String }

func run(_ arguments: [String]) throws {
    switch arguments.first {
    case "kernels": try KernelTable.run(Array(arguments.dropFirst()))
    case "choice": try ChoiceTable.run(Array(arguments.dropFirst()))
    case "peak":
        guard arguments.count == 1 else { throw UsageError(message: "peak takes nothing, found '\(arguments[1])'") }
        Peak.printAll()
    case "layers": try LayerTable.run(Array(arguments.dropFirst()))
    case "--help", "-h", "help": print(usage)
    default: throw UsageError(message: arguments.first.map { "unknown verb '\($0)'" } ?? "a verb is missing")
    }
}

do {
    try PackageInfo.checkEnvironment()
    try run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    FileHandle.standardError.write(Data("needletail-bench: \(error.message)\n\(usage)\n".utf8))
    exit(2)
} catch {
    FileHandle.standardError.write(Data("needletail-bench: \(error)\n".utf8))
    exit(1)
}
