import Foundation
import Needletail

/// `needletail bench --image` and `--frame`: from a picture to its label.
enum PictureBench {
    static let flags = [
        Flag(name: "--image", value: "FILE", help: "measure from this JPEG, PNG or WebP file to the label: decoding, preparing, running"),
        Flag(name: "--frame", value: "WxH", help: "measure from a BGRA frame of this size in memory to the label"),
    ]

    /// What the flags ask to measure; nil when they do not.
    static func source(_ arguments: Arguments) throws -> PictureBenchmark.Source? {
        let (file, frame) = (arguments.string("--image"), arguments.string("--frame"))
        guard file == nil || frame == nil else { throw UsageError("--image and --frame exclude each other") }
        guard (file == nil && frame == nil) || (!arguments.has("--profile") && arguments.string("--batch") == nil) else {
            throw UsageError("--image and --frame go with neither --batch nor --profile")
        }
        if let file { return .file(try CommonFlags.url(file, "an image")) }
        guard let frame else { return nil }
        let sides = frame.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...65535).contains($0) }) else {
            throw UsageError("--frame: expected WIDTHxHEIGHT, 1 to 65535 each, found '\(frame)'")
        }
        return .frame(width: sides[0], height: sides[1])
    }

    static func run(_ session: Session, _ source: PictureBenchmark.Source, seconds: Double, _ arguments: Arguments) throws -> Int32 {
        let benchmark = try PictureBenchmark(session, source)
        if arguments.has("--rounds-from-stdin") { return try BenchCommand.answerRounds { try benchmark.run(seconds: $0).total } }
        _ = try benchmark.run(seconds: min(0.5, seconds / 4))
        let result = try benchmark.run(seconds: seconds)
        try Console.print(arguments.has("--json") ? try json(benchmark, result) : text(benchmark, result))
        return 0
    }

    private static func text(_ benchmark: PictureBenchmark, _ result: PictureBenchmark.Measurement) -> String {
        let stages = PictureBenchmark.Stage.allCases.map { String(format: "\($0) %.3f", result.stages[$0] ?? 0) }.joined(separator: ", ")
        let latency = result.total
        let lines =
            [
                "model       \(benchmark.session.model.name)",
                "backend     \(benchmark.session.backendDescription): \(benchmark.session.backendReason)",
                String(
                    format: "to label    p50 %.3f ms, p90 %.3f, p99 %.3f, fastest %.3f (%d pictures)", latency.median, latency.percentile(90),
                    latency.percentile(99), latency.sorted[0], latency.count),
                "stages      \(stages) ms",
                "best class  \(benchmark.top.index)" + (benchmark.top.label.map { ": \($0)" } ?? ""),
            ] + CommonFlags.verification(benchmark.session.verificationResult)
        return lines.joined(separator: "\n")
    }

    private static func json(_ benchmark: PictureBenchmark, _ result: PictureBenchmark.Measurement) throws -> String {
        var object: [String: Any] = [
            "model": benchmark.session.model.name, "backend": benchmark.session.backendName,
            "device": benchmark.session.backendDescription, "runs": result.total.count, "p10": result.total.percentile(10),
            "p50": result.total.median, "p90": result.total.percentile(90), "p99": result.total.percentile(99),
            "fastest": result.total.sorted[0], "topIndex": benchmark.top.index, "topValue": Double(benchmark.top.value),
            "stages": Dictionary(uniqueKeysWithValues: PictureBenchmark.Stage.allCases.map { ("\($0)", result.stages[$0] ?? 0) }),
        ]
        if let label = benchmark.top.label { object["topLabel"] = label }
        object.merge(CommonFlags.verificationObject(benchmark.session.verificationResult)) { $1 }
        return try Console.json(object)
    }
}
