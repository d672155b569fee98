import CoreML
import Foundation
import NTImage

/// Runs a Core ML model on an image.
///
/// Results by the model's kind: a classifier gives `VNClassificationObservation`s, one per label, most probable first; a model with an
/// image output gives `VNPixelBufferObservation`s; any other gives one `VNCoreMLFeatureValueObservation` per output.
public final class VNCoreMLRequest: VNImageBasedRequest, @unchecked Sendable {
    /// The model.
    public let model: VNCoreMLModel
    /// How the image is brought to the model's size.
    public var imageCropAndScaleOption: VNImageCropAndScaleOption = .centerCrop

    /// A request for `model`; `completionHandler` is called after each performance.
    public init(model: VNCoreMLModel, completionHandler: VNRequestCompletionHandler? = nil) {
        self.model = model
        super.init(completionHandler: completionHandler)
    }

    override func observations(for image: HandledImage) throws -> [VNObservation] {
        let region = regionOfInterest
        let rect = NTImage.NormalizedRect(
            x: Double(region.origin.x), y: Double(region.origin.y), width: Double(region.size.width),
            height: Double(region.size.height))
        let run = CoreMLRun(
            model: model.model, input: model.inputImageFeatureName, featureProvider: model.featureProvider,
            cropAndScale: imageCropAndScaleOption.imageOption, region: rect)
        switch try run.perform(on: image) {
        case .classes(let classes):
            return classes.map { VNClassificationObservation(identifier: $0.label, confidence: $0.confidence) }
        case .pixels(let outputs):
            return outputs.map { VNPixelBufferObservation(featureName: $0.name, pixelBuffer: $0.buffer) }
        case .values(let outputs):
            return outputs.map { VNCoreMLFeatureValueObservation(featureName: $0.name, featureValue: $0.value) }
        }
    }
}
