import CNTPlatform
import NTTensor

/// Memory that a device of unified memory can use in place: zeroed, beginning on a page, with room up to the end of its last cache line.
package final class HostMemory: @unchecked Sendable {
    package let base: UnsafeMutableRawPointer
    /// Bytes asked for.
    package let byteCount: Int
    /// Bytes allocated: a multiple of 64.
    package let capacity: Int

    package init(byteCount: Int) throws(TensorError) {
        let (rounded, overflow) = byteCount.addingReportingOverflow(63)
        guard byteCount >= 0, !overflow, let memory = nt_aligned_alloc(4096, max(rounded & ~63, 64)) else {
            throw TensorError.outOfMemory(byteCount: byteCount)
        }
        base = memory
        self.byteCount = byteCount
        capacity = max(rounded & ~63, 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: capacity)
    }

    deinit { nt_aligned_free(base) }

    /// The bytes as a buffer that keeps this memory alive.
    var buffer: TensorBuffer { TensorBuffer(borrowing: UnsafeRawBufferPointer(start: base, count: byteCount), owner: self) }
}
