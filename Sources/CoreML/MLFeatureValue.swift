import CoreGraphics
import CoreVideo
import Foundation
import ImageIO
import NTImage
import Needletail

/// A feature's value and its type. Immutable.
public final class MLFeatureValue: NSObject, @unchecked Sendable {
    /// The value inside.
    enum Storage {
        case undefined
        case int64(Int64)
        case double(Double)
        case string(String)
        case image(CVPixelBuffer)
        case multiArray(MLMultiArray)
        case dictionary([AnyHashable: NSNumber])
        case sequence(MLSequence)
    }

    let storage: Storage
    public let type: MLFeatureType

    private init(_ storage: Storage, _ type: MLFeatureType) { (self.storage, self.type) = (storage, type) }

    public convenience init(int64 value: Int64) { self.init(.int64(value), .int64) }
    public convenience init(double value: Double) { self.init(.double(value), .double) }
    public convenience init(string value: String) { self.init(.string(value), .string) }
    public convenience init(pixelBuffer value: CVPixelBuffer) { self.init(.image(value), .image) }
    public convenience init(multiArray value: MLMultiArray) { self.init(.multiArray(value), .multiArray) }
    public convenience init(sequence value: MLSequence) { self.init(.sequence(value), .sequence) }
    /// A missing value of a type.
    public convenience init(undefined type: MLFeatureType) { self.init(.undefined, type) }

    /// A dictionary of numbers. Keys must be strings or integers.
    public convenience init(dictionary value: [AnyHashable: NSNumber]) throws {
        for key in value.keys where !(key.base is String || key.base is Int || key.base is Int64 || key.base is NSNumber) {
            throw MLModelError(.featureType, "dictionary key \(key): expected a string or an integer, found \(Swift.type(of: key.base))")
        }
        self.init(.dictionary(value), .dictionary)
    }

    /// The value of a Swift object of one of the types that features have, or nil.
    convenience init?(wrapping object: Any) {
        switch object {
        case let value as MLFeatureValue: self.init(value.storage, value.type)
        case let value as CVPixelBuffer: self.init(.image(value), .image)
        case let value as MLMultiArray: self.init(.multiArray(value), .multiArray)
        case let value as MLSequence: self.init(.sequence(value), .sequence)
        case let value as String: self.init(.string(value), .string)
        case let value as Int: self.init(.int64(Int64(value)), .int64)
        case let value as Int64: self.init(.int64(value), .int64)
        case let value as Int32: self.init(.int64(Int64(value)), .int64)
        case let value as Double: self.init(.double(value), .double)
        case let value as Float: self.init(.double(Double(value)), .double)
        case let value as [String: Double]: self.init(.dictionary(MLFeatureValue.numbers(value)), .dictionary)
        case let value as [Int64: Double]: self.init(.dictionary(MLFeatureValue.numbers(value)), .dictionary)
        case let value as [AnyHashable: NSNumber]: self.init(.dictionary(value), .dictionary)
        case let value as NSNumber: self.init(.double(value.doubleValue), .double)
        default: return nil
        }
    }

    static func numbers<Key: Hashable>(_ dictionary: [Key: Double]) -> [AnyHashable: NSNumber] {
        var result: [AnyHashable: NSNumber] = [:]
        for (key, value) in dictionary { result[AnyHashable(key)] = NSNumber(value: value) }
        return result
    }

    /// Whether the value is missing.
    public var isUndefined: Bool { if case .undefined = storage { true } else { false } }

    /// The value; 0 when it is of another type.
    public var int64Value: Int64 { if case .int64(let value) = storage { value } else { 0 } }
    /// The value; 0 when it is of another type.
    public var doubleValue: Double { if case .double(let value) = storage { value } else { 0 } }
    /// The value; empty when it is of another type.
    public var stringValue: String { if case .string(let value) = storage { value } else { "" } }
    /// The value; nil when it is of another type.
    public var imageBufferValue: CVPixelBuffer? { if case .image(let value) = storage { value } else { nil } }
    /// The value; nil when it is of another type.
    public var multiArrayValue: MLMultiArray? { if case .multiArray(let value) = storage { value } else { nil } }
    /// The value; empty when it is of another type.
    public var dictionaryValue: [AnyHashable: NSNumber] { if case .dictionary(let value) = storage { value } else { [:] } }
    /// The value; nil when it is of another type.
    public var sequenceValue: MLSequence? { if case .sequence(let value) = storage { value } else { nil } }

    public func isEqual(to value: MLFeatureValue) -> Bool {
        switch (storage, value.storage) {
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.image(let a), .image(let b)): a === b
        case (.multiArray(let a), .multiArray(let b)):
            a === b || (a.extents == b.extents && (0..<a.count).allSatisfy { a[$0] == b[$0] })
        case (.dictionary(let a), .dictionary(let b)): a == b
        case (.sequence(let a), .sequence(let b)): a === b || (a.stringValues == b.stringValues && a.int64Values == b.int64Values)
        case (.undefined, .undefined): type == value.type
        default: false
        }
    }

    public override var description: String {
        switch storage {
        case .undefined: "undefined"
        case .int64(let value): "Int64 : \(value)"
        case .double(let value): "Double : \(value)"
        case .string(let value): "String : \(value)"
        case .image(let value): "Image : \(CVPixelBufferGetWidth(value)) × \(CVPixelBufferGetHeight(value))"
        case .multiArray(let value): "MultiArray : \(value)"
        case .dictionary(let value): "Dictionary : \(value)"
        case .sequence(let value): "Sequence : \(value)"
        }
    }
}

/// A sequence of strings or integers.
public final class MLSequence: NSObject, @unchecked Sendable {
    public let type: MLFeatureType
    public let stringValues: [String]
    public let int64Values: [NSNumber]

    public init(strings: [String]) { (type, stringValues, int64Values) = (.string, strings, []) }
    public init(int64s: [NSNumber]) { (type, stringValues, int64Values) = (.int64, [], int64s) }
    public init(empty type: MLFeatureType) { (self.type, stringValues, int64Values) = (type, [], []) }
}
