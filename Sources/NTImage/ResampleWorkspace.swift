import CNTKernels
import CNTPlatform
import Synchronization

/// Scratch memory of one running preparation, and the plan it ran last. Workspaces are pooled: after warm-up a run allocates nothing.
final class ResampleWorkspace {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var plan: ResamplePlan?

    deinit { nt_aligned_free(memory) }

    /// The plan for `key`: the last one when the key is the same.
    func plan(for key: ResamplePlan.Key) throws -> ResamplePlan {
        if let plan, plan.key == key { return plan }
        let made = try ResamplePlan(key: key)
        plan = made
        return made
    }

    /// At least `byteCount` bytes, aligned to 64, contents undefined.
    /// - Throws: `ImageError` when memory is short.
    func scratch(_ byteCount: Int) throws -> UnsafeMutablePointer<UInt8> {
        if let memory, capacity >= byteCount { return memory.assumingMemoryBound(to: UInt8.self) }
        nt_aligned_free(memory)
        memory = nt_aligned_alloc(64, byteCount)
        capacity = memory == nil ? 0 : byteCount
        guard let memory else { throw ImageError(.outOfMemory, "no memory for \(byteCount) bytes of scratch space") }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    private struct Idle: @unchecked Sendable {
        var workspaces: [ResampleWorkspace] = []
    }

    private static let idle = Mutex(Idle())
    /// Idle workspaces kept, and the most bytes one may hold on to.
    private static let keptCount = 16
    private static let keptByteCount = 8 << 20

    /// Runs `body` with a workspace that no one else uses.
    static func withWorkspace<Result>(_ body: (ResampleWorkspace) throws -> Result) rethrows -> Result {
        let workspace = idle.withLock { Pooled($0.workspaces.popLast()) }.value ?? ResampleWorkspace()
        let borrowed = Pooled(workspace)
        defer {
            if workspace.capacity <= keptByteCount {
                idle.withLock { idle in
                    if idle.workspaces.count < keptCount, let value = borrowed.value { idle.workspaces.append(value) }
                }
            }
        }
        return try body(workspace)
    }

    /// Carries a workspace, owned by exactly one thread at a time, in and out of the lock.
    private struct Pooled: @unchecked Sendable {
        let value: ResampleWorkspace?
        init(_ value: ResampleWorkspace?) { self.value = value }
    }
}
