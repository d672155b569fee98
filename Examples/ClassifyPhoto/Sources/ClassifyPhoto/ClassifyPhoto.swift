import Foundation
import Needletail

// Classifies a photo through the engine's own interface: ClassifyPhoto MODEL IMAGE [cpu|opencl|reference|auto]
@main
struct ClassifyPhoto {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let backend = arguments.count > 3 ? BackendChoice(rawValue: arguments[3]) ?? .auto : .auto
        let configuration = SessionConfiguration(backend: backend, precision: .float32)
        let classifier = try ImageClassifier(contentsOf: URL(fileURLWithPath: arguments[1]), configuration: configuration)
        print("on \(classifier.session.backendDescription): \(classifier.session.backendReason)")

        for result in try await classifier.classify(imageAt: URL(fileURLWithPath: arguments[2]), top: 3) {
            print(result.label, result.confidence)
        }

        // The same network on a tensor: any image input is also float32 (1, C, H, W), raw 0-255.
        let blank = try Tensor.zeros(shape: [1, 3, 224, 224])
        let outputs = try await classifier.session.run(["image": blank])
        print("a black image is", outputs["classLabel"]?.text ?? "unknown")
    }
}
