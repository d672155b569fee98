/// Reads a float32 tensor's elements in pieces, without making a deferred tensor stay in memory: what packing is done with. Used by one thread.
package final class TensorReader {
    private let tensor: Tensor
    private var scratch: TensorBuffer?

    /// A reader of `tensor`, which must be float32.
    package init(_ tensor: Tensor) {
        assert(tensor.dtype == .float32)
        self.tensor = tensor
    }

    /// The elements of `range`, valid until the next call and while the reader lives: where they lie, when that costs nothing, else in memory
    /// of the reader's own. Throws when memory is short.
    package func floats(_ range: Range<Int>) throws -> UnsafePointer<Float> {
        let buffer = tensor.buffer
        let start = tensor.byteOffset + 4 * range.lowerBound
        guard !buffer.isReady, let source = buffer.source else {
            return UnsafePointer((buffer.base + start).assumingMemoryBound(to: Float.self))
        }
        let byteCount = 4 * range.count
        let target = try scratch.flatMap { $0.byteCount >= byteCount ? $0 : nil } ?? TensorBuffer(byteCount: byteCount)
        scratch = target
        source.write(start..<(start + byteCount), target.base)
        return UnsafePointer(target.base.assumingMemoryBound(to: Float.self))
    }

    /// All elements, see `floats(_:)`.
    package func floats() throws -> UnsafePointer<Float> { try floats(0..<tensor.count) }

    deinit { tensor.buffer.source?.release() }
}
