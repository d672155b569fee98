import CNTPlatform

/// A block of memory that tensors point into: allocated here (64-byte aligned), or borrowed from an owner that it keeps alive
/// (a mapped file, say). The bytes are freed with the last reference.
///
/// Written while it is being filled by its one creator; read-only, and so safe to share between threads, after that.
package final class TensorBuffer: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    package let byteCount: Int
    private let owner: AnyObject?

    /// Allocates `byteCount` bytes, zeroed when asked for.
    package init(byteCount: Int, zeroed: Bool = false) throws(TensorError) {
        guard byteCount >= 0, let memory = nt_aligned_alloc(64, max(byteCount, 64)) else {
            throw TensorError.outOfMemory(byteCount: byteCount)
        }
        base = memory
        self.byteCount = byteCount
        owner = nil
        if zeroed { base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
    }

    /// Borrows memory that `owner` keeps valid and unchanged.
    package init(borrowing memory: UnsafeRawBufferPointer, owner: AnyObject) {
        base = UnsafeMutableRawPointer(mutating: memory.baseAddress ?? UnsafeRawPointer(bitPattern: 64)!)
        byteCount = memory.count
        self.owner = owner
    }

    deinit {
        if owner == nil { nt_aligned_free(base) }
    }
}
