import Foundation
import Needletail

/// The figures of one measurement.
struct BenchReport {
    let session: Session
    let benchmark: Benchmark
    let latency: Benchmark.Latency
    /// From before the model was opened to the session being there.
    let loadSeconds: Double
    /// From before the model was opened to the end of the first prediction.
    let firstSeconds: Double
    /// Programs of an OpenCL device that the first prediction needed.
    let programs: (built: Int, cached: Int)?

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
                format: "load        %.2f ms%@, %.1f ms to the first prediction, peak memory %.1f MiB%@", loadSeconds * 1000,
                session.usesCompiledForm ? " from the compiled form" : "", firstSeconds * 1000,
                Double(Benchmark.peakMemoryByteCount) / 1_048_576,
                benchmark.verificationResult == nil ? "" : " with the reference's"),
        ]
        if let programs {
            lines.append("programs    \(programs.built) built from source, \(programs.cached) taken from the cache, for the first prediction")
        }
        lines += CommonFlags.verification(benchmark.verificationResult)
        lines += benchmark.fallbacks.map { "fallback    \($0)" }
        return lines.joined(separator: "\n")
    }

    func json(_ profile: Profile?) throws -> String {
        var object: [String: Any] = [
            "model": session.model.name, "backend": session.backendName, "device": session.backendDescription,
            "reason": session.backendReason, "batch": benchmark.batch, "runs": latency.count,
            "p10": latency.percentile(10), "p50": latency.median, "p90": latency.percentile(90),
            "p99": latency.percentile(99), "mean": latency.mean, "fastest": latency.sorted[0],
            "imagesPerSecond": framesPerSecond, "gigaflopsPerSecond": gigaflops,
            "loadMilliseconds": loadSeconds * 1000, "isCompiled": session.usesCompiledForm,
            "loadAndFirstPredictionMilliseconds": firstSeconds * 1000,
            "peakMemoryBytes": Benchmark.peakMemoryByteCount, "fallbacks": benchmark.fallbacks,
        ]
        if let programs { object["programs"] = ["built": programs.built, "cached": programs.cached] }
        object.merge(CommonFlags.verificationObject(benchmark.verificationResult)) { $1 }
        if let profile { object.merge(ProfileTable(profile: profile).object) { $1 } }
        return try Console.json(object)
    }
}
