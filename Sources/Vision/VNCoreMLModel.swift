import CoreML
import Foundation

/// A Core ML model that takes an image, wrapped for requests.
public final class VNCoreMLModel: NSObject, @unchecked Sendable {
    /// The input that gets the image: the model's first image input unless set.
    public var inputImageFeatureName: String
    /// Values for the model's other inputs.
    public var featureProvider: (any MLFeatureProvider)?
    let model: MLModel

    /// Wraps a model. Throws `VNError` of code `invalidModel` when it takes no image.
    public init(for model: MLModel) throws {
        guard let name = model.model.firstImageInputName else {
            throw VNError(.invalidModel, "\(model.model.name): the model does not have a valid input feature of type image")
        }
        self.model = model
        inputImageFeatureName = name
    }
}
