import Foundation
import Needletail

/// `needletail classify`: photos in, labels out.
enum ClassifyCommand: Command {
    static let name = "classify"
    static let operands = "MODEL IMAGE... [flags]"
    static let summary = "Classify images and print labels with their confidence."
    static let flags =
        [
            Flag(name: "--top", value: "K", help: "how many labels to print (default 5)"),
            Flag(
                name: "--crop", value: "NAME",
                help: "centerCrop, scaleFit, scaleFill, scaleFitRotate90CCW or scaleFillRotate90CCW (default centerCrop)"),
        ] + CommonFlags.session + [CommonFlags.json]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let modelPath = arguments.positional.first else { throw UsageError("a model is missing") }
        let images = Array(arguments.positional.dropFirst())
        guard !images.isEmpty else { throw UsageError("an image is missing") }
        let top = try arguments.integer("--top", in: 1...1_000_000) ?? 5
        let crop = try arguments.choice("--crop", of: CropAndScale.self) ?? .centerCrop
        let configuration = try CommonFlags.configuration(arguments)
        let asJSON = arguments.has("--json")

        let classifier = try ImageClassifier(
            contentsOf: URL(fileURLWithPath: modelPath), configuration: configuration, cropAndScale: crop)
        if !asJSON { try Console.print("# \(classifier.session.backendDescription): \(classifier.session.backendReason)") }
        var failed = false
        let reportsProgress = images.count > 8
        for (index, path) in images.enumerated() {
            if reportsProgress { Console.progress("\(index + 1) of \(images.count)") }
            let start = ContinuousClock.now
            let result = Result { try classify(path, with: classifier, top: top) }
            let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            if reportsProgress { Console.progress(nil) }
            switch result {
            case .success(let predictions):
                try show(predictions, path: path, milliseconds: milliseconds, asJSON: asJSON)
            case .failure(let error):
                failed = true
                if asJSON { try Console.print(Console.json(["image": path, "error": String(describing: error)])) }
                Console.complain(String(describing: error))
            }
        }
        return failed ? 1 : 0
    }

    /// Classifies one file. A confidence that is no number is an error of that file, not an answer.
    private static func classify(_ path: String, with classifier: ImageClassifier, top: Int) throws -> [Classification] {
        let predictions = try classifier.classify(imageAt: URL(fileURLWithPath: path), top: top)
        guard let odd = predictions.first(where: { !$0.confidence.isFinite }) else { return predictions }
        throw CommandError("\(path): the model's confidence for '\(odd.label)' is \(odd.confidence), expected a finite number")
    }

    private static func show(_ predictions: [Classification], path: String, milliseconds: Double, asJSON: Bool) throws {
        if asJSON {
            let list = predictions.map { ["label": $0.label, "confidence": Double($0.confidence)] as [String: Any] }
            try Console.print(Console.json(["image": path, "predictions": list]))
            return
        }
        try Console.print("\(path)  (\(String(format: "%.2f", milliseconds)) ms)")
        for prediction in predictions {
            try Console.print(String(format: "  %8.4f%%  ", Double(prediction.confidence) * 100) + prediction.label)
        }
    }
}
