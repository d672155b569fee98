import Foundation
import Needletail

/// `needletail classify`: photos in, labels out.
enum ClassifyCommand: Command {
    static let name = "classify"
    static let operands = "MODEL IMAGE... [flags]"
    static let summary = "Classify images and print labels with their confidence. A pipe is read until its writer closes it."
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

        let files = try images.map { try CommonFlags.url($0, "an image") }
        let model = try Model(contentsOf: try CommonFlags.url(modelPath, "the model"))
        let classifier = try ImageClassifier(try CommonFlags.session(model, configuration), cropAndScale: crop)
        if !asJSON { try Console.print("# \(classifier.session.backendDescription): \(classifier.session.backendReason)") }
        var failed = false
        func report(_ path: String, _ result: Result<[Classification], any Error>, milliseconds: Double?) throws {
            switch result.flatMap({ predictions in Result { try finite(predictions, path: path) } }) {
            case .success(let predictions):
                try show(predictions, path: path, milliseconds: milliseconds, asJSON: asJSON)
            case .failure(let error):
                failed = true
                if asJSON { try Console.print(Console.json(["image": path, "error": String(describing: error)])) }
                Console.complain(String(describing: error))
            }
        }
        let start = ContinuousClock.now
        if images.count > 8 {
            // Many run together; the time shown is that of all so far, each. While some are verified others run, so that it would say nothing then.
            let isTimed = !configuration.verifiesFirstPrediction
            try classifier.classify(imagesAt: files, top: top) { index, result in
                Console.progress(nil)
                let milliseconds = (ContinuousClock.now - start) / .milliseconds(1) / Double(index + 1)
                try report(images[index], result, milliseconds: isTimed ? milliseconds : nil)
                Console.progress("\(index + 1) of \(images.count)")
            }
            Console.progress(nil)
        } else {
            // Few run one by one, so that each shows its own time.
            for (path, file) in zip(images, files) {
                let (before, verified) = (ContinuousClock.now, classifier.session.verificationSeconds)
                Console.progress(reading: path)
                let result = Result { try classifier.classify(imageAt: file, top: top) }
                Console.progress(nil)
                let verification = (classifier.session.verificationSeconds - verified) * 1000
                try report(path, result, milliseconds: (ContinuousClock.now - before) / .milliseconds(1) - verification)
            }
        }
        let verification = classifier.session.verificationResult
        if asJSON, verification != nil { try Console.print(Console.json(CommonFlags.verificationObject(verification))) }
        if !asJSON { for line in CommonFlags.verification(verification) { try Console.print(line) } }
        return failed ? 1 : 0
    }

    /// The predictions of one file. A confidence that is no number is an error of that file, not an answer.
    private static func finite(_ predictions: [Classification], path: String) throws -> [Classification] {
        guard let odd = predictions.first(where: { !$0.confidence.isFinite }) else { return predictions }
        throw CommandError("\(path): the model's confidence for '\(odd.label)' is \(odd.confidence), expected a finite number")
    }

    private static func show(_ predictions: [Classification], path: String, milliseconds: Double?, asJSON: Bool) throws {
        if asJSON {
            let list = predictions.map { ["label": $0.label, "confidence": Double($0.confidence)] as [String: Any] }
            try Console.print(Console.json(["image": path, "predictions": list]))
            return
        }
        try Console.print(path + (milliseconds.map { String(format: "  (%.2f ms)", $0) } ?? ""))
        for prediction in predictions {
            try Console.print(String(format: "  %8.4f%%  ", Double(prediction.confidence) * 100) + prediction.label)
        }
    }
}
