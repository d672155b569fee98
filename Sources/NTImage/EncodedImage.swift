import Foundation

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

    /// Reads a file whole.
    /// - Throws: `ImageError` for a URL that is no file, a file that is missing, unreadable, a folder, or over the limit.
    package init(contentsOf url: URL) throws {
        let name = url.isFileURL ? url.path : url.absoluteString
        guard url.isFileURL else { throw ImageError(.unreadable, source: name, "not a file URL") }
        let handle = try Self.open(url.path, name: name)
        defer { try? handle.close() }
        let data: Data
        do {
            // One byte over the limit tells a file that is too large, even one that never ends.
            data = try handle.read(upToCount: ImageLimits.maximumFileByteCount + 1) ?? Data()
        } catch {
            throw ImageError(.unreadable, source: name, "cannot be read (\(error.localizedDescription))")
        }
        try self.init(data: data, name: name)
    }

    /// Opens a file or a pipe without waiting: a named pipe that nobody writes to reads as empty, a device is refused.
    private static func open(_ path: String, name: String) throws -> FileHandle {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            let isMissing = code == ENOENT || code == ENOTDIR
            throw ImageError(
                .unreadable, source: name, isMissing ? "no such file" : "cannot be opened (\(String(cString: strerror(code))))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImageError(.unreadable, source: name, "cannot be examined") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFIFO: _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        case S_IFDIR: throw ImageError(.unreadable, source: name, "a folder; expected a picture")
        default: throw ImageError(.unreadable, source: name, "a device; expected a file or a pipe")
        }
        return handle
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
