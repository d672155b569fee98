import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// A partition made ready for the processor: C steps over numbered buffers. Immutable; each run uses a state of its own.
final class CPUPartition: CompiledPartition, @unchecked Sendable {
    let steps: [StepDescription]
    /// Bytes of packed weights that a run reads.
    var weightByteCount: Int { store.packedByteCount }
    /// Floats of the arena that a state owns.
    let arenaCount: Int
    private let store: ParameterStore
    let pool: ThreadPool
    let program: nt_program
    private let buffers: [PlannedBuffer]
    /// The buffers that are the caller's, each with the index of the input or output that it is.
    let inputBuffers: [(buffer: Int, index: Int)]
    let outputBuffers: [(buffer: Int, index: Int)]
    /// Offsets in the arena, for the buffers that lie there.
    private let arenaOffsets: [Int]
    private let scratchStride: Int

    init(_ builder: PlanBuilder, pool: ThreadPool) throws {
        steps = builder.steps.map(\.description)
        store = builder.store
        buffers = builder.buffers
        self.pool = pool
        let list = store.keep(array: builder.steps.map(\.step))
        let threads = builder.steps.map(\.step.parts).max() ?? 1
        program = nt_program(steps: list, count: builder.steps.count, threads: threads)
        scratchStride = ((builder.steps.map(\.scratchCount).max() ?? 0) + 31) / 16 * 16
        var requests: [MemoryPlanner.Request] = []
        var owners: [Int] = []
        for (index, buffer) in buffers.enumerated() {
            guard case .arena(let count) = buffer.kind, buffer.lastStep >= 0 else { continue }
            requests.append(MemoryPlanner.Request(count: count, lifetime: buffer.firstStep...buffer.lastStep))
            owners.append(index)
        }
        let (offsets, total) = MemoryPlanner.place(requests)
        var arenaOffsets = [Int](repeating: 0, count: buffers.count)
        for (owner, offset) in zip(owners, offsets) { arenaOffsets[owner] = offset }
        self.arenaOffsets = arenaOffsets
        inputBuffers = builder.buffers.enumerated().compactMap { if case .input(let index) = $1.kind { ($0, index) } else { nil } }
        outputBuffers = builder.buffers.enumerated().compactMap { if case .output(let index) = $1.kind { ($0, index) } else { nil } }
        arenaCount = total
    }

    func makeState() throws -> any PartitionState {
        let state = try CPUState(
            arenaCount: arenaCount, scratchCount: scratchStride * program.threads, scratchStride: scratchStride,
            bufferCount: buffers.count, stepCount: program.count)
        for (index, buffer) in buffers.enumerated() {
            switch buffer.kind {
            case .arena: state.pointers[index] = state.arena + arenaOffsets[index]
            case .constant(let tensor):
                state.pointers[index] = (tensor.buffer.base + tensor.byteOffset).assumingMemoryBound(to: Float.self)
            case .input, .output: state.pointers[index] = nil
            }
        }
        return state
    }

    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile?
    ) throws {
        guard let state = state as? CPUState else { throw GraphError("the state was made by another backend") }
        for (buffer, index) in inputBuffers {
            state.pointers[buffer] = UnsafeMutablePointer(mutating: inputs[index].baseAddress?.assumingMemoryBound(to: Float.self))
        }
        for (buffer, index) in outputBuffers { state.pointers[buffer] = outputs[index].baseAddress?.assumingMemoryBound(to: Float.self) }
        state.program.seconds = profile == nil ? nil : state.seconds
        if profile != nil { state.seconds.update(repeating: 0, count: program.count) }
        let code = withUnsafePointer(to: program) { nt_program_run($0, &state.program, state.usesOneThread ? nil : pool.handle) }
        guard code == 0 else { throw failure(step: state.program.failed_step) }
        guard let profile else { return }
        for index in 0..<program.count { profile.add(state.seconds[index], toStep: index) }
    }

    /// What a step's code says.
    func failure(step index: Int) -> GraphError {
        let step = steps[min(index, steps.count - 1)]
        return GraphError(layer: step.layers.first, "\(step.operators.first ?? "operator"): an index lies outside the extent it picks from")
    }
}
