import CoreGraphics
import CoreImage
import CoreMedia
import CoreVideo
import Foundation
import ImageIO
import NTImage

/// The image of a handler and the orientation given with it. Files are read when a request first needs them, and then kept.
final class HandledImage: @unchecked Sendable {
    /// Replaces the orientation that the image itself carries; nil keeps that one.
    let orientation: ImageOrientation?
    private let load: () throws -> any PixelSource
    private let lock = NSLock()
    private var loaded: (any PixelSource)?

    private init(_ orientation: CGImagePropertyOrientation?, load: @escaping () throws -> any PixelSource) {
        self.orientation = orientation?.imageOrientation
        self.load = load
    }

    private init(_ orientation: ImageOrientation?, load: @escaping () throws -> any PixelSource) {
        self.orientation = orientation
        self.load = load
    }

    convenience init(_ image: CGImage, _ orientation: CGImagePropertyOrientation?) { self.init(orientation) { image } }
    convenience init(_ buffer: CVPixelBuffer, _ orientation: CGImagePropertyOrientation?) { self.init(orientation) { buffer } }

    /// A Core Image picture is first what it says it is; the given orientation turns that.
    convenience init(_ image: CIImage, _ orientation: CGImagePropertyOrientation?) {
        self.init(image.storedOrientation.followed(by: orientation?.imageOrientation ?? .up)) { image }
    }

    convenience init(_ data: Data, _ orientation: CGImagePropertyOrientation?) {
        self.init(orientation) { try EncodedImage(data: data) }
    }

    convenience init(_ url: URL, _ orientation: CGImagePropertyOrientation?) {
        self.init(orientation) { try EncodedImage(contentsOf: url) }
    }

    convenience init(_ sample: CMSampleBuffer, _ orientation: CGImagePropertyOrientation?) {
        self.init(orientation) {
            guard let buffer = CMSampleBufferGetImageBuffer(sample) else {
                throw VNError(.invalidImage, "the sample buffer holds no image buffer")
            }
            return buffer
        }
    }

    /// The picture. Throws `VNError` when it cannot be read.
    func source() throws -> any PixelSource {
        try lock.withLock {
            if let loaded { return loaded }
            do {
                let source = try load()
                loaded = source
                return source
            } catch let error as ImageError {
                throw VNError(error.kind == .unreadable ? .ioError : .invalidImage, error.description)
            }
        }
    }
}
