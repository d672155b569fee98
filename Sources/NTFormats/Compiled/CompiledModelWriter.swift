import Foundation
import NTFiles
import NTGraph
import NTTensor

/// Writes compiled forms, see `CompiledLayout`.
package struct CompiledModelWriter {
    /// Weights that a recipe has made of a constant.
    package struct Entry: Sendable {
        let constant: Tensor
        let recipe: String
        package let byteCount: Int
        package let buffer: TensorBuffer

        /// The first `byteCount` bytes of `buffer`, made of `constant`.
        package init(constant: Tensor, recipe: String, byteCount: Int, buffer: TensorBuffer) {
            (self.constant, self.recipe, self.byteCount, self.buffer) = (constant, recipe, byteCount, buffer)
        }
    }

    private var pieces: [(offset: Int, bytes: UnsafeRawBufferPointer)] = []
    private var end = CompiledLayout.firstOffset

    /// Writes the compiled form of the model file at `model` to `file`, which must not exist.
    ///
    /// - Parameters:
    ///   - graph: the optimised graph for the default input shapes, all of whose values are float32.
    ///   - entries: its packed weights.
    ///   - target: what they were packed for, for people.
    ///   - writer: this program's version.
    /// Throws `FormatError` naming the file that cannot be read or written.
    package static func write(
        _ graph: Graph, entries: [Entry], target: String, writer: String, model: URL, to file: URL
    ) throws {
        var layout = CompiledModelWriter()
        let (constants, numbers) = distinctConstants(graph)
        var recorded: Set<Int> = []
        for entry in entries { if let number = numbers[Key(entry.constant)] { recorded.insert(number) } }
        let covered = coveredConstants(graph, numbers).intersection(recorded)
        var sections = [CompiledLayout.Section?](repeating: nil, count: constants.count)
        // What every plan reads comes first, then packed weights; what is read for other plans comes last.
        for number in constants.indices where !covered.contains(number) { sections[number] = layout.place(constants[number].bytes) }
        let packed = entries.compactMap { entry -> CompiledLayout.Packed? in
            guard let number = numbers[Key(entry.constant)] else { return nil }
            let section = layout.place(UnsafeRawBufferPointer(start: entry.buffer.base, count: entry.byteCount))
            return CompiledLayout.Packed(constant: number, recipe: entry.recipe, section: section)
        }
        for number in covered.sorted() { sections[number] = layout.place(constants[number].bytes) }
        var text = RecordWriter()
        CompiledLayout.Index(
            writer: writer, target: target, constants: sections.compactMap { $0 }, covered: covered.sorted(), packed: packed
        ).write(&text)
        try GraphRecord.write(graph, to: &text) { numbers[Key($0)] ?? constants.count }
        var header = CompiledHeader()
        header.source = SourceIdentity(try ByteStorage(contentsOf: model))
        (header.indexOffset, header.indexByteCount) = (UInt64(layout.end), UInt64(text.bytes.count))
        header.indexChecksum = text.bytes.withUnsafeBytes { Checksum.sum($0) }
        header.fileByteCount = header.indexOffset + header.indexByteCount
        try withExtendedLifetime((entries, constants)) { try layout.write(header, Data(text.bytes), to: file) }
    }

    private struct Key: Hashable {
        var buffer: ObjectIdentifier
        var byteOffset: Int
        var byteCount: Int

        init(_ tensor: Tensor) { (buffer, byteOffset, byteCount) = (ObjectIdentifier(tensor.buffer), tensor.byteOffset, tensor.byteCount) }
    }

    /// The constants of a graph, each once however many values share it.
    private static func distinctConstants(_ graph: Graph) -> (constants: [Tensor], numbers: [Key: Int]) {
        var constants: [Tensor] = []
        var numbers: [Key: Int] = [:]
        for tensor in graph.values.compactMap(\.constant) where numbers[Key(tensor)] == nil {
            numbers[Key(tensor)] = constants.count
            constants.append(tensor)
        }
        return (constants, numbers)
    }

    /// The constants that are read once each, as the weights of a layer whose weights backends pack.
    private static func coveredConstants(_ graph: Graph, _ numbers: [Key: Int]) -> Set<Int> {
        var (reads, asWeights) = ([Int: Int](), Set<Int>())
        for node in graph.nodes {
            for (place, id) in node.inputs.enumerated() {
                guard let number = graph.constant(id).flatMap({ numbers[Key($0)] }) else { continue }
                reads[number, default: 0] += 1
                if place == 1, node.op is Convolution || node.op is ConvolutionTranspose || node.op is Dense { asWeights.insert(number) }
            }
        }
        return asWeights.filter { reads[$0] == 1 }
    }

    private mutating func place(_ bytes: UnsafeRawBufferPointer) -> CompiledLayout.Section {
        let offset = CompiledLayout.aligned(end, for: bytes.count)
        pieces.append((offset, bytes))
        end = offset + bytes.count
        return CompiledLayout.Section(offset: offset, byteCount: bytes.count, checksum: Checksum.sum(bytes))
    }

    private func write(_ header: CompiledHeader, _ index: Data, to file: URL) throws {
        let (words, text) = (header.words, NSData(data: index))
        do {
            try words.withUnsafeBytes { head in
                try Files.write(
                    pieces: [(0, head)] + pieces + [(Int(header.indexOffset), UnsafeRawBufferPointer(start: text.bytes, count: text.length))],
                    toNew: file.path)
            }
        } catch let error as FileError {
            throw FormatError(error)
        }
    }
}
