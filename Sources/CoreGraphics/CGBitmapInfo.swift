/// Alpha (low five bits) and byte order of pixels.
public struct CGBitmapInfo: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// This alpha, default order.
    public init(alpha: CGImageAlphaInfo) { self.init(rawValue: alpha.rawValue) }

    public static let alphaInfoMask = CGBitmapInfo(rawValue: 0x1f)
    public static let floatInfoMask = CGBitmapInfo(rawValue: 0xf00)
    public static let floatComponents = CGBitmapInfo(rawValue: 1 << 8)
    public static let byteOrderMask = CGBitmapInfo(rawValue: 0x7000)
    public static var byteOrderDefault: CGBitmapInfo { [] }
    public static let byteOrder16Little = CGBitmapInfo(rawValue: 1 << 12)
    public static let byteOrder32Little = CGBitmapInfo(rawValue: 2 << 12)
    public static let byteOrder16Big = CGBitmapInfo(rawValue: 3 << 12)
    public static let byteOrder32Big = CGBitmapInfo(rawValue: 4 << 12)

    /// The alpha part.
    var alphaInfo: CGImageAlphaInfo { CGImageAlphaInfo(rawValue: rawValue & CGBitmapInfo.alphaInfoMask.rawValue) ?? .none }
    /// The order part.
    var byteOrder: CGBitmapInfo { intersection(.byteOrderMask) }
}
