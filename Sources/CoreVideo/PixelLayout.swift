import CoreGraphics
import NTImage

/// What is known about a pixel format code.
struct PixelLayout {
    let bytesPerPixel: Int
    /// The format as the preprocessor knows it; nil for floats.
    let format: PixelFormat?
    var isBiplanar: Bool { format?.isBiplanar ?? false }

    /// Nil for a code that is not known here.
    init?(_ code: OSType) {
        switch code {
        case kCVPixelFormatType_32BGRA: format = .bgra8
        case kCVPixelFormatType_32RGBA: format = .rgba8
        case kCVPixelFormatType_32ABGR: format = .abgr8
        case kCVPixelFormatType_32ARGB: format = .argb8
        case kCVPixelFormatType_24RGB: format = .rgb8
        case kCVPixelFormatType_24BGR: format = .bgr8
        case kCVPixelFormatType_OneComponent8: format = .gray8
        case kCVPixelFormatType_420YpCbCr8BiPlanarFullRange: format = .nv12FullRange
        case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange: format = .nv12VideoRange
        case kCVPixelFormatType_OneComponent16Half, kCVPixelFormatType_OneComponent32Float: format = nil
        default: return nil
        }
        bytesPerPixel = format?.bytesPerPixel ?? (code == kCVPixelFormatType_OneComponent16Half ? 2 : 4)
    }

    /// A code as its four characters, or as a number.
    static func name(_ code: OSType) -> String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
        return bytes.allSatisfy { (0x20...0x7e).contains($0) } ? "'" + String(decoding: bytes, as: UTF8.self) + "'" : String(code)
    }
}
