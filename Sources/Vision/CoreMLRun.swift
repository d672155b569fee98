import CoreML
import CoreVideo
import Foundation
import NTImage
import Needletail

/// One performance of a Core ML model on an image: what both generations of requests are made of.
struct CoreMLRun {
    /// What came out, by the model's kind.
    enum Outcome {
        /// A classifier's labels, most probable first.
        case classes([Classification])
        /// Outputs that are images.
        case pixels([(name: String, buffer: CVPixelBuffer)])
        /// Outputs of any other kind.
        case values([(name: String, value: MLFeatureValue)])
    }

    var model: MLModel
    /// The input that gets the image.
    var input: String
    /// Values for the other inputs.
    var featureProvider: (any MLFeatureProvider)?
    var cropAndScale: NTImage.CropAndScale
    var region: NTImage.NormalizedRect

    /// Runs the model. Throws `VNError`.
    func perform(on image: HandledImage) throws -> Outcome {
        guard region.isValid else {
            throw VNError(
                .invalidArgument,
                "The region of interest (\(region.x), \(region.y), \(region.width), \(region.height)) is not within the normalized bounds of [0.0, 0.0, 1.0, 1.0]"
            )
        }
        do {
            return try run(image)
        } catch let error as NeedletailError {
            throw VNError(error.code == .invalidImage ? .invalidImage : .operationFailed, error.description)
        } catch let error as MLModelError {
            throw VNError(.operationFailed, error.description)
        }
    }

    private func run(_ image: HandledImage) throws -> Outcome {
        let session = try model.session()
        guard session.model.imageInput(named: input) != nil else {
            throw VNError(.invalidModel, "\(session.model.name): the input '\(input)' is no image input")
        }
        let request = ImageRequest(
            source: try image.source(), cropAndScale: cropAndScale, regionOfInterest: region, orientation: image.orientation)
        let (others, tensors) = try otherFeatures()
        let images = others.merging([input: request]) { _, new in new }
        if session.model.description.predictedFeatureName != nil {
            return .classes(try session.withImages(images, tensors: tensors) { try session.probabilities($0, $1) })
        }
        let provider = try model.wrap(try session.run(images: images, tensors: tensors))
        let pixels = model.outputNames.compactMap { name in
            provider.featureValue(for: name)?.imageBufferValue.map { (name: name, buffer: $0) }
        }
        if !pixels.isEmpty { return .pixels(pixels) }
        return .values(model.outputNames.compactMap { name in provider.featureValue(for: name).map { (name: name, value: $0) } })
    }

    /// The values that the feature provider gives for inputs other than the image.
    private func otherFeatures() throws -> (images: [String: ImageRequest], tensors: [String: Needletail.Tensor]) {
        let names = Set(model.modelDescription.inputDescriptionsByName.keys).subtracting([input])
        guard !names.isEmpty else { return ([:], [:]) }
        var values: [String: Any] = [:]
        for name in names { values[name] = featureProvider?.featureValue(for: name) }
        return try model.features(from: try MLDictionaryFeatureProvider(dictionary: values), only: names)
    }
}
