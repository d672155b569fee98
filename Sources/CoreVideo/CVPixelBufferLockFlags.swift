/// How memory is locked.
public struct CVPixelBufferLockFlags: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Pixels will not be changed.
    public static let readOnly = CVPixelBufferLockFlags(rawValue: 1)
}
