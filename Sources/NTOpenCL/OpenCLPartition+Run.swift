import NTGraph
import NTRuntime

extension OpenCLPartition {
    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile?
    ) throws {
        guard let state = state as? OpenCLState else { throw OpenCLError.unsupported("the state belongs to another backend") }
        let queue = profile == nil ? state.queue : try state.profilingQueue(context)
        let staged = state.pixels.takeStaged()
        do {
            // Pictures were made ready on the state's own queue.
            if profile != nil, !staged.isEmpty { try state.queue.finish() }
            for (index, (storage, bytes)) in zip(inputStorages, inputs).enumerated() {
                try upload(bytes, input: index, storage: storage, staged: staged[index] ?? [], state, queue)
            }
            for storage in outputStorages { try state.shared[storage]?.unmap(on: queue) }
            if let statusStorage {
                try state.clearedStatus.withUnsafeBytes { try queue.write($0, to: state.buffers[statusStorage]) }
            }
            let events = try launch(state, queue, isTimed: profile != nil)
            try download(outputs, state, queue)
            if let profile { try record(events, in: profile) }
        } catch {
            queue.abandon()
            state.reclaimMemory()
            throw error
        }
    }

    /// Brings an input to the device, without the images that are there already. Memory that the device shares changes hands; other bytes are copied.
    private func upload(
        _ bytes: UnsafeRawBufferPointer, input: Int, storage: Int, staged: Set<Int>, _ state: OpenCLState, _ queue: CommandQueue
    ) throws(OpenCLError) {
        if let shared = state.shared[storage] {
            if let base = bytes.baseAddress, base != UnsafeRawPointer(shared.memory.base) {
                try shared.map(on: queue, waits: true)
                shared.memory.base.copyMemory(from: base, byteCount: min(bytes.count, shared.memory.byteCount))
            }
            return try shared.unmap(on: queue)
        }
        let (buffer, count) = (state.buffers[storage], inputShapes[input].first ?? 0)
        guard !staged.isEmpty, count > 0 else { return try queue.write(bytes, to: buffer) }
        let size = bytes.count / count
        for image in 0..<count where !staged.contains(image) {
            try queue.write(
                UnsafeRawBufferPointer(rebasing: bytes[(image * size)..<((image + 1) * size)]), to: buffer, offset: image * size)
        }
    }

    /// Queues every launch, recorded or one by one; timed, with each one's step and event.
    private func launch(
        _ state: OpenCLState, _ queue: CommandQueue, isTimed: Bool
    ) throws(OpenCLError) -> [(step: Int, event: DeviceEvent)] {
        if let network = state.network {
            return try isTimed ? network.timedRun(queue, steps: launches.map(\.step)) : network.run(queue)
        }
        if !isTimed, let recording = state.recording {
            try recording.replay()
            return []
        }
        var events: [(step: Int, event: DeviceEvent)] = []
        for (launch, kernel) in zip(launches, state.kernels) {
            if isTimed {
                events.append((launch.step, try queue.timedLaunch(kernel, global: launch.global, local: launch.local)))
            } else {
                try queue.launch(kernel, global: launch.global, local: launch.local)
            }
        }
        return events
    }

    /// Waits for the run - the one place where it waits - and brings the outputs to the host.
    private func download(_ outputs: [UnsafeMutableRawBufferPointer], _ state: OpenCLState, _ queue: CommandQueue) throws(OpenCLError) {
        var status = [Int32](repeating: 0, count: 16)
        let finished: Result<Void, OpenCLError> = status.withUnsafeMutableBytes { flags in
            do throws(OpenCLError) {
                if let statusStorage { try queue.read(state.buffers[statusStorage], into: flags) }
                for (storage, bytes) in zip(outputStorages, outputs) where state.shared[storage] == nil {
                    try queue.read(state.buffers[storage], into: bytes)
                }
                for storage in inputStorages + outputStorages { try state.shared[storage]?.map(on: queue, waits: false) }
                try queue.finish()
                return .success(())
            } catch {
                // The copies end in this memory.
                queue.abandon()
                return .failure(error)
            }
        }
        try finished.get()
        for (storage, bytes) in zip(outputStorages, outputs) {
            guard let shared = state.shared[storage], let base = bytes.baseAddress, base != shared.memory.base else { continue }
            base.copyMemory(from: shared.memory.base, byteCount: min(bytes.count, shared.memory.byteCount))
        }
        if status[0] != 0 { throw OpenCLError.indexOutOfRange(layers: checkedLayers) }
    }
}
