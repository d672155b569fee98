import Foundation
import Needletail

/// `needletail bench`: latency, frames per second, and where the time goes.
enum BenchCommand: Command {
    static let name = "bench"
    static let operands = "MODEL [flags]"
    static let summary = "Measure a model on random inputs, or from a picture to its label."
    static let flags =
        [
            Flag(name: "--batch", value: "N", help: "images in one run (default 1)"),
            Flag(name: "--seconds", value: "S", help: "how long to measure (default 2)"),
            Flag(name: "--profile", value: nil, help: "print the time of each step, and how near it comes to the device's peak"),
            Flag(name: "--output", value: "DIR", help: "write what the last run computed there, as NAME.npy; inputs are the same on every backend"),
            Flag(
                name: "--rounds-from-stdin", value: nil,
                help: "print `ready`; then for each line SECONDS run that long and print MEDIAN P10 COUNT (milliseconds)"),
        ] + PictureBench.flags + CommonFlags.session + [CommonFlags.json]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let modelPath = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        let batch = try arguments.integer("--batch", in: 1...4096) ?? 1
        let seconds = try arguments.number("--seconds", in: 0.001...86_400) ?? 2
        let picture = try PictureBench.source(arguments)
        if arguments.has("--rounds-from-stdin"), let other = ["--json", "--profile"].first(where: arguments.has) {
            throw UsageError("--rounds-from-stdin goes without \(other): each round is one line of numbers")
        }
        guard !arguments.has("--rounds-from-stdin") || arguments.string("--seconds") == nil else {
            throw UsageError("--rounds-from-stdin goes without --seconds: each round says how long it is")
        }
        let folder = arguments.string("--output")
        if folder != nil,
            let other = ["--image", "--frame", "--rounds-from-stdin"].first(where: { arguments.has($0) || arguments.string($0) != nil })
        {
            throw UsageError("--output goes without \(other)")
        }
        guard folder != "" else { throw UsageError("--output: expected a folder, found an empty name") }
        let configuration = try CommonFlags.configuration(arguments)
        let start = ContinuousClock.now
        let session = try CommonFlags.session(Model(contentsOf: CommonFlags.url(modelPath, "the model")), configuration)
        if let picture { return try PictureBench.run(session, picture, seconds: seconds, arguments) }
        // Without what `--verify` takes.
        func elapsed(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) - session.verificationSeconds }
        let loadSeconds = elapsed(since: start)
        let benchmark = try Benchmark(session, batch: batch)
        let firstSeconds = elapsed(since: start)
        let programs = session.programCounts
        if arguments.has("--rounds-from-stdin") { return try answerRounds { try benchmark.run(seconds: $0) } }

        _ = try benchmark.run(seconds: min(0.5, seconds / 4))
        let latency = try measure(benchmark, seconds: seconds)
        let report = BenchReport(
            session: session, benchmark: benchmark, latency: latency, loadSeconds: loadSeconds, firstSeconds: firstSeconds, programs: programs)
        let profile = arguments.has("--profile") ? try benchmark.profile(seconds: seconds) : nil
        if let folder {
            try PredictCommand.write(try benchmark.outputs().mapValues { .tensor($0) }, to: URL(fileURLWithPath: folder, isDirectory: true))
        }
        if arguments.has("--json") {
            try Console.print(try report.json(profile))
        } else {
            try Console.print(report.text)
            if let profile { try Console.print(ProfileTable(profile: profile).text) }
        }
        return 0
    }

    /// Measures in slices, showing progress on a terminal.
    private static func measure(_ benchmark: Benchmark, seconds: Double) throws -> Benchmark.Latency {
        guard Console.isTerminal else { return try benchmark.run(seconds: seconds) }
        var times: [Double] = []
        let slices = max(1, Int(seconds / 0.25))
        for slice in 0..<slices {
            Console.progress("measuring \(slice * 100 / slices)%")
            times += try benchmark.run(seconds: seconds / Double(slices)).sorted
        }
        Console.progress(nil)
        return Benchmark.Latency(sorted: times.sorted())
    }

    static func answerRounds(_ run: (Double) throws -> Benchmark.Latency) throws -> Int32 {
        try Console.print("ready")
        while let line = readLine() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.isEmpty { continue }
            guard let seconds = Double(text), (0...86_400).contains(seconds) else {
                throw UsageError("--rounds-from-stdin: expected seconds from 0 to 86400, found '\(text.prefix(40))'")
            }
            let latency = try run(seconds)
            try Console.print(String(format: "%.6f %.6f %d", latency.median, latency.percentile(10), latency.count))
        }
        return 0
    }
}
