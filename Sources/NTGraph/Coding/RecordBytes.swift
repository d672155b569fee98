/// Numbers, texts and lists one after another as bytes, little-endian. What `RecordReader` reads.
package struct RecordWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Eight bytes.
    package mutating func word(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }

    package mutating func int(_ value: Int) { word(UInt64(bitPattern: Int64(value))) }

    /// The number of UTF-8 bytes and the bytes.
    package mutating func text(_ value: String) {
        int(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    /// The number of elements and the elements.
    package mutating func list<Element>(_ elements: [Element], _ body: (inout RecordWriter, Element) -> Void) {
        int(elements.count)
        for element in elements { body(&self, element) }
    }

    /// The number of values, unless it is known to the reader, and the values.
    package mutating func ints(_ values: [Int], counted: Bool = true) {
        if counted { int(values.count) }
        for value in values { int(value) }
    }

    package mutating func float(_ value: Float) { word(UInt64(value.bitPattern)) }

    /// Bytes as they are, their number first.
    package mutating func blob(_ value: [UInt8]) {
        int(value.count)
        bytes.append(contentsOf: value)
    }
}

/// A cursor over what `RecordWriter` has written. Every read is checked against the end and throws `GraphError`.
package struct RecordReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    /// Reads `bytes`, which must stay valid meanwhile.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var isAtEnd: Bool { offset == bytes.count }

    package mutating func word() throws -> UInt64 {
        guard bytes.count - offset >= 8 else { throw GraphError("the record ends inside a number") }
        defer { offset += 8 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    package mutating func float() throws -> Float { Float(bitPattern: UInt32(truncatingIfNeeded: try word())) }

    /// A reader of the bytes that `RecordWriter.blob` has written.
    package mutating func blob() throws -> RecordReader {
        let count = try int()
        guard (0...(bytes.count - offset)).contains(count) else { throw GraphError("the record ends inside its bytes") }
        defer { offset += count }
        return RecordReader(UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)]))
    }

    package mutating func int() throws -> Int { Int(Int64(bitPattern: try word())) }

    package mutating func text() throws -> String {
        let count = try int()
        guard (0...(bytes.count - offset)).contains(count) else { throw GraphError("the record ends inside a text") }
        defer { offset += count }
        return String(decoding: bytes[offset..<(offset + count)], as: UTF8.self)
    }

    /// A list whose elements take eight bytes or more each.
    package mutating func list<Element>(_ body: (inout RecordReader) throws -> Element) throws -> [Element] {
        let count = try int()
        guard (0...((bytes.count - offset) / 8)).contains(count) else { throw GraphError("the record ends inside a list") }
        var result: [Element] = []
        result.reserveCapacity(count)
        for _ in 0..<count { result.append(try body(&self)) }
        return result
    }

    package mutating func ints() throws -> [Int] { try list { try $0.int() } }
}
