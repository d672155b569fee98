import Foundation
import Needletail

/// `needletail bench`: latency, frames per second, and where the time goes.
enum BenchCommand: Command {
    static let name = "bench"
    static let operands = "MODEL [flags]"
    static let summary = "Measure a model on random inputs."
    static let flags =
        [
            Flag(name: "--batch", value: "N", help: "images in one run (default 1)"),
            Flag(name: "--seconds", value: "S", help: "how long to measure (default 2)"),
            Flag(name: "--profile", value: nil, help: "print the time of each step"),
            Flag(
                name: "--rounds-from-stdin", value: nil,
                help: "print `ready`; then for each line SECONDS run that long and print MEDIAN P10 COUNT (milliseconds)"),
        ] + CommonFlags.session + [CommonFlags.json]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let modelPath = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        let batch = try arguments.integer("--batch", in: 1...4096) ?? 1
        let seconds = try arguments.number("--seconds", in: 0.001...86_400) ?? 2
        let configuration = try CommonFlags.configuration(arguments)
        let start = ContinuousClock.now
        let session = try CommonFlags.session(Model(contentsOf: CommonFlags.url(modelPath, "the model")), configuration)
        let benchmark = try Benchmark(session, batch: batch)
        let loadSeconds = (ContinuousClock.now - start) / .seconds(1)
        if arguments.has("--rounds-from-stdin") { return try answerRounds(benchmark) }

        _ = try benchmark.run(seconds: min(0.5, seconds / 4))
        let latency = try measure(benchmark, seconds: seconds)
        let report = Report(session: session, benchmark: benchmark, latency: latency, loadSeconds: loadSeconds)
        let rows = arguments.has("--profile") ? try benchmark.profile(seconds: seconds) : []
        try Console.print(arguments.has("--json") ? try report.json(rows) : report.text)
        if !arguments.has("--json"), !rows.isEmpty { try Console.print(ProfileTable.text(rows)) }
        return 0
    }

    /// Measures in slices, showing progress on a terminal.
    private static func measure(_ benchmark: Benchmark, seconds: Double) throws -> Benchmark.Latency {
        guard isatty(2) == 1 else { return try benchmark.run(seconds: seconds) }
        var times: [Double] = []
        let slices = max(1, Int(seconds / 0.25))
        for slice in 0..<slices {
            Console.progress("measuring \(slice * 100 / slices)%")
            times += try benchmark.run(seconds: seconds / Double(slices)).sorted
        }
        Console.progress(nil)
        return Benchmark.Latency(sorted: times.sorted())
    }

    private static func answerRounds(_ benchmark: Benchmark) throws -> Int32 {
        try Console.print("ready")
        while let line = readLine() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.isEmpty { continue }
            guard let seconds = Double(text), (0...86_400).contains(seconds) else {
                throw UsageError("--rounds-from-stdin: expected seconds from 0 to 86400, found '\(text.prefix(40))'")
            }
            let latency = try benchmark.run(seconds: seconds)
            try Console.print(String(format: "%.6f %.6f %d", latency.median, latency.percentile(10), latency.count))
        }
        return 0
    }

    /// The figures of one measurement.
    private struct Report {
        let session: Session
        let benchmark: Benchmark
        let latency: Benchmark.Latency
        let loadSeconds: Double

        private var framesPerSecond: Double { Double(benchmark.batch) * 1000 / latency.mean }
        private var gigaflops: Double { Double(benchmark.flops) / latency.median / 1e6 }

        var text: String {
            var lines = [
                "model       \(session.model.name), batch \(benchmark.batch)",
                "backend     \(session.backendDescription): \(session.backendReason)",
                String(
                    format: "latency     p50 %.3f ms, p90 %.3f, p99 %.3f, fastest %.3f (%d runs)", latency.median,
                    latency.percentile(90), latency.percentile(99), latency.sorted[0], latency.count),
                String(format: "throughput  %.1f images/s, %.1f GFLOP/s", framesPerSecond, gigaflops),
                String(
                    format: "load        %.1f ms to the first prediction, peak memory %.1f MiB", loadSeconds * 1000,
                    Double(Benchmark.peakMemoryByteCount) / 1_048_576),
            ]
            if let line = CommonFlags.verification(session) { lines.append(line) }
            lines += benchmark.fallbacks.map { "fallback    \($0)" }
            return lines.joined(separator: "\n")
        }

        func json(_ rows: [Benchmark.ProfileRow]) throws -> String {
            var object: [String: Any] = [
                "model": session.model.name, "backend": session.backendName, "device": session.backendDescription,
                "reason": session.backendReason, "batch": benchmark.batch, "runs": latency.count,
                "p10": latency.percentile(10), "p50": latency.median, "p90": latency.percentile(90),
                "p99": latency.percentile(99), "mean": latency.mean, "fastest": latency.sorted[0],
                "imagesPerSecond": framesPerSecond, "gigaflopsPerSecond": gigaflops,
                "loadAndFirstPredictionMilliseconds": loadSeconds * 1000,
                "peakMemoryBytes": Benchmark.peakMemoryByteCount, "fallbacks": benchmark.fallbacks,
            ]
            if !rows.isEmpty {
                object["profile"] = rows.map { row in
                    [
                        "layers": row.layers, "operators": row.operators, "kernel": row.kernel, "output": row.output,
                        "backend": row.backend, "milliseconds": row.milliseconds, "flops": row.flops, "bytes": row.byteCount,
                    ] as [String: Any]
                }
            }
            return try Console.json(object)
        }
    }
}

/// A profile as a table, in the order of execution.
enum ProfileTable {
    static func text(_ rows: [Benchmark.ProfileRow]) -> String {
        let total = rows.reduce(0) { $0 + $1.milliseconds }
        var lines = ["", "      ms      %  GFLOP/s    GB/s  output            kernel                      layer"]
        for row in rows {
            let rate = row.milliseconds > 0 ? 1 / row.milliseconds / 1e6 : 0
            let figures = String(
                format: "%8.4f %5.1f%% %8.1f %7.1f  ", row.milliseconds, total > 0 ? row.milliseconds / total * 100 : 0,
                Double(row.flops) * rate, Double(row.byteCount) * rate)
            lines.append(
                figures + row.output.padding(toLength: max(row.output.count, 16), withPad: " ", startingAt: 0) + "  "
                    + row.kernel.padding(toLength: max(row.kernel.count, 26), withPad: " ", startingAt: 0) + "  "
                    + row.layers.joined(separator: " + ") + (row.backend == "reference" ? "  [reference]" : ""))
        }
        lines.append(String(format: "%8.4f total of the steps", total))
        return lines.joined(separator: "\n")
    }
}
