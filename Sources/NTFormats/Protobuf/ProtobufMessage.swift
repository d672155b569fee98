import Foundation

/// One protobuf message in the wire format, read in place: nothing is copied or indexed, each question walks the fields once.
///
/// Lengths are checked against the message, nesting is bounded, unknown fields and fields of another wire type are skipped, the last
/// occurrence of a singular field wins, repeated scalars may come packed or not. Malformed bytes throw `FormatError` of kind `malformed`.
package struct ProtobufMessage: Sendable {
    /// The deepest nesting of messages and groups.
    package static let maximumDepth = 100

    package let bytes: ByteSlice
    private let depth: Int

    package init(_ bytes: ByteSlice) { (self.bytes, depth) = (bytes, 0) }

    private init(_ bytes: ByteSlice, depth: Int) { (self.bytes, self.depth) = (bytes, depth) }

    /// A field's value as it stands in the file.
    package enum Payload {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        case bytes(ByteSlice)
    }

    /// Calls `body` with each field's number and value, in file order.
    package func forEachField(_ body: (Int, Payload) throws -> Void) throws {
        var reader = ProtobufReader(bytes.bytes)
        let start = bytes.range.lowerBound
        while !reader.isAtEnd {
            let (number, wire) = try reader.tag()
            switch wire {
            case 0: try body(number, .varint(try reader.varint()))
            case 1: try body(number, .fixed64(try reader.fixed64()))
            case 2:
                let range = try reader.lengthDelimited()
                try body(
                    number, .bytes(ByteSlice(bytes.storage, (start + range.lowerBound)..<(start + range.upperBound))))
            case 3: try reader.skipGroup(number, depth: depth)
            case 5: try body(number, .fixed32(try reader.fixed32()))
            default: throw FormatError(.malformed, "wire type \(wire) of field \(number) is unknown at byte \(start + reader.offset)")
            }
        }
    }

    /// The message inside a field's bytes. Throws when the nesting is too deep.
    package func nested(_ bytes: ByteSlice) throws -> ProtobufMessage {
        guard depth < Self.maximumDepth else {
            throw FormatError(.malformed, "messages are nested more than \(Self.maximumDepth) deep")
        }
        return ProtobufMessage(bytes, depth: depth + 1)
    }
}

extension ProtobufMessage {
    /// The last bytes of a length-delimited field, or nil when it is absent.
    package func data(_ field: Int) throws -> ByteSlice? {
        var result: ByteSlice?
        try forEachField { if $0 == field, case .bytes(let slice) = $1 { result = slice } }
        return result
    }

    /// A string; bytes that are no UTF-8 are replaced. Empty when absent.
    package func string(_ field: Int) throws -> String { try data(field)?.text ?? "" }

    /// A message, or nil when it is absent.
    package func message(_ field: Int) throws -> ProtobufMessage? { try data(field).map { try nested($0) } }

    /// A whole number of any varint type, read as signed; 0 when absent. Unsigned values above 2^63 come out negative.
    package func int(_ field: Int) throws -> Int {
        var result = 0
        try forEachField { if $0 == field, case .varint(let value) = $1 { result = Int(Int64(bitPattern: value)) } }
        return result
    }

    /// A truth value; false when absent.
    package func bool(_ field: Int) throws -> Bool { try int(field) != 0 }

    /// A float; 0 when absent.
    package func float(_ field: Int) throws -> Float {
        var result: Float = 0
        try forEachField { if $0 == field, case .fixed32(let bits) = $1 { result = Float(bitPattern: bits) } }
        return result
    }

    /// A double; 0 when absent.
    package func double(_ field: Int) throws -> Double {
        var result: Double = 0
        try forEachField { if $0 == field, case .fixed64(let bits) = $1 { result = Double(bitPattern: bits) } }
        return result
    }

    /// Every occurrence of a length-delimited field, at most `limit` of them.
    package func allData(_ field: Int, limit: Int = 1 << 20) throws -> [ByteSlice] {
        var result: [ByteSlice] = []
        try forEachField { number, payload in
            guard number == field, case .bytes(let slice) = payload else { return }
            guard result.count < limit else { throw FormatError(.malformed, "field \(field) occurs more than \(limit) times") }
            result.append(slice)
        }
        return result
    }

    /// A repeated message.
    package func messages(_ field: Int, limit: Int = 1 << 16) throws -> [ProtobufMessage] {
        try allData(field, limit: limit).map { try nested($0) }
    }

    /// A repeated string.
    package func strings(_ field: Int, limit: Int = 1 << 20) throws -> [String] { try allData(field, limit: limit).map(\.text) }

    /// Repeated whole numbers of any varint type, packed or not, at most `limit` of them.
    package func ints(_ field: Int, limit: Int = 1 << 16) throws -> [Int] {
        var result: [Int] = []
        func append(_ value: UInt64) throws {
            guard result.count < limit else { throw FormatError(.malformed, "field \(field) holds more than \(limit) numbers") }
            result.append(Int(Int64(bitPattern: value)))
        }
        try forEachField { number, payload in
            guard number == field else { return }
            switch payload {
            case .varint(let value): try append(value)
            case .bytes(let slice):
                var reader = ProtobufReader(slice.bytes)
                while !reader.isAtEnd { try append(try reader.varint()) }
            default: return
            }
        }
        return result
    }

    /// Repeated floats as raw little-endian bytes: in place when they are packed in one piece, else gathered in a copy. Nil when absent.
    package func floatBytes(_ field: Int) throws -> ByteSlice? {
        var pieces: [ByteSlice] = []
        var loose: [UInt8] = []
        try forEachField { number, payload in
            guard number == field else { return }
            switch payload {
            case .bytes(let slice):
                guard slice.count % 4 == 0 else {
                    throw FormatError(.malformed, "\(slice.count) bytes of packed floats are no multiple of 4")
                }
                if loose.isEmpty { pieces.append(slice) } else { loose.append(contentsOf: slice.bytes) }
            case .fixed32(let bits):
                if loose.isEmpty {
                    for piece in pieces { loose.append(contentsOf: piece.bytes) }
                    pieces = []
                }
                withUnsafeBytes(of: bits.littleEndian) { loose.append(contentsOf: $0) }
            default: return
            }
        }
        if !loose.isEmpty { return ByteSlice(ByteStorage(copying: loose)) }
        if pieces.count <= 1 { return pieces.first }
        return ByteSlice(ByteStorage(copying: pieces.flatMap { Array($0.bytes) }))
    }

    /// Repeated floats as an array.
    package func floats(_ field: Int) throws -> [Float] {
        guard let slice = try floatBytes(field) else { return [] }
        let bytes = slice.bytes
        return (0..<(slice.count / 4)).map {
            Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self)))
        }
    }
}

extension ByteSlice {
    /// The bytes as UTF-8 text, repaired where they are none.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}
