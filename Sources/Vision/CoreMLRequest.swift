import CoreGraphics
import CoreML
import CoreVideo
import Foundation
import ImageIO
import NTImage

/// How an image is brought to the size that a model wants.
public enum ImageCropAndScaleAction: Sendable, Hashable, CaseIterable {
    case centerCrop, scaleToFit, scaleToFill, scaleToFitPlus90CCWRotation, scaleToFillPlus90CCWRotation

    var imageOption: CropAndScale {
        switch self {
        case .centerCrop: .centerCrop
        case .scaleToFit: .scaleFit
        case .scaleToFill: .scaleFill
        case .scaleToFitPlus90CCWRotation: .scaleFitRotate90CCW
        case .scaleToFillPlus90CCWRotation: .scaleFillRotate90CCW
        }
    }
}

/// A rectangle in fractions of an upright image's size, origin at the lower left.
public struct NormalizedRect: Sendable, Hashable {
    public var origin: CGPoint { CGPoint(x: x, y: y) }
    let x, y, width, height: Double

    public init(x: CGFloat, y: CGFloat, width: CGFloat, height: CGFloat) {
        (self.x, self.y, self.width, self.height) = (Double(x), Double(y), Double(width), Double(height))
    }

    public init(normalizedRect rect: CGRect) {
        self.init(x: rect.origin.x, y: rect.origin.y, width: rect.size.width, height: rect.size.height)
    }

    public var cgRect: CGRect { CGRect(x: x, y: y, width: width, height: height) }
    /// The whole image.
    public static let fullImage = NormalizedRect(x: 0, y: 0, width: 1, height: 1)
}

/// Something that a request found.
public protocol VisionObservation: Sendable {
    /// A name of its own.
    var uuid: UUID { get }
    /// How sure the model is; 1 where it says nothing.
    var confidence: Float { get }
}

/// A label and how sure the model is of it.
public struct ClassificationObservation: VisionObservation, Hashable {
    public let uuid: UUID
    public let identifier: String
    public let confidence: Float
}

/// An output of a model that is an image.
public struct PixelBufferObservation: VisionObservation {
    public let uuid: UUID
    public let confidence: Float
    public let featureName: String?
    public let pixelBuffer: CVPixelBuffer
}

/// An output of a model that is neither labels nor an image.
public struct CoreMLFeatureValueObservation: VisionObservation {
    public let uuid: UUID
    public let confidence: Float
    public let featureName: String
    public let featureValue: MLFeatureValue
}

/// A Core ML model that takes an image, wrapped for requests.
public struct CoreMLModelContainer: @unchecked Sendable {
    /// The input that gets the image: the model's first image input unless set.
    public var inputImageFeatureName: String
    /// Values for the model's other inputs.
    public var featureProvider: (any MLFeatureProvider)?
    let model: MLModel

    /// Wraps a model. Throws `VNError` of code `invalidModel` when it takes no image.
    public init(model: MLModel, featureProvider: (any MLFeatureProvider)? = nil) throws {
        inputImageFeatureName = try VNCoreMLModel(for: model).inputImageFeatureName
        self.model = model
        self.featureProvider = featureProvider
    }
}

/// Something to find in an image.
public protocol VisionRequest: Sendable {
    associatedtype Result: Sendable

    /// Computes the result, off the caller's thread's needs: called on a background queue.
    func result(for handler: ImageRequestHandler) throws -> Result
}

extension VisionRequest {
    public func perform(on url: URL, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
        try await ImageRequestHandler(url, orientation: orientation).perform(self)
    }

    public func perform(on data: Data, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
        try await ImageRequestHandler(data, orientation: orientation).perform(self)
    }

    public func perform(on image: CGImage, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
        try await ImageRequestHandler(image, orientation: orientation).perform(self)
    }

    public func perform(on pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation? = nil) async throws -> Result {
        try await ImageRequestHandler(pixelBuffer, orientation: orientation).perform(self)
    }
}

/// Runs a Core ML model on an image: `ClassificationObservation`s, most probable first, for a classifier; else
/// `PixelBufferObservation`s for image outputs or `CoreMLFeatureValueObservation`s for others.
public struct CoreMLRequest: VisionRequest {
    public var model: CoreMLModelContainer
    /// How the image is brought to the model's size. Unlike `VNCoreMLRequest`'s, it stretches unless told otherwise.
    public var cropAndScaleAction: ImageCropAndScaleAction = .scaleToFill
    /// The part of the upright image to look at.
    public var regionOfInterest: NormalizedRect = .fullImage

    public init(model: CoreMLModelContainer) { self.model = model }

    public func result(for handler: ImageRequestHandler) throws -> [any VisionObservation] {
        let region = NTImage.NormalizedRect(
            x: regionOfInterest.x, y: regionOfInterest.y, width: regionOfInterest.width, height: regionOfInterest.height)
        let run = CoreMLRun(
            model: model.model, input: model.inputImageFeatureName, featureProvider: model.featureProvider,
            cropAndScale: cropAndScaleAction.imageOption, region: region)
        switch try run.perform(on: handler.image) {
        case .classes(let classes):
            return classes.map { ClassificationObservation(uuid: UUID(), identifier: $0.label, confidence: $0.confidence) }
        case .pixels(let outputs):
            return outputs.map { PixelBufferObservation(uuid: UUID(), confidence: 1, featureName: $0.name, pixelBuffer: $0.buffer) }
        case .values(let outputs):
            return outputs.map {
                CoreMLFeatureValueObservation(uuid: UUID(), confidence: 1, featureName: $0.name, featureValue: $0.value)
            }
        }
    }
}
