import Foundation
import NTFiles
import Needletail

/// `needletail predict`: tensors in, tensors out.
enum PredictCommand: Command {
    static let name = "predict"
    static let operands = "MODEL --input NAME=FILE.npy... --output DIR [flags]"
    static let summary = "Run a model on .npy files and write every output."
    static let flags =
        [
            Flag(
                name: "--input", value: "NAME=FILE",
                help: "an input as .npy, a file or a pipe that is read to its end; an image input as (1,C,H,W), raw 0-255",
                repeats: true),
            Flag(name: "--output", value: "DIR", help: "where NAME.npy and NAME.json files go"),
        ] + CommonFlags.session

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.count <= 1 else { throw UsageError("unexpected argument '\(arguments.positional[1])'") }
        guard let modelPath = arguments.positional.first else { throw UsageError("a model is missing") }
        guard let folder = arguments.string("--output") else { throw UsageError("--output is missing") }
        guard !folder.isEmpty else { throw UsageError("--output: expected a folder, found an empty name") }
        var files: [String: String] = [:]
        for text in arguments.strings("--input") {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw UsageError("--input: expected NAME=FILE.npy, found '\(text)'")
            }
            let name = String(text[..<equals])
            guard text.index(after: equals) != text.endIndex else { throw UsageError("--input: the path of '\(name)' is empty") }
            guard files.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw UsageError("--input: '\(name)' is given twice")
            }
        }
        let configuration = try CommonFlags.configuration(arguments)
        let session = try CommonFlags.session(Model(contentsOf: CommonFlags.url(modelPath, "the model")), configuration)
        let inputs = try files.mapValues { path in
            Console.progress(reading: path)
            defer { Console.progress(nil) }
            return try Tensor(npy: URL(fileURLWithPath: path))
        }
        for (name, tensor) in inputs.sorted(by: { $0.key < $1.key }) { warn("input '\(name)'", tensor) }
        let outputs = try session.run(inputs)
        for (name, value) in outputs.sorted(by: { $0.key < $1.key }) { warn("output '\(name)'", value) }
        for line in CommonFlags.verification(session.verificationResult) { try Console.print(line) }
        try write(outputs, to: URL(fileURLWithPath: folder, isDirectory: true))
        return 0
    }

    /// Says when values are no finite numbers, which is seldom meant and hard to see in a file.
    private static func warn(_ what: String, _ tensor: Tensor) {
        guard let text = VerificationResult.nonFinite(tensor.elements) else { return }
        Console.complain("warning: \(what) \(text)")
    }

    private static func warn(_ what: String, _ value: FeatureValue) {
        switch value {
        case .tensor(let tensor): warn(what, tensor)
        case .probabilities(let list):
            guard let text = VerificationResult.nonFinite(list.map(\.probability)) else { return }
            Console.complain("warning: \(what) \(text), written as null")
        case .double(let number): if !number.isFinite { Console.complain("warning: \(what) is \(number), written as null") }
        case .string, .int64: break
        }
    }

    /// Writes a file for each output. Throws when the folder cannot be written.
    static func write(_ outputs: [String: FeatureValue], to folder: URL) throws {
        try Files.makeFolder(folder.path)
        for (name, value) in outputs {
            let base = folder.appendingPathComponent(name.replacingOccurrences(of: "/", with: "_"))
            switch value {
            case .tensor(let tensor): try Files.write(try tensor.npyData(), to: base.appendingPathExtension("npy").path)
            default:
                let text = try Console.json(value.jsonObject) + "\n"
                try Files.write(Data(text.utf8), to: base.appendingPathExtension("json").path)
            }
        }
    }
}

/// A failure of a verb's own work, told in one line.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
