import Foundation
import NTFiles

/// A JPEG, PNG or WebP file that is decoded when its pixels are asked for, at reduced size when little is wanted of them.
///
/// Holds the bytes, not the pixels, so a waiting source costs no more than its file. Safe to share between threads.
package struct EncodedImage: PixelSource, Sendable {
    package let data: Data
    /// What to call it in errors.
    package let name: String?
    package let format: ImageFileFormat
    package let embeddedOrientation: ImageOrientation

    /// - Throws: `ImageError` for bytes that begin like no known format, none, or too many.
    package init(data: Data, name: String? = nil) throws {
        self.data = data
        self.name = name
        do {
            (format, embeddedOrientation) = try data.withUnsafeBytes { bytes in
                let format = try ImageDecoder.checkedFormat(of: bytes)
                return (format, ExifOrientation.find(in: bytes, format: format))
            }
        } catch let error as ImageError {
            throw error.named(name)
        }
    }

    /// Reads a file whole, or a pipe until its writer closes it, however long that takes.
    /// - Throws: `ImageError` for a URL that is no file, a file that is missing, unreadable, a folder, a device, or over the limit.
    package init(contentsOf url: URL) throws {
        let name = url.isFileURL ? url.path : url.absoluteString
        guard url.isFileURL else { throw ImageError(.unreadable, source: name, "not a file URL") }
        let data: Data
        do {
            data = try Files.read(url.path, limit: ImageLimits.maximumFileByteCount, pipes: true)
        } catch {
            if case .tooLarge = error.problem { throw ImageError(.tooLarge, source: name, error.reason) }
            throw ImageError(.unreadable, source: name, error.reason)
        }
        try self.init(data: data, name: name)
    }

    /// The pixels; at reduced size when `geometry` needs no more.
    /// - Throws: `ImageError`.
    package func decoded(for geometry: ImageGeometry? = nil) throws -> Image {
        try data.withUnsafeBytes { try ImageDecoder.decode($0, name: name, for: geometry) }
    }

    package func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        try decoded(for: geometry).withPixels(for: geometry, body)
    }
}
