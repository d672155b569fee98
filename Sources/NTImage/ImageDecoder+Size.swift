import CNTCodecs
import CWebP

extension ImageDecoder {
    /// The size and kind of a picture, read from its header alone.
    /// - Throws: `ImageError`.
    package static func size(of encoded: EncodedImage) throws -> (width: Int, height: Int, isGray: Bool) {
        try encoded.data.withUnsafeBytes { bytes in
            var error = nt_codec_error()
            var info = nt_codec_info()
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            switch encoded.format {
            case .jpeg:
                guard let decoder = nt_jpeg_open(start, bytes.count, limits, &info, &error) else {
                    throw ImageError(error, format: "JPEG").named(encoded.name)
                }
                nt_jpeg_close(decoder)
            case .png:
                guard let decoder = nt_png_open(start, bytes.count, limits, &info, &error) else {
                    throw ImageError(error, format: "PNG").named(encoded.name)
                }
                nt_png_close(decoder)
            case .webp:
                var (width, height): (Int32, Int32) = (0, 0)
                guard WebPGetInfo(start, bytes.count, &width, &height) != 0 else {
                    throw ImageError(.corrupt, source: encoded.name, "corrupt WebP header")
                }
                return (Int(width), Int(height), false)
            }
            return (Int(info.width), Int(info.height), info.channels == 1)
        }
    }
}
