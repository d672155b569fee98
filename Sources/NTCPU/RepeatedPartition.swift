import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

extension CPUPartition: RepeatablePartition {
    /// Multiply-adds for each byte of packed weights below which reading the weights once for all elements matters more than keeping an element's values
    /// in cache: a core that reads 8 bytes from memory in the time of 16 multiply-adds would spend an eighth of its time on them.
    private static let leastWork = 16.0

    package func repeated(_ count: Int) -> (any CompiledPartition)? {
        let work = steps.reduce(0.0) { $0 + Double($1.flops) / 2 }
        guard work >= Self.leastWork * Double(weightByteCount) else { return nil }
        return RepeatedPartition(self, count: count)
    }
}

/// A partition of one element run on many: each thread takes an element from beginning to end, whose values stay in its caches, and threads do not wait for
/// each other between steps. Elements that are too few for all threads are run one after another by all of them. Immutable; weights are the partition's own.
final class RepeatedPartition: CompiledPartition {
    let steps: [StepDescription]
    private let single: CPUPartition
    private let count: Int
    /// Elements that threads take whole; the rest are shared.
    private let wholeCount: Int

    init(_ single: CPUPartition, count: Int) {
        (self.single, self.count) = (single, count)
        let threads = single.pool.threadCount
        wholeCount = threads == 1 ? count : count / threads * threads
        steps = single.steps.map { step in
            var step = step
            step.flops *= count
            step.performedFlops *= count
            step.byteCount *= count
            step.output = "\(count) of \(step.output)"
            return step
        }
    }

    func makeState() throws -> any PartitionState {
        let states = try (0..<min(single.pool.threadCount, count)).map { _ in try single.makeState() }
        return RepeatedState(states.compactMap { $0 as? CPUState }, bufferCount: single.inputBuffers.count + single.outputBuffers.count)
    }

    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer], profile: RunProfile?
    ) throws {
        guard let state = state as? RepeatedState else { throw GraphError("the state was made by another backend") }
        let alone = state.usesOneThread
        bind(state, inputs, outputs)
        state.restart(timing: profile != nil, stepCount: single.program.count)
        try runWhole(state, alone ? count : wholeCount, on: alone ? nil : single.pool.handle)
        if let profile { state.addSeconds(to: profile, stepCount: single.program.count, threads: alone ? 1 : state.states.count) }
        for element in (alone ? count : wholeCount)..<count {
            state.restart(timing: profile != nil, stepCount: single.program.count)
            for place in 0..<state.bufferCount {
                let buffer = state.buffers[place]
                state.programs[0].buffers[Int(buffer.buffer)] = buffer.memory + element * buffer.stride
            }
            let code = withUnsafePointer(to: single.program) { nt_program_run($0, &state.programs[0], single.pool.handle) }
            guard code == 0 else { throw single.failure(step: state.programs[0].failed_step) }
            if let profile { state.addSeconds(to: profile, stepCount: single.program.count, threads: 1) }
        }
    }

    private func runWhole(_ state: RepeatedState, _ elements: Int, on pool: OpaquePointer?) throws {
        guard elements > 0 else { return }
        let code = withUnsafePointer(to: single.program) {
            nt_program_run_images($0, state.programs, state.buffers, state.bufferCount, elements, pool)
        }
        guard code == 0 else { throw single.failure(step: state.programs[0].failed_step) }
    }

    private func bind(_ state: RepeatedState, _ inputs: [UnsafeRawBufferPointer], _ outputs: [UnsafeMutableRawBufferPointer]) {
        var place = 0
        func add(_ buffer: Int, _ memory: UnsafeMutableRawPointer?, _ byteCount: Int) {
            guard let memory else { return }
            state.buffers[place] = nt_image_buffer(
                buffer: Int32(buffer), memory: memory.assumingMemoryBound(to: Float.self), stride: byteCount / count / MemoryLayout<Float>.stride)
            place += 1
        }
        for (buffer, index) in single.inputBuffers { add(buffer, UnsafeMutableRawPointer(mutating: inputs[index].baseAddress), inputs[index].count) }
        for (buffer, index) in single.outputBuffers { add(buffer, outputs[index].baseAddress, outputs[index].count) }
    }
}

/// One state for each thread that takes elements, and the caller's memory of the run.
final class RepeatedState: PartitionState {
    let states: [CPUState]
    /// The states' programs, side by side.
    let programs: UnsafeMutablePointer<nt_program_state>
    let buffers: UnsafeMutablePointer<nt_image_buffer>
    let bufferCount: Int
    var usesOneThread = false

    init(_ states: [CPUState], bufferCount: Int) {
        (self.states, self.bufferCount) = (states, bufferCount)
        programs = .allocate(capacity: max(1, states.count))
        for (index, state) in states.enumerated() { (programs + index).initialize(to: state.program) }
        buffers = .allocate(capacity: max(1, bufferCount))
        buffers.initialize(repeating: nt_image_buffer(), count: max(1, bufferCount))
    }

    deinit {
        programs.deallocate()
        buffers.deallocate()
    }

    /// Sets all times to zero and has them taken or not.
    func restart(timing: Bool, stepCount: Int) {
        for (index, state) in states.enumerated() {
            programs[index].seconds = timing ? state.seconds : nil
            if timing { state.seconds.update(repeating: 0, count: stepCount) }
        }
    }

    /// Adds what the clock showed while `threads` threads worked side by side.
    func addSeconds(to profile: RunProfile, stepCount: Int, threads: Int) {
        for step in 0..<stepCount {
            profile.add(states.reduce(0) { $0 + $1.seconds[step] } / Double(threads), toStep: step)
        }
    }
}
