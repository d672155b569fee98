import Foundation

/// How many channels a pixel has and what they mean. Values are never converted between profiles.
public final class CGColorSpace: Sendable, Equatable {
    /// The kind of channels.
    public let model: CGColorSpaceModel
    private let identifier: String

    /// Names accepted by `init(name:)`.
    public static let sRGB: CFStringName = "kCGColorSpaceSRGB"
    public static let displayP3: CFStringName = "kCGColorSpaceDisplayP3"
    public static let linearSRGB: CFStringName = "kCGColorSpaceLinearSRGB"
    public static let extendedSRGB: CFStringName = "kCGColorSpaceExtendedSRGB"
    public static let genericRGBLinear: CFStringName = "kCGColorSpaceGenericRGBLinear"
    public static let adobeRGB1998: CFStringName = "kCGColorSpaceAdobeRGB1998"
    public static let genericGrayGamma2_2: CFStringName = "kCGColorSpaceGenericGrayGamma2_2"
    public static let linearGray: CFStringName = "kCGColorSpaceLinearGray"

    /// The type of the names: a string literal or a constant above.
    public typealias CFStringName = String

    init(model: CGColorSpaceModel, identifier: String) {
        self.model = model
        self.identifier = identifier
    }

    /// A named space; nil for an unknown name.
    public convenience init?(name: CFStringName) {
        let grey = [Self.genericGrayGamma2_2, Self.linearGray]
        let color = [Self.sRGB, Self.displayP3, Self.linearSRGB, Self.extendedSRGB, Self.genericRGBLinear, Self.adobeRGB1998]
        if grey.contains(name) {
            self.init(model: .monochrome, identifier: name)
        } else if color.contains(name) {
            self.init(model: .rgb, identifier: name)
        } else {
            return nil
        }
    }

    /// A named space; nil for an unknown name.
    public convenience init?(name: CFString) { self.init(name: name.description) }

    /// The space's name.
    public var name: CFString? { NSString(string: identifier) }

    /// Channels, alpha apart.
    public var numberOfComponents: Int { model == .monochrome ? 1 : 3 }

    public static func == (a: CGColorSpace, b: CGColorSpace) -> Bool { a.identifier == b.identifier }
}

/// The kind of channels of a colour space.
public enum CGColorSpaceModel: Int32, Sendable {
    case unknown = -1
    case monochrome = 0
    case rgb = 1
    case cmyk = 2
}

/// Red, green, blue.
public func CGColorSpaceCreateDeviceRGB() -> CGColorSpace { CGColorSpace(model: .rgb, identifier: "kCGColorSpaceDeviceRGB") }
/// Grey.
public func CGColorSpaceCreateDeviceGray() -> CGColorSpace { CGColorSpace(model: .monochrome, identifier: "kCGColorSpaceDeviceGray") }
