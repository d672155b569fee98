/// The few launches of a state that run a whole network, with their arguments. Used by one thread at a time.
final class NetworkRun {
    private let plan: NetworkPlan
    private let kernels: [DeviceKernel]
    private let ranges: [Range<Int>]
    private let groups: [Int]

    /// `buffers` are those of the storages, `chunks` those of the arena.
    init(
        _ plan: NetworkPlan, table: DeviceBuffer, buffers: [DeviceBuffer], chunks: [DeviceBuffer], context: DeviceContext,
        programs: [ProgramKey: DeviceProgram]
    ) throws(OpenCLError) {
        self.plan = plan
        let zeros = [Int32](repeating: 0, count: plan.counterByteCount / 4)
        let counters = try zeros.withUnsafeBytesOrError { bytes throws(OpenCLError) in
            try DeviceBuffer(context, byteCount: bytes.count, contents: bytes)
        }
        var kernels: [DeviceKernel] = []
        for segment in plan.segments {
            guard let program = programs[segment.program] else { throw OpenCLError.call(name: "clCreateKernel", code: -45) }
            let kernel = try DeviceKernel(program, entry: "nt_network")
            for (index, base) in plan.bases.enumerated() {
                switch base {
                case .constants(let buffer): try kernel.set(index, buffer)
                case .arena(let chunk): try kernel.set(index, chunks[chunk])
                case .storage(let storage): try kernel.set(index, buffers[storage])
                }
            }
            let next = plan.bases.count
            try kernel.set(next, table)
            try kernel.set(next + 1, counters)
            try kernel.set(next + 2, Int32(clamping: plan.stageCount))
            try kernel.set(next + 3, Int32(clamping: plan.groups))
            kernels.append(kernel)
        }
        self.kernels = kernels
        ranges = plan.segments.map(\.stages)
        groups = [plan.groups]
        for (kernel, range) in zip(kernels, ranges) { try setStages(range, of: kernel) }
    }

    /// Launches every kernel without a stage and waits: drivers that compile for the first launch do it now.
    func warmUp(_ queue: CommandQueue) throws(OpenCLError) {
        do {
            for (kernel, range) in zip(kernels, ranges) {
                try setStages(0..<0, of: kernel)
                try queue.launch(kernel, global: groups, local: [1])
                try setStages(range, of: kernel)
            }
            try queue.finish()
        } catch {
            queue.abandon()
            throw error
        }
    }

    private func setStages(_ stages: Range<Int>, of kernel: DeviceKernel) throws(OpenCLError) {
        try kernel.set(plan.bases.count + 4, Int32(clamping: stages.lowerBound))
        try kernel.set(plan.bases.count + 5, Int32(clamping: stages.upperBound))
    }

    /// Queues everything.
    func run(_ queue: CommandQueue) throws(OpenCLError) -> [(step: Int, event: DeviceEvent)] {
        for kernel in kernels { try queue.launch(kernel, global: groups, local: [1]) }
        return []
    }

    /// Queues each stage by itself and returns its event and its step, which `steps` gives per stage.
    func timedRun(_ queue: CommandQueue, steps: [Int]) throws(OpenCLError) -> [(step: Int, event: DeviceEvent)] {
        var events: [(step: Int, event: DeviceEvent)] = []
        for (kernel, range) in zip(kernels, ranges) {
            do {
                for stage in range {
                    try setStages(stage..<(stage + 1), of: kernel)
                    events.append((steps[stage], try queue.timedLaunch(kernel, global: groups, local: [1])))
                }
                try setStages(range, of: kernel)
            } catch {
                try? setStages(range, of: kernel)
                throw error
            }
        }
        return events
    }
}

extension Array {
    /// As `withUnsafeBytes`, for calls that throw `OpenCLError`.
    func withUnsafeBytesOrError<T>(_ body: (UnsafeRawBufferPointer) throws(OpenCLError) -> T) throws(OpenCLError) -> T {
        let result: Result<T, OpenCLError> = withUnsafeBytes { bytes in
            do throws(OpenCLError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
