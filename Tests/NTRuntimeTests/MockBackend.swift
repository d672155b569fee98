import Foundation
import NTGraph
import NTRuntime
import NTTensor

/// A backend that computes as the reference does, refuses the nodes it is told to, and notes what it is given.
final class MockBackend: Backend, @unchecked Sendable {
    let name = "mock"
    let deviceDescription = "the reference under another name"
    private let refuses: @Sendable (Node) -> Bool
    private let failure: (any Error)?
    private let lock = NSLock()
    private var partitions: [Graph] = []
    private var states = 0
    private var overlaps = 0

    init(compileFailure: (any Error)? = nil, refusing refuses: @escaping @Sendable (Node) -> Bool = { _ in false }) {
        self.refuses = refuses
        failure = compileFailure
    }

    /// The partitions that were compiled.
    var compiled: [Graph] { lock.withLock { partitions } }
    /// How many states were made, over all partitions.
    var stateCount: Int { lock.withLock { states } }
    /// How often a state was used by two runs at once.
    var overlapCount: Int { lock.withLock { overlaps } }

    func claim(_ node: Node, in graph: Graph) -> Claim { refuses(node) ? .refused(reason: "the mock refuses") : .accepted }

    func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
        if let failure { throw failure }
        lock.withLock { partitions.append(partition) }
        return MockPartition(backend: self, inner: try ReferenceBackend().compile(partition, options: options))
    }

    fileprivate func noteState() { lock.withLock { states += 1 } }
    fileprivate func noteOverlap() { lock.withLock { overlaps += 1 } }
}

private struct MockPartition: CompiledPartition {
    final class State: PartitionState {
        let lock = NSLock()
        let inner: any PartitionState
        init(inner: any PartitionState) { self.inner = inner }
    }

    let backend: MockBackend
    let inner: any CompiledPartition

    var steps: [StepDescription] { inner.steps }

    func makeState() throws -> any PartitionState {
        backend.noteState()
        return State(inner: try inner.makeState())
    }

    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer], profile: RunProfile?
    ) throws {
        guard let state = state as? State, state.lock.try() else { return backend.noteOverlap() }
        defer { state.lock.unlock() }
        try inner.run(state.inner, inputs: inputs, outputs: outputs, profile: profile)
    }
}
