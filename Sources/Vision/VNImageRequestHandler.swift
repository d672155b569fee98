import CoreGraphics
import CoreImage
import CoreMedia
import CoreVideo
import Foundation
import ImageIO

/// Performs requests on one image, which must not change while the handler lives.
///
/// Without an `orientation`, data and files are turned upright as their EXIF says, and everything else is taken as upright already;
/// with one, it alone counts. May be used from any thread.
open class VNImageRequestHandler: NSObject, @unchecked Sendable {
    private let image: HandledImage

    public init(cgImage image: CGImage, options: [VNImageOption: Any] = [:]) { self.image = HandledImage(image, nil) }

    public init(cgImage image: CGImage, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]) {
        self.image = HandledImage(image, orientation)
    }

    /// The picture as Core Image shows it: an orientation that its file carries is not applied for you.
    public init(ciImage image: CIImage, options: [VNImageOption: Any] = [:]) { self.image = HandledImage(image, nil) }

    public init(ciImage image: CIImage, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]) {
        self.image = HandledImage(image, orientation)
    }

    public init(cvPixelBuffer pixelBuffer: CVPixelBuffer, options: [VNImageOption: Any] = [:]) {
        image = HandledImage(pixelBuffer, nil)
    }

    public init(
        cvPixelBuffer pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
    ) {
        image = HandledImage(pixelBuffer, orientation)
    }

    public init(cmSampleBuffer sampleBuffer: CMSampleBuffer, options: [VNImageOption: Any] = [:]) {
        image = HandledImage(sampleBuffer, nil)
    }

    public init(
        cmSampleBuffer sampleBuffer: CMSampleBuffer, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]
    ) {
        image = HandledImage(sampleBuffer, orientation)
    }

    /// A JPEG, PNG or WebP file in memory.
    public init(data imageData: Data, options: [VNImageOption: Any] = [:]) { image = HandledImage(imageData, nil) }

    public init(data imageData: Data, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]) {
        image = HandledImage(imageData, orientation)
    }

    /// A JPEG, PNG or WebP file.
    public init(url imageURL: URL, options: [VNImageOption: Any] = [:]) { image = HandledImage(imageURL, nil) }

    public init(url imageURL: URL, orientation: CGImagePropertyOrientation, options: [VNImageOption: Any] = [:]) {
        image = HandledImage(imageURL, orientation)
    }

    /// Performs the requests in order and returns when all are done. Every request is performed and its completion handler told of its own
    /// error; afterwards the first error is thrown.
    open func perform(_ requests: [VNRequest]) throws { try VNImageRequestHandler.perform(requests, on: image) }

    static func perform(_ requests: [VNRequest], on image: HandledImage) throws {
        var first: (any Error)?
        for request in requests {
            let error = request.perform(on: image)
            first = first ?? error
        }
        if let first { throw first }
    }
}

/// Performs requests on one image after another.
open class VNSequenceRequestHandler: NSObject, @unchecked Sendable {
    public override init() { super.init() }

    open func perform(_ requests: [VNRequest], on image: CGImage) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(image, nil))
    }

    open func perform(_ requests: [VNRequest], on image: CGImage, orientation: CGImagePropertyOrientation) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(image, orientation))
    }

    open func perform(_ requests: [VNRequest], on image: CIImage) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(image, nil))
    }

    open func perform(_ requests: [VNRequest], on image: CIImage, orientation: CGImagePropertyOrientation) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(image, orientation))
    }

    open func perform(_ requests: [VNRequest], on pixelBuffer: CVPixelBuffer) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(pixelBuffer, nil))
    }

    open func perform(_ requests: [VNRequest], on pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(pixelBuffer, orientation))
    }

    open func perform(_ requests: [VNRequest], on sampleBuffer: CMSampleBuffer) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(sampleBuffer, nil))
    }

    open func perform(
        _ requests: [VNRequest], on sampleBuffer: CMSampleBuffer, orientation: CGImagePropertyOrientation
    ) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(sampleBuffer, orientation))
    }

    open func perform(_ requests: [VNRequest], onImageData imageData: Data) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(imageData, nil))
    }

    open func perform(_ requests: [VNRequest], onImageData imageData: Data, orientation: CGImagePropertyOrientation) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(imageData, orientation))
    }

    open func perform(_ requests: [VNRequest], onImageURL imageURL: URL) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(imageURL, nil))
    }

    open func perform(_ requests: [VNRequest], onImageURL imageURL: URL, orientation: CGImagePropertyOrientation) throws {
        try VNImageRequestHandler.perform(requests, on: HandledImage(imageURL, orientation))
    }
}
