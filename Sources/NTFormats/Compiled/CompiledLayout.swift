import NTGraph
import NTTensor

/// How a compiled form lies in its file, native byte order:
///
///     header      128 bytes, sixteen 64-bit words, see `Header`
///     sections    constants and packed weights, each aligned to 64 bytes, large ones to a page; from byte 4096 on; zeros before and between them
///     index       what lies where, and the graph, see `Index`
enum CompiledLayout {
    /// The version of everything here; another one is not read.
    static let version: UInt64 = 1
    static let magic: UInt64 = 0x0d0a_4c54_4e43_1a01
    static let headerByteCount = 128
    static let firstOffset = 4096
    /// The most bytes of an index.
    static let maximumIndexByteCount = 64 << 20

    /// A piece of the file and its sum.
    struct Section: Sendable, Hashable {
        var offset: Int
        var byteCount: Int
        var checksum: UInt64
    }

    /// What a recipe made of a constant.
    struct Packed: Sendable {
        var constant: Int
        var recipe: String
        var section: Section
    }

    /// What lies where. The graph comes last, see `GraphRecord`.
    struct Index: Sendable {
        /// The program's version that wrote it.
        var writer: String
        /// What the weights were packed for, for people.
        var target: String
        var constants: [Section]
        /// Constants that a plan over the packed weights does not read.
        var covered: [Int]
        var packed: [Packed]
    }

    /// Where a section of so many bytes may begin, from `offset` on.
    static func aligned(_ offset: Int, for byteCount: Int) -> Int {
        let alignment = byteCount >= 1 << 16 ? 4096 : 64
        return (offset + alignment - 1) / alignment * alignment
    }
}

extension CompiledLayout.Section {
    init(_ reader: inout RecordReader) throws {
        self.init(offset: try reader.int(), byteCount: try reader.int(), checksum: try reader.word())
    }

    func write(_ writer: inout RecordWriter) {
        writer.int(offset)
        writer.int(byteCount)
        writer.word(checksum)
    }
}

extension CompiledLayout.Index {
    init(_ reader: inout RecordReader) throws {
        self.init(
            writer: try reader.text(), target: try reader.text(),
            constants: try reader.list { try CompiledLayout.Section(&$0) }, covered: try reader.ints(),
            packed: try reader.list {
                CompiledLayout.Packed(constant: try $0.int(), recipe: try $0.text(), section: try CompiledLayout.Section(&$0))
            })
    }

    func write(_ writer: inout RecordWriter) {
        writer.text(self.writer)
        writer.text(target)
        writer.list(constants) { $1.write(&$0) }
        writer.ints(covered)
        writer.list(packed) { writer, packed in
            writer.int(packed.constant)
            writer.text(packed.recipe)
            packed.section.write(&writer)
        }
    }
}

/// The words of a compiled form's header. The model that the form was made from is told by its size, its time of change and two sums.
package struct CompiledHeader: Equatable {
    package var fileByteCount: UInt64 = 0
    package var indexOffset: UInt64 = 0
    package var indexByteCount: UInt64 = 0
    package var indexChecksum: UInt64 = 0
    var source = SourceIdentity()

    /// All words, the sum of the others last.
    package var words: [UInt64] {
        var words = [
            CompiledLayout.magic, CompiledLayout.version, fileByteCount, indexOffset, indexByteCount, indexChecksum, source.byteCount,
            source.seconds, source.nanoseconds, source.sampleChecksum, source.checksum, 0, 0, 0, 0,
        ]
        words.append(words.withUnsafeBytes { Checksum.sum($0) })
        return words
    }

    /// The header of these bytes; nil unless magic, byte order, version and sum are right.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= CompiledLayout.headerByteCount else { return nil }
        let words = (0..<16).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
        (fileByteCount, indexOffset, indexByteCount, indexChecksum) = (words[2], words[3], words[4], words[5])
        source = SourceIdentity(
            byteCount: words[6], seconds: words[7], nanoseconds: words[8], sampleChecksum: words[9], checksum: words[10])
        guard self.words == words else { return nil }
    }

    init() {}
}

/// What tells one model file from another without reading all of it, and, when that is not enough, by all of it.
struct SourceIdentity: Equatable {
    var byteCount: UInt64 = 0
    /// The time of its last change.
    var seconds: UInt64 = 0
    var nanoseconds: UInt64 = 0
    /// The sum of some pages throughout the file.
    var sampleChecksum: UInt64 = 0
    /// The sum of the whole file; 0 while it is not known.
    var checksum: UInt64 = 0

    init(byteCount: UInt64 = 0, seconds: UInt64 = 0, nanoseconds: UInt64 = 0, sampleChecksum: UInt64 = 0, checksum: UInt64 = 0) {
        (self.byteCount, self.seconds, self.nanoseconds) = (byteCount, seconds, nanoseconds)
        (self.sampleChecksum, self.checksum) = (sampleChecksum, checksum)
    }

    /// The identity of a file that was read or mapped, without the sum of the whole.
    init(samplesOf storage: ByteStorage) {
        let bytes = storage.bytes
        let page = 4096
        let step = max(256 << 10, bytes.count / 64 / page * page)
        var sum: UInt64 = 0
        for start in stride(from: 0, to: bytes.count, by: step) {
            sum = Checksum.sum(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + page, bytes.count)]), seed: sum)
        }
        sum = Checksum.sum(UnsafeRawBufferPointer(rebasing: bytes[max(0, bytes.count - page)...]), seed: sum)
        self.init(
            byteCount: UInt64(bytes.count), seconds: storage.changed.seconds, nanoseconds: storage.changed.nanoseconds, sampleChecksum: sum)
    }

    /// The identity of a file with the sum of all its bytes.
    init(_ storage: ByteStorage) {
        self.init(samplesOf: storage)
        checksum = Checksum.sum(storage.bytes)
    }

    /// Whether `storage` is the file of this identity. Reads all of it only when its time of change is another: a copy, as a rule.
    /// What was read does not stay in memory.
    func matches(_ storage: ByteStorage) -> Bool {
        defer { storage.release(0..<storage.bytes.count) }
        let found = SourceIdentity(samplesOf: storage)
        guard found.byteCount == byteCount, found.sampleChecksum == sampleChecksum else { return false }
        if found.seconds == seconds, found.nanoseconds == nanoseconds { return true }
        return Checksum.sum(storage.bytes) == checksum
    }
}
