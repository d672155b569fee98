/// How the pixels of a picture lie in memory. Fourth bytes (alpha or filler) are never looked at: colour channels are used as they are.
package enum PixelFormat: Sendable, Equatable, CaseIterable {
    /// One byte: grey.
    case gray8
    /// Three bytes: red, green, blue.
    case rgb8
    /// Three bytes: blue, green, red.
    case bgr8
    /// Four bytes: red, green, blue, alpha or filler.
    case rgba8
    /// Four bytes: blue, green, red, alpha or filler.
    case bgra8
    /// Four bytes: alpha or filler, red, green, blue.
    case argb8
    /// Four bytes: alpha or filler, blue, green, red.
    case abgr8
    /// Two planes, luma and interleaved Cb Cr at half the size; BT.601, 0...255.
    case nv12FullRange
    /// Two planes, luma and interleaved Cb Cr at half the size; BT.601, luma 16...235, chroma 16...240.
    case nv12VideoRange

    /// Bytes of one pixel in the first plane.
    package var bytesPerPixel: Int {
        switch self {
        case .gray8, .nv12FullRange, .nv12VideoRange: 1
        case .rgb8, .bgr8: 3
        case .rgba8, .bgra8, .argb8, .abgr8: 4
        }
    }

    /// 1 or 2.
    package var planeCount: Int { isBiplanar ? 2 : 1 }

    /// Whether there is a second plane of chroma.
    package var isBiplanar: Bool { self == .nv12FullRange || self == .nv12VideoRange }

    /// Byte offsets of red, green and blue inside a pixel; zeros for grey and for two planes.
    package var channelOffsets: (red: Int, green: Int, blue: Int) {
        switch self {
        case .gray8, .nv12FullRange, .nv12VideoRange: (0, 0, 0)
        case .rgb8, .rgba8: (0, 1, 2)
        case .bgr8, .bgra8: (2, 1, 0)
        case .argb8: (1, 2, 3)
        case .abgr8: (3, 2, 1)
        }
    }

    /// Byte offset of the fourth byte, or nil.
    package var alphaOffset: Int? {
        switch self {
        case .rgba8, .bgra8: 3
        case .argb8, .abgr8: 0
        default: nil
        }
    }
}
