import CoreGraphics
import Foundation
import NTFiles
import NTImage

/// A file that one picture is written to. Used by one thread at a time.
public final class CGImageDestination {
    enum Target {
        case data(CFMutableData)
        case file(String)
    }

    private let target: Target
    private let isJPEG: Bool
    private var image: CGImage?
    private var properties: [String: Any] = [:]

    /// Nil for types other than JPEG and PNG, or more than one picture.
    init?(_ target: Target, type: CFString, count: Int) {
        guard count == 1, [kPNGType, kJPEGType].contains(type.description) else { return nil }
        self.target = target
        isJPEG = type.description == kJPEGType
    }

    func add(_ image: CGImage, _ properties: CFDictionary?) {
        guard self.image == nil else { return }
        self.image = image
        merge(properties)
    }

    func merge(_ added: CFDictionary?) {
        for (key, value) in added ?? [:] { if let key = key as? NSString { properties[key.description] = value } }
    }

    /// Writes the picture; false when there is none, it cannot be encoded, or the file cannot be written.
    func finish() -> Bool {
        guard let image else { return false }
        let number = (properties[kCGImagePropertyOrientation.description] as? NSNumber)?.uint32Value ?? 1
        let orientation = ImageOrientation(exif: number)
        let quality = (properties[kCGImageDestinationLossyCompressionQuality.description] as? NSNumber)?.doubleValue ?? 0.9
        do {
            let data = isJPEG ? try image.jpegData(quality: quality, orientation: orientation) : try image.pngData(orientation: orientation)
            switch target {
            case .data(let bytes): bytes.append(data)
            case .file(let path): try Files.write(data, to: path)
            }
        } catch {
            return false
        }
        self.image = nil
        return true
    }
}

private let kJPEGType = "public.jpeg"
private let kPNGType = "public.png"

/// Between 0 and 1, the best; 0.9 when it is not given. Has no meaning for PNG.
public nonisolated(unsafe) let kCGImageDestinationLossyCompressionQuality: CFString = "kCGImageDestinationLossyCompressionQuality"

/// The types that can be written: `public.jpeg` and `public.png`.
public func CGImageDestinationCopyTypeIdentifiers() -> CFArray { [kJPEGType, kPNGType] as NSArray }

/// A destination that appends a file's bytes to `data`; nil for types that cannot be written or a `count` other than 1. Options are ignored.
public func CGImageDestinationCreateWithData(
    _ data: CFMutableData, _ type: CFString, _ count: Int, _ options: CFDictionary?
) -> CGImageDestination? {
    CGImageDestination(.data(data), type: type, count: count)
}

/// A destination that writes a file when it is finished; nil for types that cannot be written, a `count` other than 1, or a URL that is no file's.
/// Options are ignored.
public func CGImageDestinationCreateWithURL(_ url: CFURL, _ type: CFString, _ count: Int, _ options: CFDictionary?) -> CGImageDestination? {
    guard (url as URL).isFileURL else { return nil }
    return CGImageDestination(.file((url as URL).path), type: type, count: count)
}

/// Takes the picture; properties are the quality and the orientation. A second picture is ignored.
public func CGImageDestinationAddImage(_ idst: CGImageDestination, _ image: CGImage, _ properties: CFDictionary?) { idst.add(image, properties) }

/// Takes the picture of a source, with the source's own orientation unless `properties` say another.
public func CGImageDestinationAddImageFromSource(
    _ idst: CGImageDestination, _ isrc: CGImageSource, _ index: Int, _ properties: CFDictionary?
) {
    guard let image = CGImageSourceCreateImageAtIndex(isrc, index, nil) else { return }
    idst.merge([kCGImagePropertyOrientation: NSNumber(value: isrc.encoded?.embeddedOrientation.rawValue ?? 1)] as NSDictionary)
    idst.add(image, properties)
}

/// Properties for the file, as `CGImageDestinationAddImage` takes them.
public func CGImageDestinationSetProperties(_ idst: CGImageDestination, _ properties: CFDictionary?) { idst.merge(properties) }

/// Writes the file; false when that fails or no picture was added.
public func CGImageDestinationFinalize(_ idst: CGImageDestination) -> Bool { idst.finish() }
