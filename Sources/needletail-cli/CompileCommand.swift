import Foundation
import Needletail

/// `needletail compile`: a model in the form that loads fastest.
enum CompileCommand: Command {
    static let name = "compile"
    static let operands = "MODEL --output X.mlmodelc [flags]"
    static let summary = "Write a model with its weights packed for this processor; it loads at once."
    static let flags = [
        Flag(name: "--output", value: "FOLDER", help: "the folder to write; an earlier compiled one is replaced, a link is followed (-o for short)"),
        Flag(
            name: "--precision", value: "NAME",
            help: "what sessions on the CPU will ask for: float32, float32-winograd, float16, bfloat16 or fast (default float32)"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let path = arguments.positional.first else { throw UsageError("a model is missing") }
        guard arguments.positional.count == 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        guard let output = arguments.string("--output") else { throw UsageError("--output is missing") }
        let target = URL(fileURLWithPath: output)
        guard target.pathExtension == "mlmodelc" else { throw UsageError("--output: expected a name that ends in .mlmodelc, found '\(output)'") }
        let precision = try arguments.choice("--precision", of: ComputePrecision.self) ?? .float32
        // What is half written goes when the program is interrupted; it ends by the signal all the same.
        let signals = SignalWatch { number in
            Model.removeUnfinishedCompilations()
            SignalWatch.end(by: number)
        }
        defer { signals.cancel() }
        try Model.compile(contentsOf: CommonFlags.url(path, "the model"), to: target, precision: precision)
        try Console.print("written to \(target.path)")
        return 0
    }
}
