import CoreGraphics
import Foundation
import NTImage

/// An encoded picture: JPEG, PNG or WebP. Holds the file's bytes; decodes when asked for pixels.
public final class CGImageSource: Sendable {
    /// The file, or why it is none.
    package let encoded: EncodedImage?

    init(_ encoded: EncodedImage?) { self.encoded = encoded }
}

/// A source for a file; nil when it cannot be read or begins like no known format. Options are ignored.
public func CGImageSourceCreateWithURL(_ url: CFURL, _ options: CFDictionary?) -> CGImageSource? {
    (try? EncodedImage(contentsOf: url as URL)).map { CGImageSource($0) }
}

/// A source for bytes; nil when they begin like no known format. Options are ignored.
public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? {
    (try? EncodedImage(data: Data(referencing: data))).map { CGImageSource($0) }
}

/// A source for a provider's bytes.
public func CGImageSourceCreateWithDataProvider(_ provider: CGDataProvider, _ options: CFDictionary?) -> CGImageSource? {
    provider.data.flatMap { CGImageSourceCreateWithData($0, options) }
}

/// 1: of an animation only the first frame is decoded.
public func CGImageSourceGetCount(_ isrc: CGImageSource) -> Int { isrc.encoded == nil ? 0 : 1 }

/// The uniform type identifier of the format.
public func CGImageSourceGetType(_ isrc: CGImageSource) -> CFString? {
    switch isrc.encoded?.format {
    case .jpeg: "public.jpeg"
    case .png: "public.png"
    case .webp: "org.webmproject.webp"
    case nil: nil
    }
}

/// The picture, its orientation not applied; nil when it cannot be decoded.
public func CGImageSourceCreateImageAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? {
    guard index == 0, let image = try? isrc.encoded?.decoded() else { return nil }
    return CGImage(image)
}

/// The picture scaled down to at most `kCGImageSourceThumbnailMaxPixelSize` on its long side, never up, and upright when
/// `kCGImageSourceCreateThumbnailWithTransform` is true; nil when it cannot be decoded.
public func CGImageSourceCreateThumbnailAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CGImage? {
    guard index == 0, let encoded = isrc.encoded, let header = try? ImageDecoder.size(of: encoded) else { return nil }
    let longest = max(header.width, header.height)
    let most = (options?[kCGImageSourceThumbnailMaxPixelSize] as? NSNumber)?.intValue ?? longest
    let turns = (options?[kCGImageSourceCreateThumbnailWithTransform] as? NSNumber)?.boolValue ?? false
    let orientation = turns ? encoded.embeddedOrientation : .up
    let scale = min(1, Double(max(most, 1)) / Double(longest))
    func scaled(_ side: Int) -> Int { max(1, Int((Double(side) * scale).rounded())) }
    let (width, height) = (scaled(header.width), scaled(header.height))
    let geometry = ImageGeometry(
        width: orientation.isTransposed ? height : width, height: orientation.isTransposed ? width : height, orientation: orientation)
    guard let image = try? ImagePreprocessor(geometry: geometry).prepared(encoded) else { return nil }
    return CGImage(image)
}

/// Size, orientation, colour model and depth of the picture; nil when its header cannot be read.
public func CGImageSourceCopyPropertiesAtIndex(_ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?) -> CFDictionary? {
    guard index == 0, let encoded = isrc.encoded, let header = try? ImageDecoder.size(of: encoded) else { return nil }
    let properties: [CFString: Any] = [
        kCGImagePropertyOrientation: NSNumber(value: encoded.embeddedOrientation.rawValue),
        kCGImagePropertyPixelWidth: NSNumber(value: header.width), kCGImagePropertyPixelHeight: NSNumber(value: header.height),
        kCGImagePropertyColorModel: NSString(string: header.isGray ? "Gray" : "RGB"), kCGImagePropertyDepth: NSNumber(value: 8),
    ]
    return NSDictionary(dictionary: properties)
}
