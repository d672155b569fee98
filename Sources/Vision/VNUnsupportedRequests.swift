import Foundation

/// Classifies with the network that is part of Apple's operating systems. There is none here: performing it fails with `unsupportedRequest`.
public final class VNClassifyImageRequest: VNImageBasedRequest, @unchecked Sendable {
    override func observations(for image: HandledImage) throws -> [VNObservation] {
        throw VNError(
            .unsupportedRequest, "VNClassifyImageRequest needs the network inside Apple's systems; use VNCoreMLRequest with a model of your own")
    }
}

/// Computes a print with the network that is part of Apple's operating systems. There is none here: performing it fails with `unsupportedRequest`.
public final class VNGenerateImageFeaturePrintRequest: VNImageBasedRequest, @unchecked Sendable {
    override func observations(for image: HandledImage) throws -> [VNObservation] {
        throw VNError(
            .unsupportedRequest,
            "VNGenerateImageFeaturePrintRequest needs the network inside Apple's systems; use VNCoreMLRequest with a model of your own")
    }
}
