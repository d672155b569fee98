import CoreML
import Foundation
import Vision

// The code of an iOS mood tracker, unchanged but for the model's path: MoodTracker MODEL IMAGE
let configuration = MLModelConfiguration()
configuration.computeUnits = .cpuOnly
let mlModel = try MLModel(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]), configuration: configuration)
let model = try VNCoreMLModel(for: mlModel)

let request = VNCoreMLRequest(model: model) { request, error in
    guard let results = request.results as? [VNClassificationObservation], let best = results.first else {
        print("no mood:", error?.localizedDescription ?? "unknown")
        return
    }
    print(String(format: "%@ %.1f%%", best.identifier, best.confidence * 100))
}
request.imageCropAndScaleOption = .centerCrop

let handler = VNImageRequestHandler(url: URL(fileURLWithPath: CommandLine.arguments[2]), orientation: .up)
DispatchQueue.global(qos: .userInitiated).sync {
    do { try handler.perform([request]) } catch { print("failed:", error) }
}
