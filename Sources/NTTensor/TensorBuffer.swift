import CNTPlatform
import Synchronization

/// A block of memory that tensors point into: allocated here (64-byte aligned), or borrowed from an owner that it keeps alive
/// (a mapped file, say). The bytes are freed with the last reference.
///
/// Written while it is being filled by its one creator; read-only, and so safe to share between threads, after that. A buffer whose bytes are
/// `DeferredBytes` is filled when they are first asked for, by whichever thread asks; `TensorReader` reads it without filling it.
package final class TensorBuffer: @unchecked Sendable {
    package let byteCount: Int
    private let memory: UnsafeMutableRawPointer
    private let owner: AnyObject?
    /// Where the bytes come from, for a buffer that is filled later or that lies in a file.
    let source: DeferredBytes?
    private let isFilled: Atomic<Bool>
    private let filling = Mutex<Void>(())

    /// Allocates `byteCount` bytes, zeroed when asked for.
    package init(byteCount: Int, zeroed: Bool = false) throws(TensorError) {
        memory = try Self.allocate(byteCount)
        self.byteCount = byteCount
        (owner, source) = (nil, nil)
        isFilled = Atomic(true)
        if zeroed { memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
    }

    /// Reserves `byteCount` bytes, which cost nothing until `source` writes them when they are first asked for.
    package init(byteCount: Int, from source: DeferredBytes) throws(TensorError) {
        memory = try Self.allocate(byteCount)
        self.byteCount = byteCount
        (owner, self.source) = (nil, source)
        isFilled = Atomic(false)
    }

    /// Borrows memory that `owner` keeps valid and unchanged. `source`, when given, are the same bytes.
    package init(borrowing memory: UnsafeRawBufferPointer, owner: AnyObject, source: DeferredBytes? = nil) {
        self.memory = UnsafeMutableRawPointer(mutating: memory.baseAddress ?? UnsafeRawPointer(bitPattern: 64)!)
        byteCount = memory.count
        (self.owner, self.source) = (owner, source)
        isFilled = Atomic(true)
    }

    private static func allocate(_ byteCount: Int) throws(TensorError) -> UnsafeMutableRawPointer {
        guard byteCount >= 0, let memory = nt_aligned_alloc(64, max(byteCount, 64)) else {
            throw TensorError.outOfMemory(byteCount: byteCount)
        }
        return memory
    }

    /// The first byte. Fills a deferred buffer.
    package var base: UnsafeMutableRawPointer {
        if !isFilled.load(ordering: .acquiring) { fill() }
        return memory
    }

    /// Whether `base` costs nothing.
    var isReady: Bool { isFilled.load(ordering: .acquiring) }

    private func fill() {
        filling.withLock { _ in
            guard !isFilled.load(ordering: .relaxed) else { return }
            source?.write(0..<byteCount, memory)
            isFilled.store(true, ordering: .releasing)
        }
    }

    deinit {
        if owner == nil { nt_aligned_free(memory) }
    }
}
