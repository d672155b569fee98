/// Bounds-checked reads from borrowed bytes; nil past the end.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer

    func uint8(_ at: Int) -> UInt8? {
        at >= 0 && at < bytes.count ? bytes[at] : nil
    }

    func uint16(_ at: Int, bigEndian: Bool) -> UInt16? {
        guard at >= 0, at <= bytes.count - 2 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: at, as: UInt16.self)
        return bigEndian ? UInt16(bigEndian: value) : UInt16(littleEndian: value)
    }

    func uint32(_ at: Int, bigEndian: Bool) -> UInt32? {
        guard at >= 0, at <= bytes.count - 4 else { return nil }
        let value = bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)
        return bigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
    }

    func matches(_ text: StaticString, at: Int) -> Bool {
        guard at >= 0, at <= bytes.count - text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[at + $0] == text.utf8Start[$0] }
    }

    /// The part from `start`, `count` long, cut off at the end of the bytes.
    func part(_ start: Int, _ count: Int) -> ByteReader {
        let low = min(max(start, 0), bytes.count)
        let high = min(low + max(0, min(count, bytes.count - low)), bytes.count)
        return ByteReader(bytes: UnsafeRawBufferPointer(rebasing: bytes[low..<high]))
    }
}
