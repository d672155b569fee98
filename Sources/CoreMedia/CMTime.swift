import Foundation

/// Identifies what a `CMTime`'s value means.
public struct CMTimeFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    public static let valid = CMTimeFlags(rawValue: 1)
}

/// A time as a fraction: value / timescale seconds.
public struct CMTime: Sendable, Hashable, Comparable {
    public var value: Int64
    public var timescale: Int32
    public var flags: CMTimeFlags
    public var epoch: Int64

    public static let invalid = CMTime()
    public static let zero = CMTime(value: 0, timescale: 1)

    public init() { (value, timescale, flags, epoch) = (0, 0, [], 0) }

    public init(value: Int64, timescale: Int32) { (self.value, self.timescale, flags, epoch) = (value, timescale, .valid, 0) }

    /// The nearest fraction; invalid for a number that is not finite or too large.
    public init(seconds: Double, preferredTimescale: Int32) {
        guard let value = Int64(exactly: (seconds * Double(preferredTimescale)).rounded()) else {
            self.init()
            return
        }
        self.init(value: value, timescale: preferredTimescale)
    }

    public var isValid: Bool { flags.contains(.valid) }
    /// Not a number for an invalid time.
    public var seconds: Double { isValid && timescale != 0 ? Double(value) / Double(timescale) : .nan }

    public static func < (a: CMTime, b: CMTime) -> Bool { a.seconds < b.seconds }
}

public let kCMTimeZero = CMTime.zero
public let kCMTimeInvalid = CMTime.invalid
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }
public func CMTimeMakeWithSeconds(_ seconds: Double, preferredTimescale: Int32) -> CMTime {
    CMTime(seconds: seconds, preferredTimescale: preferredTimescale)
}
public func CMTimeGetSeconds(_ time: CMTime) -> Double { time.seconds }
