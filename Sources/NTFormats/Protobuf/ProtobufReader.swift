/// A cursor over protobuf's wire format. Every read is checked against the end; nothing here traps.
struct ProtobufReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    /// Reads `bytes`, which must stay valid meanwhile.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    /// A base-128 number of at most ten bytes.
    mutating func varint() throws -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if shift == 63, byte > 1 { throw FormatError(.malformed, "a number is longer than 64 bits") }
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
            shift += 7
            if shift > 63 { throw FormatError(.malformed, "a number is longer than ten bytes") }
        }
        throw FormatError(.malformed, "the file ends inside a number: it is truncated or damaged")
    }

    /// A field's number and wire type.
    mutating func tag() throws -> (number: Int, wire: Int) {
        let value = try varint()
        let number = value >> 3
        guard (1...0x1fff_ffff).contains(number) else { throw FormatError(.malformed, "field number \(number) is out of range") }
        return (Int(number), Int(value & 7))
    }

    mutating func fixed32() throws -> UInt32 {
        guard bytes.count - offset >= 4 else { throw Self.truncated }
        defer { offset += 4 }
        return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    mutating func fixed64() throws -> UInt64 {
        guard bytes.count - offset >= 8 else { throw Self.truncated }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The range of a length-delimited field's bytes; the cursor moves past it.
    mutating func lengthDelimited() throws -> Range<Int> {
        let length = try varint()
        let rest = bytes.count - offset
        guard length <= UInt64(rest) else {
            throw FormatError(
                .malformed, "a field of \(length) bytes does not fit the \(rest) that are left: the file is truncated or damaged")
        }
        let range = offset..<(offset + Int(length))
        offset = range.upperBound
        return range
    }

    /// Skips a group that has just begun, with whatever is nested in it.
    mutating func skipGroup(_ number: Int, depth: Int) throws {
        var open = [number]
        while let innermost = open.last {
            guard !isAtEnd else { throw Self.truncated }
            let (number, wire) = try tag()
            switch wire {
            case 0: _ = try varint()
            case 1: _ = try fixed64()
            case 2: _ = try lengthDelimited()
            case 3:
                guard open.count + depth < ProtobufMessage.maximumDepth else {
                    throw FormatError(.malformed, "groups are nested more than \(ProtobufMessage.maximumDepth) deep")
                }
                open.append(number)
            case 4:
                guard number == innermost else { throw FormatError(.malformed, "group \(innermost) ends as \(number)") }
                open.removeLast()
            case 5: _ = try fixed32()
            default: throw FormatError(.malformed, "wire type \(wire) of field \(number) is unknown")
            }
        }
    }

    private static let truncated = FormatError(.malformed, "the file ends inside a field: it is truncated or damaged")
}
