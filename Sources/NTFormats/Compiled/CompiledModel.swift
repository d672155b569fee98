import Foundation
import NTFiles
import NTGraph
import NTTensor
import Synchronization

/// The compiled form of a model, mapped: its optimised graph for the default input shapes, and weights in the layouts of the CPU's kernels.
///
/// Opening checks the header, the index, that the form was made from the model beside it, and the constants that every plan reads. The sums of packed
/// weights are checked when they are first asked for, those of the other constants by `verifyConstants`. Immutable; safe from any thread. As with any
/// mapped file, a process that shortens it in place while it is used ends its readers; `CompiledModelWriter` never does that.
package final class CompiledModel: Sendable {
    /// The file's name in a compiled folder.
    package static let fileName = "compiled.bin"

    /// Whether a folder has a compiled form, sound or not.
    package static func exists(inFolder folder: URL) -> Bool { Files.kind(folder.appendingPathComponent(fileName).path) != nil }

    /// The graph that `Passes` made of the model's. Its constants lie in the file.
    package let graph: Graph
    /// What the weights were packed for, for people.
    package let target: String
    private let path: String
    private let storage: ByteStorage
    private let sections: [CompiledLayout.Section]
    private let covered: [Int]
    /// The numbers of the constants by their buffers, which `graph` keeps.
    private let numbers: [ObjectIdentifier: Int]
    private let packed: [PackedKey: CompiledLayout.Section]
    /// Where what lies behind a section begins, by the section's end.
    private let nextOffsets: [Int: Int]
    /// What checking has found.
    private let verdicts = Mutex<[CompiledLayout.Section: Bool]>([:])

    private struct PackedKey: Hashable {
        var constant: Int
        var recipe: String
    }

    /// Opens the compiled form in `folder` of the model that was read from there. `writer` is this program's version: forms of others are not read.
    /// Throws `FormatError` naming the file and why it cannot be used.
    package init(inFolder folder: URL, of asset: ModelAsset, writer: String) throws {
        let file = folder.appendingPathComponent(Self.fileName)
        path = file.path
        do {
            storage = try ByteStorage(contentsOf: file, isMapped: true, maximumByteCount: 4 * ByteStorage.maximumByteCount)
            var reader = RecordReader(try Self.index(storage, of: asset))
            let index = try CompiledLayout.Index(&reader)
            guard index.writer == writer else {
                throw FormatError(.unsupported, "was made by version \(FormatError.shortened(index.writer)), this is \(writer)")
            }
            (target, covered) = (index.target, index.covered)
            let (storage, sections) = (storage, index.constants)
            self.sections = sections
            let all = sections + index.packed.map(\.section)
            for section in all { try Self.check(section, in: storage) }
            nextOffsets = Self.nextOffsets(all)
            let first = all.map(\.offset).min() ?? 0
            guard Self.isZero(from: CompiledLayout.headerByteCount, to: first, in: storage) else {
                throw FormatError(.malformed, "the bytes between the header and the first section are damaged")
            }
            var buffers: [Int: TensorBuffer] = [:]
            graph = try GraphRecord.read(&reader) { number, type in
                guard sections.indices.contains(number) else { throw FormatError(.malformed, "there is no constant \(number)") }
                if let known = buffers[number] { return try Tensor(type, buffer: known) }
                let buffer = Self.buffer(sections[number], storage)
                buffers[number] = buffer
                return try Tensor(type, buffer: buffer)
            }
            numbers = Dictionary(uniqueKeysWithValues: buffers.map { (ObjectIdentifier($1), $0) })
            packed = Dictionary(
                index.packed.map { (PackedKey(constant: $0.constant, recipe: $0.recipe), $0.section) }, uniquingKeysWith: { first, _ in first })
            try Self.check(graph, against: asset)
            let spared = Set(covered)
            for number in buffers.keys where !spared.contains(number) { try verify(sections[number]) }
        } catch let error as FormatError {
            throw error.at(file.path)
        } catch {
            throw FormatError(.malformed, path: file.path, String(describing: error))
        }
    }

    /// The index's bytes, once header, sums and the model's identity are found to be right.
    private static func index(_ storage: ByteStorage, of asset: ModelAsset) throws -> UnsafeRawBufferPointer {
        let bytes = storage.bytes
        guard let header = CompiledHeader(bytes) else {
            throw FormatError(.malformed, "is no compiled form of this version and byte order, or its header is damaged")
        }
        guard header.fileByteCount == UInt64(bytes.count) else {
            throw FormatError(.malformed, "expected \(header.fileByteCount) bytes, found \(bytes.count)")
        }
        guard header.indexByteCount <= UInt64(CompiledLayout.maximumIndexByteCount), header.indexOffset <= UInt64(bytes.count),
            header.indexByteCount <= UInt64(bytes.count) - header.indexOffset
        else { throw FormatError(.malformed, "the index does not lie inside the file") }
        let place = Int(header.indexOffset)..<(Int(header.indexOffset) + Int(header.indexByteCount))
        let text = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard Checksum.sum(text) == header.indexChecksum else { throw FormatError(.malformed, "the index is damaged") }
        guard let model = asset.bytes, header.source.matches(model.storage) else {
            throw FormatError(.invalidModel, "was made from another model than the one beside it")
        }
        return text
    }

    private static func check(_ section: CompiledLayout.Section, in storage: ByteStorage) throws {
        let count = storage.bytes.count
        guard section.offset >= 0, section.offset % 64 == 0, section.byteCount >= 0, section.offset <= count,
            section.byteCount <= count - section.offset
        else { throw FormatError(.malformed, "a section of \(section.byteCount) bytes at \(section.offset) does not lie inside the file") }
    }

    /// For the end of each section the offset of the one that comes next; the index follows the last one without a gap.
    private static func nextOffsets(_ sections: [CompiledLayout.Section]) -> [Int: Int] {
        let sorted = sections.filter { $0.byteCount > 0 }.sorted { $0.offset < $1.offset }
        return Dictionary(zip(sorted, sorted.dropFirst()).map { ($0.offset + $0.byteCount, $1.offset) }) { min($0, $1) }
    }

    /// Whether all bytes of a gap are zero, as those between sections are written. Sections of a forged index may overlap and leave no gap.
    private static func isZero(from start: Int, to end: Int, in storage: ByteStorage) -> Bool {
        start >= end || storage.bytes[start..<end].allSatisfy { $0 == 0 }
    }

    /// The graph's inputs and outputs are those that the model's description leads callers to expect.
    private static func check(_ graph: Graph, against asset: ModelAsset) throws {
        let expected = try asset.graphInputs()
        guard graph.inputs.map({ graph[$0].name }) == expected.map(\.name), graph.types(graph.inputs) == expected.map(\.type) else {
            throw FormatError(.invalidModel, "its inputs are not the model's")
        }
    }

    private static func buffer(_ section: CompiledLayout.Section, _ storage: ByteStorage) -> TensorBuffer {
        let range = section.offset..<(section.offset + section.byteCount)
        let bytes = UnsafeRawBufferPointer(rebasing: storage.bytes[range])
        let source = DeferredBytes(
            write: { part, target in
                guard let base = storage.bytes.baseAddress else { return }
                target.copyMemory(from: base + range.lowerBound + part.lowerBound, byteCount: part.count)
            }, release: { storage.release(range) })
        return TensorBuffer(borrowing: bytes, owner: storage, source: source)
    }

    /// What `recipe` made of a constant of `graph`: `byteCount` bytes, valid while this object lives. Nil when the file has nothing of that key and
    /// size, or when it is damaged.
    package func packed(_ constant: Tensor, recipe: String, byteCount: Int) -> UnsafeRawPointer? {
        guard constant.byteOffset == 0, let number = numbers[ObjectIdentifier(constant.buffer)],
            let section = packed[PackedKey(constant: number, recipe: recipe)], section.byteCount == byteCount, isSound(section)
        else { return nil }
        return storage.bytes.baseAddress.map { $0 + section.offset }
    }

    /// Checks the constants that a plan over packed weights does not read. Throws `FormatError` naming the file when one is damaged.
    package func verifyConstants() throws {
        do {
            for number in covered where sections.indices.contains(number) { try verify(sections[number]) }
        } catch let error as FormatError {
            throw error.at(path)
        }
    }

    /// How many packed weights are damaged, of how many: plans pack these anew. Reads all of them.
    package func damagedPackedCount() -> (damaged: Int, all: Int) {
        (packed.values.reduce(0) { $0 + (isSound($1) ? 0 : 1) }, packed.count)
    }

    private func verify(_ section: CompiledLayout.Section) throws {
        guard isSound(section) else { throw FormatError(.malformed, "the \(section.byteCount) bytes at \(section.offset) are damaged") }
    }

    private func isSound(_ section: CompiledLayout.Section) -> Bool {
        verdicts.withLock { verdicts in
            if let known = verdicts[section] { return known }
            let range = section.offset..<(section.offset + section.byteCount)
            storage.prefetch(range)
            let verdict =
                Checksum.sum(UnsafeRawBufferPointer(rebasing: storage.bytes[range])) == section.checksum
                && Self.isZero(from: range.upperBound, to: nextOffsets[range.upperBound] ?? 0, in: storage)
            verdicts[section] = verdict
            return verdict
        }
    }
}
