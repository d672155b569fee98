import Foundation
import Needletail

/// `needletail tune`: finds the tiles that suit a device and keeps them.
enum TuneCommand: Command {
    static let name = "tune"
    static let operands = "MODEL [flags]"
    static let summary = "Measure an OpenCL device's tiles for a model; later runs use the best."
    static let flags = [CommonFlags.device, CommonFlags.precision]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let path = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        let configuration = try CommonFlags.configuration(arguments)
        let (file, findings) = try DeviceTuning.tune(
            Model(contentsOf: CommonFlags.url(path, "the model")), deviceIndex: configuration.deviceIndex,
            precision: configuration.precision,
            progress: { done, total in Console.progress("tile \(done) of \(total)") })
        Console.progress(nil)
        try Console.print("  before ms   after ms  layer")
        for finding in findings {
            try Console.print(String(format: "%11.4f%11.4f  ", finding.before, finding.after) + finding.layer)
        }
        try Console.print("written to \(file.path)")
        return 0
    }
}
