import CNTCodecs
import Foundation

/// Writes pictures as JPEG and PNG files.
package enum ImageEncoder {
    /// A JPEG file of pixels in grey, RGB or RGBA, whose fourth bytes are left out. `quality` runs from 0 to 1, the best; from 0.9 on colour is kept at
    /// full size. An orientation other than up is written as EXIF's.
    /// - Throws: `ImageError` for other formats, sides above 65500, and lack of memory.
    package static func jpeg(_ image: Image, quality: Double, orientation: ImageOrientation = .up) throws -> Data {
        let level = Int32(((quality.isFinite ? min(max(quality, 0), 1) : 1) * 100).rounded())
        return try encoded(image, format: "JPEG") { nt_jpeg_encode($0, level, orientation.rawValue, $1, $2) }
    }

    /// A PNG file of pixels in grey, RGB or RGBA, whose fourth bytes are alpha that colours are not multiplied by. An orientation other than up is
    /// written as EXIF's.
    /// - Throws: `ImageError` for other formats and lack of memory.
    package static func png(_ image: Image, orientation: ImageOrientation = .up) throws -> Data {
        try encoded(image, format: "PNG") { nt_png_encode($0, orientation.rawValue, $1, $2) }
    }

    private static func encoded(
        _ image: Image, format: String,
        _ encode: (UnsafePointer<nt_codec_pixels>, UnsafeMutablePointer<nt_codec_bytes>, UnsafeMutablePointer<nt_codec_error>) -> Bool
    ) throws -> Data {
        let channels: Int32
        switch image.format {
        case .gray8: channels = 1
        case .rgb8: channels = 3
        case .rgba8: channels = 4
        default: throw ImageError(.unsupported, "\(format) of \(image.format) pixels; expected gray8, rgb8 or rgba8")
        }
        var (result, error) = (nt_codec_bytes(), nt_codec_error())
        let isDone = image.withBytes { bytes in
            var pixels = nt_codec_pixels(
                bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes_per_row: image.bytesPerRow,
                width: UInt32(image.width), height: UInt32(image.height), channels: channels)
            return encode(&pixels, &result, &error)
        }
        guard isDone, let memory = result.bytes else {
            let text = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            let kind: ImageError.Kind =
                switch error.code {
                case Int32(NT_CODEC_NO_MEMORY): .outOfMemory
                case Int32(NT_CODEC_TOO_LARGE): .tooLarge
                default: .unsupported
                }
            throw ImageError(kind, "cannot be encoded as \(format): \(text)")
        }
        return Data(bytesNoCopy: memory, count: result.byte_count, deallocator: .custom { memory, _ in nt_codec_bytes_free(memory) })
    }
}
