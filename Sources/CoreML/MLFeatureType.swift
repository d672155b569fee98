import Foundation

/// The type of a feature, numbered as on Apple's systems.
public enum MLFeatureType: Int, Sendable {
    case invalid = 0
    case int64 = 1
    case double = 2
    case string = 3
    case image = 4
    case multiArray = 5
    case dictionary = 6
    case sequence = 7
    case state = 8
}

/// The element type of a multi-array: 0x10000 for floating point, 0x20000 for integers, plus the bits.
public enum MLMultiArrayDataType: Int, Sendable {
    case double = 65600
    case float32 = 65568
    case float16 = 65552
    case int32 = 131104
    case int8 = 131080

    public static var float64: MLMultiArrayDataType { .double }
    public static var float: MLMultiArrayDataType { .float32 }

    /// Bytes of one element.
    var byteCount: Int { (rawValue & 0xff) == 64 ? 8 : (rawValue & 0xff) / 8 }
}
