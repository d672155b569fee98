import Foundation
import Needletail
import Synchronization

/// `needletail tune`: finds the tiles that suit a device and keeps them.
enum TuneCommand: Command {
    static let name = "tune"
    static let operands = "MODEL [flags]"
    static let summary = "Measure an OpenCL device's tiles for a model; later runs use the best. Ctrl-C keeps what was found."
    static let flags = [
        CommonFlags.device, CommonFlags.precision,
        Flag(name: "--batch", value: "N", help: "images in one run (default 1): tiles are kept per batch"),
        Flag(
            name: "--seconds", value: "S",
            help: "measure no further tile after so long; trying the whole network takes some seconds more (default: no limit)"),
        CommonFlags.json,
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let path = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        let configuration = try CommonFlags.configuration(arguments)
        let batch = try arguments.integer("--batch", in: 1...4096) ?? 1
        let seconds = try arguments.number("--seconds", in: 0...86_400)
        let interrupt = Interrupt()
        // The second one ends the program.
        let signals = SignalWatch { number in
            guard interrupt.hasCome.exchange(true, ordering: .relaxed) else { return }
            Console.progress(nil)
            SignalWatch.end(by: number)
        }
        defer { signals.cancel() }
        var bar = arguments.has("--json") ? nil : ProgressBar(unit: "tiles", last: "trying the whole network", limit: seconds)
        defer { bar?.clear() }
        let report = try DeviceTuning.tune(
            Model(contentsOf: CommonFlags.url(path, "the model")), deviceIndex: configuration.deviceIndex,
            precision: configuration.precision, batch: batch, seconds: seconds,
            progress: { bar?.show(done: $0, total: $1, isLast: $2 == nil) },
            isOver: { interrupt.hasCome.load(ordering: .relaxed) })
        bar?.clear()
        if arguments.has("--json") {
            let findings = report.findings.map { ["layer": $0.layer, "before": $0.before, "after": $0.after] as [String: Any] }
            var object: [String: Any] = ["file": report.file.path, "findings": findings, "shapes": report.shapeCount]
            if let network = report.network { object["network"] = ["before": network.before, "after": network.after] }
            try Console.print(Console.json(object))
            return 0
        }
        guard report.shapeCount > 0 else {
            try Console.print("nothing to tune: the model has no convolution or dense layer on the device")
            return 0
        }
        if !report.findings.isEmpty { try Console.print("  before ms   after ms  layer") }
        for finding in report.findings {
            try Console.print(String(format: "%11.4f%11.4f  ", finding.before, finding.after) + finding.layer)
        }
        if let network = report.network {
            let verdict = network.after < network.before ? "the network" : "the network: no faster, the defaults stay"
            try Console.print(String(format: "%11.4f%11.4f  ", network.before, network.after) + verdict)
        }
        if report.findings.count < report.shapeCount {
            try Console.print("\(report.findings.count) of \(report.shapeCount) shapes were measured; the next tune goes on with the others")
        }
        if !report.findings.isEmpty { try Console.print("written to \(report.file.path)") }
        return 0
    }
}

/// Whether the program was told to end.
private final class Interrupt: Sendable {
    let hasCome = Atomic(false)
}
