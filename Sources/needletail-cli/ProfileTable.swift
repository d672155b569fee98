import Foundation
import Needletail

/// A profile for people, in the order of execution with the slowest steps after it, and for programs.
struct ProfileTable {
    let profile: Profile
    /// How many of the slowest steps are listed.
    static let slowestCount = 10

    var text: String {
        let total = profile.stepMilliseconds
        var lines = ["", "      ms  of run  GFLOP/s  peak    GB/s  peak  output            kernel                      layer"]
        for row in profile.rows {
            lines.append(line(row, share: total > 0 ? row.milliseconds / total * 100 : 0))
            guard row.kernels.count > 1 else { continue }
            for kernel in row.kernels {
                guard let milliseconds = kernel.milliseconds else { continue }
                lines.append(String(format: "%8.4f  ", milliseconds) + String(repeating: " ", count: 53) + "  . \(kernel.name)")
            }
        }
        return (lines + summary + slowest(total)).joined(separator: "\n")
    }

    private func line(_ row: Profile.Row, share: Double) -> String {
        let figures = [
            String(format: "%8.4f  %5.1f%%", row.milliseconds, share), String(format: "%7.1f", row.gigaflopsPerSecond),
            Self.percent(profile.arithmeticPercent(row)),
            String(format: "%6.1f", row.gigabytesPerSecond),
            Self.percent(profile.memoryPercent(row)),
        ].joined(separator: "  ")
        return figures + "  " + Self.padded(row.output, 16) + "  " + Self.padded(row.kernel, 26) + "  "
            + row.layers.joined(separator: " + ") + (row.backend == "reference" ? "  [reference]" : "")
    }

    private var summary: [String] {
        var lines = [String(format: "%8.4f ms in the steps of a run", profile.stepMilliseconds)]
        if let gap = profile.gapMilliseconds { lines.append(String(format: "%8.4f ms lost between kernels", gap)) }
        lines.append(
            String(
                format: "%8.4f ms outside them, of %.4f ms a run while every step is timed (%d runs)", profile.outsideMilliseconds,
                profile.runMilliseconds, profile.runCount))
        if let peaks = profile.peaks {
            let half =
                peaks.bfloat16GigaflopsPerSecond.map { String(format: " in float32, %.1f in bfloat16", $0) }
                ?? peaks.float16GigaflopsPerSecond.map { String(format: " in float32, %.1f in float16", $0) } ?? ""
            let copies = peaks.copies.map { String(format: "%.0f GB/s of %@", $0.gigabytesPerSecond, Self.size($0.byteCount)) }.joined(
                separator: ", ")
            lines.append(String(format: "peak: %.1f GFLOP/s", peaks.gigaflopsPerSecond) + half + " (\(peaks.measuredOn))")
            if !copies.isEmpty { lines.append("      copies that read and write as many bytes: \(copies)") }
        }
        return lines
    }

    /// Whether steps are held to peaks of more than one arithmetic.
    private var hasHalfPeak: Bool { profile.peaks.map { $0.bfloat16GigaflopsPerSecond ?? $0.float16GigaflopsPerSecond } ?? nil != nil }

    private func slowest(_ total: Double) -> [String] {
        let indices = profile.slowest(Self.slowestCount)
        guard !indices.isEmpty else { return [] }
        let share = indices.reduce(0) { $0 + profile.rows[$1].milliseconds } / max(total, 1e-9) * 100
        let count = indices.count == 1 ? "the slowest step" : "the \(indices.count) slowest steps"
        return ["", count + String(format: ", %.0f%% of the time", share)]
            + indices.map { index in
                let row = profile.rows[index]
                let nearness =
                    profile.nearness(row).map {
                        String(
                            format: "%3.0f%% of the \($0.bound == .memory ? "memory" : hasHalfPeak ? row.arithmetic : "arithmetic") peak", $0.percent)
                    } ?? ""
                return String(format: "%8.4f ms  ", row.milliseconds) + Self.padded(nearness, 27) + "  " + Self.padded(row.kernel, 26) + "  "
                    + row.layers.joined(separator: " + ")
            }
    }

    /// A percentage, four wide; blank when there is none.
    private static func percent(_ value: Double?) -> String { value.map { String(format: "%3.0f%%", $0) } ?? "    " }

    /// A number of bytes in words: `64 KiB`, `4 MiB`.
    private static func size(_ byteCount: Int) -> String { byteCount < 1 << 20 ? "\(byteCount >> 10) KiB" : "\(byteCount >> 20) MiB" }

    private static func padded(_ text: String, _ width: Int) -> String {
        text.padding(toLength: max(text.count, width), withPad: " ", startingAt: 0)
    }

    /// What `--json` adds to the report.
    var object: [String: Any] {
        var object: [String: Any] = [
            "profile": profile.rows.map(object),
            "profiledRuns": profile.runCount, "profiledRunMilliseconds": profile.runMilliseconds,
            "outsideStepsMilliseconds": profile.outsideMilliseconds,
            "slowestSteps": profile.slowest(Self.slowestCount),
        ]
        if let gap = profile.gapMilliseconds { object["betweenKernelsMilliseconds"] = gap }
        if let peaks = profile.peaks {
            var list: [String: Any] = ["gigaflopsPerSecond": peaks.gigaflopsPerSecond, "measuredOn": peaks.measuredOn]
            if let half = peaks.bfloat16GigaflopsPerSecond { list["bfloat16GigaflopsPerSecond"] = half }
            if let half = peaks.float16GigaflopsPerSecond { list["float16GigaflopsPerSecond"] = half }
            if let large = peaks.copies.last { list["gigabytesPerSecond"] = large.gigabytesPerSecond }
            if !peaks.copies.isEmpty {
                list["copies"] = peaks.copies.map { ["bytes": $0.byteCount, "gigabytesPerSecond": $0.gigabytesPerSecond] as [String: Any] }
            }
            object["peaks"] = list
        }
        return object
    }

    private func object(_ row: Profile.Row) -> [String: Any] {
        var object: [String: Any] = [
            "layers": row.layers, "operators": row.operators, "kernel": row.kernel, "output": row.output, "backend": row.backend,
            "milliseconds": row.milliseconds, "flops": row.flops, "performedFlops": row.performedFlops, "arithmetic": row.arithmetic,
            "bytes": row.byteCount, "choice": row.choice,
            "gigaflopsPerSecond": row.gigaflopsPerSecond, "gigabytesPerSecond": row.gigabytesPerSecond,
            "kernels": row.kernels.map { kernel in
                var object: [String: Any] = ["name": kernel.name]
                if let milliseconds = kernel.milliseconds { object["milliseconds"] = milliseconds }
                return object
            },
        ]
        object["percentOfArithmeticPeak"] = profile.arithmeticPercent(row)
        object["percentOfMemoryPeak"] = profile.memoryPercent(row)
        if let nearness = profile.nearness(row) {
            object["percentOfPeak"] = nearness.percent
            object["nearestPeak"] = nearness.bound.rawValue
        }
        return object
    }
}
