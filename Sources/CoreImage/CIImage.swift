@_exported import CoreGraphics
@_exported import CoreVideo
import Foundation
@_exported import ImageIO
import NTImage

/// A description of a picture: a bitmap, a placement in the plane, and the part that is kept. Immutable; pixels are made when asked for.
///
/// Coordinates have their origin at the lower left. An EXIF orientation in data or a file is not applied unless
/// `.applyOrientationProperty` asks for it.
public final class CIImage: Sendable {
    /// What is placed.
    enum Base: Sendable {
        case image(CGImage)
        case buffer(CVPixelBuffer)
    }

    let base: Base
    /// From the bitmap's rectangle, lower-left corner in the origin, to the plane.
    let transform: CGAffineTransform
    /// The part of the plane that the image covers.
    public let extent: CGRect
    /// Properties of the file: the orientation, when there is one.
    public let properties: [String: Any & Sendable]

    init(base: Base, transform: CGAffineTransform, extent: CGRect, properties: [String: Any & Sendable] = [:]) {
        (self.base, self.transform, self.extent, self.properties) = (base, transform, extent, properties)
    }

    /// The same image.
    package convenience init(copying image: CIImage) {
        self.init(base: image.base, transform: image.transform, extent: image.extent, properties: image.properties)
    }

    public convenience init(cgImage: CGImage) {
        self.init(base: .image(cgImage), transform: .identity, extent: CGRect(x: 0, y: 0, width: cgImage.width, height: cgImage.height))
    }

    /// Options are ignored.
    public convenience init(cgImage: CGImage, options: [CIImageOption: Any]?) { self.init(cgImage: cgImage) }

    public convenience init(cvPixelBuffer: CVPixelBuffer) {
        let size = cvPixelBuffer.pixelSize
        self.init(base: .buffer(cvPixelBuffer), transform: .identity, extent: CGRect(x: 0, y: 0, width: size.width, height: size.height))
    }

    /// Options are ignored.
    public convenience init(cvPixelBuffer: CVPixelBuffer, options: [CIImageOption: Any]?) { self.init(cvPixelBuffer: cvPixelBuffer) }

    public convenience init(cvImageBuffer: CVImageBuffer) { self.init(cvPixelBuffer: cvImageBuffer) }

    /// Decodes a JPEG, PNG or WebP file's bytes; nil when that fails.
    public convenience init?(data: Data) { self.init(data: data, options: nil) }

    /// Decodes a JPEG, PNG or WebP file's bytes; nil when that fails.
    public convenience init?(data: Data, options: [CIImageOption: Any]?) {
        guard let encoded = try? EncodedImage(data: data) else { return nil }
        self.init(encoded, options: options)
    }

    /// Decodes a JPEG, PNG or WebP file; nil when that fails.
    public convenience init?(contentsOf url: URL) { self.init(contentsOf: url, options: nil) }

    /// Decodes a JPEG, PNG or WebP file; nil when that fails.
    public convenience init?(contentsOf url: URL, options: [CIImageOption: Any]?) {
        guard let encoded = try? EncodedImage(contentsOf: url) else { return nil }
        self.init(encoded, options: options)
    }

    private convenience init?(_ encoded: EncodedImage, options: [CIImageOption: Any]?) {
        guard let image = try? encoded.decoded() else { return nil }
        let plain = CIImage(cgImage: CGImage(image))
        let apply = options?[.applyOrientationProperty] as? Bool ?? false
        let turned = apply ? plain.oriented(CGImagePropertyOrientation(encoded.embeddedOrientation)) : plain
        let number = apply ? ImageOrientation.up.rawValue : encoded.embeddedOrientation.rawValue
        self.init(
            base: turned.base, transform: turned.transform, extent: turned.extent,
            properties: [kCGImagePropertyOrientation.description: number])
    }

    /// The bitmap, when this image is one as it is.
    public var cgImage: CGImage? {
        if case .image(let image) = base, isWholeBase { image } else { nil }
    }

    /// The pixel buffer, when this image is one as it is.
    public var pixelBuffer: CVPixelBuffer? {
        if case .buffer(let buffer) = base, isWholeBase { buffer } else { nil }
    }

    /// The image placed by a further map.
    public func transformed(by matrix: CGAffineTransform) -> CIImage {
        CIImage(base: base, transform: transform.concatenating(matrix), extent: extent.applying(matrix), properties: properties)
    }

    /// The part inside a rectangle.
    public func cropped(to rect: CGRect) -> CIImage {
        CIImage(base: base, transform: transform, extent: extent.intersection(rect.standardized), properties: properties)
    }

    /// The image turned upright from the orientation, its lower-left corner in the origin.
    public func oriented(_ orientation: CGImagePropertyOrientation) -> CIImage {
        transformed(by: orientationTransform(for: orientation))
    }

    /// The image turned upright from an EXIF number.
    public func oriented(forExifOrientation orientation: Int32) -> CIImage {
        oriented(CGImagePropertyOrientation(rawValue: UInt32(clamping: orientation)) ?? .up)
    }

    /// The map that `oriented(_:)` applies.
    public func orientationTransform(for orientation: CGImagePropertyOrientation) -> CGAffineTransform {
        let turn = orientation.imageOrientation
        // Exchanging rows and columns of pixels that count downwards is, upwards, (x, y) to (-y, -x).
        let (x, y): (CGFloat, CGFloat) = (turn.flipsX ? -1 : 1, turn.flipsY ? -1 : 1)
        let linear =
            turn.isTransposed
            ? CGAffineTransform(a: 0, b: -y, c: -x, d: 0, tx: 0, ty: 0) : CGAffineTransform(a: x, b: 0, c: 0, d: y, tx: 0, ty: 0)
        let placed = extent.applying(linear)
        return linear.concatenating(CGAffineTransform(translationX: -placed.minX, y: -placed.minY))
    }

    /// The map that `oriented(forExifOrientation:)` applies.
    public func orientationTransform(forExifOrientation orientation: Int32) -> CGAffineTransform {
        orientationTransform(for: CGImagePropertyOrientation(rawValue: UInt32(clamping: orientation)) ?? .up)
    }
}

/// What an image can be made with.
public struct CIImageOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let colorSpace = CIImageOption(rawValue: "CIImageColorSpace")
    public static let properties = CIImageOption(rawValue: "CIImageProperties")
    /// Turns the image upright by its file's orientation.
    public static let applyOrientationProperty = CIImageOption(rawValue: "CIImageApplyOrientationProperty")
}
