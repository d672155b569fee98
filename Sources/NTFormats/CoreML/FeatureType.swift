/// The type of a model's input, output or state.
package struct FeatureType: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case int64
        case double
        case string
        case image(ImageFeatureType)
        case multiArray(ArrayFeatureType)
        case dictionary(key: KeyType)
        case sequence(element: KeyType, size: SizeRange)
        case state(ArrayFeatureType)
        /// A type that this reader does not know, or none.
        case unknown
    }

    /// The type of a dictionary's keys or a sequence's elements.
    package enum KeyType: String, Sendable, Hashable { case int64, string, unknown }

    package var kind: Kind
    package var isOptional: Bool

    init(_ message: ProtobufMessage) throws {
        var kind = Kind.unknown
        var isOptional = false
        try message.forEachField { number, payload in
            if number == 1000, case .varint(let value) = payload { isOptional = value != 0 }
            guard case .bytes(let slice) = payload else { return }
            let inner = try message.nested(slice)
            switch number {
            case 1: kind = .int64
            case 2: kind = .double
            case 3: kind = .string
            case 4: kind = .image(try ImageFeatureType(inner))
            case 5: kind = .multiArray(try ArrayFeatureType(inner))
            case 6: kind = .dictionary(key: try Self.key(inner, int64: 1, string: 2))
            case 7:
                let size = try inner.message(101).map { try SizeRange($0) } ?? SizeRange(lower: 0, upper: nil)
                kind = .sequence(element: try Self.key(inner, int64: 1, string: 3), size: size)
            case 8: kind = .state(try inner.message(1).map { try ArrayFeatureType($0) } ?? ArrayFeatureType(shape: []))
            default: break
            }
        }
        (self.kind, self.isOptional) = (kind, isOptional)
    }

    private static func key(_ message: ProtobufMessage, int64: Int, string: Int) throws -> KeyType {
        if try message.data(string) != nil { return .string }
        return try message.data(int64) != nil ? .int64 : .unknown
    }

    /// For people: `image 224x224 RGB`, `multiArray float32 [1, 3]`.
    package var text: String {
        let body =
            switch kind {
            case .int64: "int64"
            case .double: "double"
            case .string: "string"
            case .image(let image): image.text
            case .multiArray(let array): array.text
            case .dictionary(let key): "dictionary of \(key.rawValue) to double"
            case .sequence(let element, let size): "sequence of \(element.rawValue) (\(size.text))"
            case .state(let array): "state \(array.text)"
            case .unknown: "unknown type"
            }
        return isOptional ? body + ", optional" : body
    }
}

/// Inclusive bounds of an extent; `upper` nil means unbounded.
package struct SizeRange: Sendable, Hashable {
    package var lower: Int
    package var upper: Int?

    package init(lower: Int, upper: Int?) { (self.lower, self.upper) = (lower, upper) }

    init(_ message: ProtobufMessage) throws {
        lower = max(0, try message.int(1))
        let bound = try message.int(2)
        upper = bound < 0 ? nil : bound
    }

    package func contains(_ extent: Int) -> Bool { extent >= lower && upper.map { extent <= $0 } ?? true }

    package var text: String { upper.map { $0 == lower ? "\(lower)" : "\(lower)...\($0)" } ?? "\(lower)..." }
}

/// An image: its default extents in pixels, its channel order, and the other extents that the model takes.
package struct ImageFeatureType: Sendable, Hashable {
    package enum ColorSpace: Sendable, Hashable {
        case grayscale, rgb, bgr, grayscaleFloat16
        case unknown(Int)

        /// Channels of a pixel, or nil when the colour space is unknown.
        package var channelCount: Int? {
            switch self {
            case .grayscale, .grayscaleFloat16: 1
            case .rgb, .bgr: 3
            case .unknown: nil
            }
        }

        /// The name in the format's own spelling.
        package var name: String {
            switch self {
            case .grayscale: "GRAYSCALE"
            case .rgb: "RGB"
            case .bgr: "BGR"
            case .grayscaleFloat16: "GRAYSCALE_FLOAT16"
            case .unknown(let value): "unknown colour space \(value)"
            }
        }
    }

    package struct Size: Sendable, Hashable {
        package var width: Int
        package var height: Int

        package init(width: Int, height: Int) { (self.width, self.height) = (width, height) }
    }

    package enum Flexibility: Sendable, Hashable {
        case fixed
        case enumerated([Size])
        case range(width: SizeRange, height: SizeRange)
    }

    /// The default extents; 0 when the file leaves them open.
    package var size: Size
    package var colorSpace: ColorSpace
    package var flexibility: Flexibility

    init(_ message: ProtobufMessage) throws {
        size = Size(width: try message.int(1), height: try message.int(2))
        colorSpace =
            switch try message.int(3) {
            case 10: .grayscale
            case 20: .rgb
            case 30: .bgr
            case 40: .grayscaleFloat16
            case let other: .unknown(other)
            }
        flexibility = .fixed
        if let list = try message.message(21) {
            flexibility = .enumerated(try list.messages(1).map { Size(width: try $0.int(1), height: try $0.int(2)) })
        } else if let range = try message.message(31) {
            let open = SizeRange(lower: 1, upper: nil)
            flexibility = .range(
                width: try range.message(1).map { try SizeRange($0) } ?? open,
                height: try range.message(2).map { try SizeRange($0) } ?? open)
        }
    }

    /// Whether the model takes an image of these extents.
    package func allows(_ candidate: Size) -> Bool {
        guard candidate.width > 0, candidate.height > 0 else { return false }
        switch flexibility {
        case .fixed: return (size.width <= 0 || size.width == candidate.width) && (size.height <= 0 || size.height == candidate.height)
        case .enumerated(let sizes): return candidate == size || sizes.contains(candidate)
        case .range(let width, let height): return width.contains(candidate.width) && height.contains(candidate.height)
        }
    }

    package var text: String {
        let others =
            switch flexibility {
            case .fixed: ""
            case .enumerated(let sizes): ", or " + sizes.map { "\($0.width)x\($0.height)" }.joined(separator: ", ")
            case .range(let width, let height): ", width \(width.text), height \(height.text)"
            }
        return "image \(size.width)x\(size.height) \(colorSpace.name)\(others)"
    }
}

/// A multi-dimensional array: its default shape and the other shapes that the model takes.
package struct ArrayFeatureType: Sendable, Hashable {
    package enum ElementType: Sendable, Hashable {
        case float32, double, int32, float16, int8
        case unknown(Int)

        package var name: String {
            if case .unknown(let value) = self { return "element type \(value)" }
            return String(describing: self)
        }
    }

    package enum Flexibility: Sendable, Hashable {
        case fixed
        case enumerated([[Int]])
        case ranges([SizeRange])
    }

    /// The default shape, outermost extent first; empty when the file gives none.
    package var shape: [Int]
    package var elementType: ElementType
    package var flexibility: Flexibility
    /// What an absent optional array is filled with, when the file says.
    package var defaultValue: Double?

    init(shape: [Int]) {
        (self.shape, elementType, flexibility, defaultValue) = (shape, .float32, .fixed, nil)
    }

    init(_ message: ProtobufMessage) throws {
        shape = try message.ints(1, limit: 64)
        elementType =
            switch try message.int(2) {
            case 65568: .float32
            case 65600: .double
            case 65552: .float16
            case 131104: .int32
            case 131080: .int8
            case let other: .unknown(other)
            }
        flexibility = .fixed
        if let list = try message.message(21) {
            flexibility = .enumerated(try list.messages(1).map { try $0.ints(1, limit: 64) })
        } else if let range = try message.message(31) {
            flexibility = .ranges(try range.messages(1, limit: 64).map { try SizeRange($0) })
        }
        var value: Double?
        try message.forEachField { number, payload in
            switch (number, payload) {
            case (41, .varint(let bits)): value = Double(Int32(truncatingIfNeeded: Int64(bitPattern: bits)))
            case (51, .fixed32(let bits)): value = Double(Float(bitPattern: bits))
            case (61, .fixed64(let bits)): value = Double(bitPattern: bits)
            default: break
            }
        }
        defaultValue = value
    }

    /// Whether the model takes an array of this shape.
    package func allows(_ candidate: [Int]) -> Bool {
        guard candidate.allSatisfy({ $0 > 0 }) else { return false }
        switch flexibility {
        case .fixed:
            return shape.isEmpty
                || (shape.count == candidate.count && zip(shape, candidate).allSatisfy { $0 <= 0 || $0 == $1 })
        case .enumerated(let shapes): return candidate == shape || shapes.contains(candidate)
        case .ranges(let ranges):
            return candidate == shape || (ranges.count == candidate.count && zip(ranges, candidate).allSatisfy { $0.contains($1) })
        }
    }

    package var text: String {
        let others =
            switch flexibility {
            case .fixed: ""
            case .enumerated(let shapes): ", or " + shapes.map { "\($0)" }.joined(separator: ", ")
            case .ranges(let ranges): ", each extent in [\(ranges.map(\.text).joined(separator: ", "))]"
            }
        return "multiArray \(elementType.name) \(shape)\(others)"
    }
}
