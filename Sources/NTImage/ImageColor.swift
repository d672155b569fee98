/// The channels a network wants, in the order it wants them.
package enum ImageColor: Sendable, Hashable, CaseIterable {
    case rgb
    case bgr
    /// Luma by ITU-R BT.601: (19595 R + 38470 G + 7471 B + 32768) >> 16, taken before resizing.
    case grayscale

    /// 3 or 1.
    package var channelCount: Int { self == .grayscale ? 1 : 3 }
}
