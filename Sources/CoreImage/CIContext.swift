import CoreGraphics
import CoreVideo
import Foundation
import ImageIO
import NTImage

/// Makes pixels from images. Holds nothing; one may serve all threads.
public final class CIContext: Sendable {
    public init() {}

    /// Options are ignored.
    public init(options: [CIContextOption: Any]?) {}

    /// The pixels of a part of the image; nil for an empty part or one that cannot be read.
    public func createCGImage(_ image: CIImage, from fromRect: CGRect) -> CGImage? {
        (try? image.rendered(fromRect.standardized)).map { CGImage($0) }
    }

    /// Draws the part of the image that lies in the buffer's rectangle, lower-left corner in the origin, into the whole buffer; black
    /// where the image does not reach. A buffer that cannot be drawn into stays as it is.
    public func render(_ image: CIImage, to buffer: CVPixelBuffer) {
        let size = buffer.pixelSize
        render(image, to: buffer, bounds: CGRect(x: 0, y: 0, width: size.width, height: size.height), colorSpace: nil)
    }

    /// Draws `bounds` of the image into the whole buffer, as `render(_:to:)`.
    public func render(_ image: CIImage, to buffer: CVPixelBuffer, bounds: CGRect, colorSpace: CGColorSpace?) {
        guard let drawn = try? image.rendered(bounds) else { return }
        try? buffer.fill(from: drawn, cropAndScale: .scaleFill)
    }
}

extension CIContext {
    /// The image as a JPEG file, white where it is transparent; nil when it cannot be read. Of the options the quality counts, see
    /// `kCGImageDestinationLossyCompressionQuality`; colours are written as they are.
    public func jpegRepresentation(of image: CIImage, colorSpace: CGColorSpace, options: [CIImageRepresentationOption: Any] = [:]) -> Data? {
        let key = CIImageRepresentationOption(rawValue: kCGImageDestinationLossyCompressionQuality.description)
        let quality = (options[key] as? NSNumber)?.doubleValue ?? options[key] as? Double ?? 0.9
        return try? createCGImage(image, from: image.extent)?.jpegData(quality: quality)
    }

    /// The image as a PNG file of 8 bits a channel; nil when it cannot be read. `format` and options are ignored.
    public func pngRepresentation(
        of image: CIImage, format: CIFormat, colorSpace: CGColorSpace, options: [CIImageRepresentationOption: Any] = [:]
    ) -> Data? {
        try? createCGImage(image, from: image.extent)?.pngData()
    }
}

/// What an encoded image can be made with.
public struct CIImageRepresentationOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The layout of an image's pixels.
public struct CIFormat: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    public static let ARGB8 = CIFormat(rawValue: 265)
    public static let BGRA8 = CIFormat(rawValue: 266)
    public static let RGBA8 = CIFormat(rawValue: 267)
}

/// What a context can be made with.
public struct CIContextOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let useSoftwareRenderer = CIContextOption(rawValue: "software_renderer")
    public static let workingColorSpace = CIContextOption(rawValue: "working_color_space")
    public static let outputColorSpace = CIContextOption(rawValue: "output_color_space")
    public static let cacheIntermediates = CIContextOption(rawValue: "kCIContextCacheIntermediates")
}
