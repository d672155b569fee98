@_exported import CoreGraphics
@_exported import CoreImage
import Foundation
@_exported import ImageIO
import NTImage

/// A picture with the orientation it is to be shown in. Immutable.
public final class UIImage: Sendable {
    /// How the bitmap must be turned to be shown.
    public enum Orientation: Int, Sendable, CaseIterable {
        case up = 0
        case down = 1
        case left = 2
        case right = 3
        case upMirrored = 4
        case downMirrored = 5
        case leftMirrored = 6
        case rightMirrored = 7
    }

    /// The bitmap, not turned; nil when the image was made from a `CIImage`.
    public let cgImage: CGImage?
    /// The image this one was made from, when it was made from one.
    public let ciImage: CIImage?
    /// Pixels to a point.
    public let scale: CGFloat
    public let imageOrientation: Orientation

    private init(cgImage: CGImage?, ciImage: CIImage?, scale: CGFloat, orientation: Orientation) {
        (self.cgImage, self.ciImage, imageOrientation) = (cgImage, ciImage, orientation)
        self.scale = scale > 0 && scale.isFinite ? scale : 1
    }

    public convenience init(cgImage: CGImage) { self.init(cgImage: cgImage, ciImage: nil, scale: 1, orientation: .up) }

    public convenience init(cgImage: CGImage, scale: CGFloat, orientation: Orientation) {
        self.init(cgImage: cgImage, ciImage: nil, scale: scale, orientation: orientation)
    }

    public convenience init(ciImage: CIImage) { self.init(cgImage: nil, ciImage: ciImage, scale: 1, orientation: .up) }

    public convenience init(ciImage: CIImage, scale: CGFloat, orientation: Orientation) {
        self.init(cgImage: nil, ciImage: ciImage, scale: scale, orientation: orientation)
    }

    /// Decodes a JPEG, PNG or WebP file's bytes and takes its orientation; nil when that fails.
    public convenience init?(data: Data) { self.init(data: data, scale: 1) }

    /// Decodes a JPEG, PNG or WebP file's bytes and takes its orientation; nil when that fails.
    public convenience init?(data: Data, scale: CGFloat) {
        guard let encoded = try? EncodedImage(data: data) else { return nil }
        self.init(encoded, scale: scale)
    }

    /// Decodes a file and takes its orientation; nil when that fails.
    public convenience init?(contentsOfFile path: String) {
        guard let encoded = try? EncodedImage(contentsOf: URL(fileURLWithPath: path)) else { return nil }
        self.init(encoded, scale: 1)
    }

    /// A picture in the main bundle's resources, with or without the ending png, jpg, jpeg or webp; nil when there is none.
    public convenience init?(named name: String) { self.init(named: name, in: nil, with: nil) }

    /// A picture in a bundle's resources (the main bundle's for nil), with or without its ending; nil when there is none.
    public convenience init?(named name: String, in bundle: Bundle?, with configuration: Any?) {
        let bundle = bundle ?? .main
        let urls = [nil, "png", "jpg", "jpeg", "webp"].compactMap { bundle.url(forResource: name, withExtension: $0) }
        guard let encoded = urls.lazy.compactMap({ try? EncodedImage(contentsOf: $0) }).first else { return nil }
        self.init(encoded, scale: 1)
    }

    private convenience init?(_ encoded: EncodedImage, scale: CGFloat) {
        guard let image = try? encoded.decoded() else { return nil }
        self.init(
            cgImage: CGImage(image), ciImage: nil, scale: scale, orientation: Orientation(image.embeddedOrientation))
    }

    /// The upright size in points.
    public var size: CGSize {
        let pixels = cgImage.map { CGSize(width: $0.width, height: $0.height) } ?? ciImage?.extent.size ?? .zero
        let turned = CGImagePropertyOrientation(imageOrientation).imageOrientation.isTransposed
        return turned
            ? CGSize(width: pixels.height / scale, height: pixels.width / scale)
            : CGSize(width: pixels.width / scale, height: pixels.height / scale)
    }
}

extension UIImage.Orientation {
    init(_ orientation: ImageOrientation) {
        switch orientation {
        case .up: self = .up
        case .upMirrored: self = .upMirrored
        case .down: self = .down
        case .downMirrored: self = .downMirrored
        case .leftMirrored: self = .leftMirrored
        case .right: self = .right
        case .rightMirrored: self = .rightMirrored
        case .left: self = .left
        }
    }
}

extension CGImagePropertyOrientation {
    /// The EXIF number of the same orientation; the raw values of the two types differ.
    public init(_ orientation: UIImage.Orientation) {
        switch orientation {
        case .up: self = .up
        case .upMirrored: self = .upMirrored
        case .down: self = .down
        case .downMirrored: self = .downMirrored
        case .leftMirrored: self = .leftMirrored
        case .right: self = .right
        case .rightMirrored: self = .rightMirrored
        case .left: self = .left
        }
    }
}

extension CIImage {
    /// The bitmap or image inside, not turned; nil when there is none.
    public convenience init?(image: UIImage) {
        if let bitmap = image.cgImage {
            self.init(cgImage: bitmap)
        } else if let inner = image.ciImage {
            self.init(copying: inner)
        } else {
            return nil
        }
    }
}
