import CNTPlatform
import NTRuntime
import NTTensor

/// Owns what the C steps of a plan point to: parameter structs, packed weights, tables. Written while the plan is made, read-only after.
final class ParameterStore: @unchecked Sendable {
    private var allocations: [UnsafeMutableRawPointer] = []
    private var buffers: [TensorBuffer] = []
    private var tensors: [Tensor] = []
    private let packedWeights: (any PackedWeights)?
    /// Memory in huge pages that packed weights share, and what of it is taken.
    private var slab: TensorBuffer?
    private var slabCount = 0
    private var packedCount = 0
    /// Bytes of everything that `packed` has given.
    private(set) var packedByteCount = 0
    private var zeroCount = 0
    private var zeroPointer: UnsafePointer<Float>?

    /// A store that takes packed weights from `packedWeights`, where they are there, and keeps it alive.
    init(packedWeights: (any PackedWeights)? = nil) { self.packedWeights = packedWeights }

    /// Keeps a copy of `value` at a fixed address.
    func keep<T>(_ value: T) -> UnsafePointer<T> {
        let pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
        pointer.initialize(to: value)
        allocations.append(UnsafeMutableRawPointer(pointer))
        return UnsafePointer(pointer)
    }

    /// Keeps a copy of an array of a C type.
    func keep<T>(array: [T]) -> UnsafePointer<T> {
        let pointer = UnsafeMutablePointer<T>.allocate(capacity: max(1, array.count))
        for (index, value) in array.enumerated() { (pointer + index).initialize(to: value) }
        allocations.append(UnsafeMutableRawPointer(pointer))
        return UnsafePointer(pointer)
    }

    /// The elements of a float32 tensor, which is kept alive.
    func keep(_ tensor: Tensor) -> UnsafePointer<Float> {
        tensors.append(tensor)
        return UnsafePointer((tensor.buffer.base + tensor.byteOffset).assumingMemoryBound(to: Float.self))
    }

    /// `count` zeroed floats, aligned to 64 bytes.
    func floats(_ count: Int) throws -> UnsafeMutablePointer<Float> {
        let buffer = try TensorBuffer(byteCount: max(count, 1) * 4, zeroed: true)
        buffers.append(buffer)
        return buffer.base.bindMemory(to: Float.self, capacity: max(count, 1))
    }

    /// What `recipe` makes of a float32 constant: `byteCount` bytes aligned to 64, taken from the store of packed weights when it has them, else
    /// written by `pack`, which gets a reader of the constant and memory that is not initialised, and writes all of it.
    func packed(
        _ constant: Tensor, recipe: String, byteCount: Int, by pack: (TensorReader, UnsafeMutableRawPointer) throws -> Void
    ) throws -> UnsafeRawPointer {
        packedByteCount += byteCount
        if let stored = packedWeights?.stored(constant, recipe: recipe, byteCount: byteCount) { return stored }
        let buffer = try packedMemory(byteCount)
        try pack(TensorReader(constant), buffer.base)
        buffers.append(buffer)
        packedWeights?.record(constant, recipe: recipe, byteCount: byteCount, buffer: buffer)
        return UnsafeRawPointer(buffer.base)
    }

    /// Slabs hold two huge pages. Those that are not touched take no memory.
    private static let slabByteCount = 4 << 20

    /// Memory for packed weights, aligned to 64 bytes. Once there are some, small blocks lie in slabs: with huge pages they are made ready in fewer steps,
    /// and read with fewer entries of the processor's address tables.
    private func packedMemory(_ byteCount: Int) throws -> TensorBuffer {
        packedCount += byteCount
        guard packedCount > Self.slabByteCount / 4, byteCount <= Self.slabByteCount / 4 else { return try TensorBuffer(byteCount: byteCount) }
        if slab == nil || slabCount + byteCount > Self.slabByteCount { (slab, slabCount) = (try TensorBuffer(byteCount: Self.slabByteCount), 0) }
        guard let slab else { return try TensorBuffer(byteCount: byteCount) }
        defer { slabCount += (byteCount + 63) / 64 * 64 }
        return TensorBuffer(borrowing: UnsafeRawBufferPointer(start: slab.base + slabCount, count: byteCount), owner: slab)
    }

    /// At least `count` zeros, shared by all who ask.
    func zeros(_ count: Int) throws -> UnsafePointer<Float> {
        if let zeroPointer, zeroCount >= count { return zeroPointer }
        let pointer = UnsafePointer(try floats(count))
        (zeroPointer, zeroCount) = (pointer, count)
        return pointer
    }

    deinit { for pointer in allocations { pointer.deallocate() } }
}
