import CoreGraphics
import CoreVideo
import Foundation

/// Something that a request found. Immutable.
open class VNObservation: NSObject, @unchecked Sendable {
    /// A name of its own.
    public let uuid = UUID()
    /// How sure the model is, forwarded as the model says it. 1 where a model says nothing.
    public let confidence: VNConfidence
    /// The revision of the request that found it.
    public let requestRevision = VNCoreMLRequestRevision1

    init(confidence: VNConfidence) { self.confidence = confidence }
}

/// A label and how sure the model is of it.
public final class VNClassificationObservation: VNObservation, @unchecked Sendable {
    /// The label.
    public let identifier: String

    init(identifier: String, confidence: VNConfidence) {
        self.identifier = identifier
        super.init(confidence: confidence)
    }

    /// Whether the model carries precision and recall curves: never here.
    public var hasPrecisionRecallCurve: Bool { false }

    /// Whether the observation reaches a precision at a recall; false without curves.
    public func hasMinimumPrecision(_ minimumPrecision: Float, forRecall recall: Float) -> Bool { false }

    /// Whether the observation reaches a recall at a precision; false without curves.
    public func hasMinimumRecall(_ minimumRecall: Float, forPrecision precision: Float) -> Bool { false }

    public override var description: String { "\(uuid) VNClassificationObservation confidence=\(confidence) \"\(identifier)\"" }
}

/// An output of a model that is neither labels nor an image.
public final class VNCoreMLFeatureValueObservation: VNObservation, @unchecked Sendable {
    /// The output's value.
    public let featureValue: MLFeatureValue
    /// The output's name.
    public let featureName: String

    init(featureName: String, featureValue: MLFeatureValue) {
        self.featureName = featureName
        self.featureValue = featureValue
        super.init(confidence: 1)
    }
}

/// An output of a model that is an image.
public final class VNPixelBufferObservation: VNObservation, @unchecked Sendable {
    /// The image.
    public let pixelBuffer: CVPixelBuffer
    /// The output's name.
    public let featureName: String?

    init(featureName: String?, pixelBuffer: CVPixelBuffer) {
        self.featureName = featureName
        self.pixelBuffer = pixelBuffer
        super.init(confidence: 1)
    }
}
