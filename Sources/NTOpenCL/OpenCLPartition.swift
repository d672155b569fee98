import NTGraph
import NTRuntime

/// A partition made ready for a device: programs, weights in device memory, launches and the arena's layout. Shared by threads.
final class OpenCLPartition: CompiledPartition {
    let steps: [StepDescription]
    let context: DeviceContext
    let storages: [Storage]
    let launches: [Launch]
    let arena: ArenaPlan
    let inputStorages: [Int]
    /// Extents of each input.
    let inputShapes: [[Int]]
    let outputStorages: [Int]
    let statusStorage: Int?
    let checkedLayers: [String]
    let style: DeviceStyle
    let features: DeviceFeatures
    private let programs: [ProgramKey: DeviceProgram]

    init(_ compiler: PartitionCompiler, features: DeviceFeatures) throws {
        (context, style, self.features) = (compiler.context, compiler.style, features)
        steps = compiler.steps
        storages = compiler.storages
        launches = compiler.launches
        (inputStorages, outputStorages) = (compiler.inputStorages, compiler.outputStorages)
        (statusStorage, checkedLayers) = (compiler.statusStorage, compiler.checkedLayers)
        inputShapes = compiler.graph.types(compiler.graph.inputs).map(\.shape.dims)
        let device = context.device
        arena = ArenaPlanner(alignment: device.subBufferAlignment, maximumChunkBytes: device.maximumAllocationBytes)
            .plan(storages, launches: launches, inputs: inputStorages, outputs: outputStorages)
        guard arena.byteCount <= device.globalMemoryBytes else {
            throw OpenCLError.tooLarge(
                what: "the network's activations", byteCount: arena.byteCount, limit: device.globalMemoryBytes, device: device.name)
        }
        var programs: [ProgramKey: DeviceProgram] = [:]
        for launch in launches where programs[launch.program] == nil {
            programs[launch.program] = try context.program(launch.program)
        }
        self.programs = programs
    }

    func makeState() throws -> any PartitionState {
        let buffers = try makeBuffers()
        let kernels = try launches.map { launch in
            guard let program = programs[launch.program] else { throw OpenCLError.call(name: "clCreateKernel", code: -45) }
            let kernel = try DeviceKernel(program, entry: launch.entry)
            for (index, argument) in launch.arguments.enumerated() {
                switch argument {
                case .storage(let storage): try kernel.set(index, buffers[storage])
                case .int(let value): try kernel.set(index, Int32(clamping: value))
                case .float(let value): try kernel.set(index, value)
                }
            }
            return kernel
        }
        let queue = try CommandQueue(context)
        return OpenCLState(
            buffers: buffers, kernels: kernels, queue: queue, pixels: PixelStage(context, style: style, queue: queue))
    }

    /// One buffer per storage: constants are shared, the rest are parts of the state's own arena.
    private func makeBuffers() throws -> [DeviceBuffer] {
        let chunks = try arena.chunkByteCounts.map { try DeviceBuffer(context, byteCount: $0) }
        var parts: [Int: DeviceBuffer] = [:]
        return try storages.enumerated().map { index, storage in
            switch storage.kind {
            case .constant(let buffer): return buffer
            case .status: return try DeviceBuffer(context, byteCount: storage.byteCount)
            case .arena:
                // A storage that nothing uses has no place.
                guard let place = arena.places[index] else { return try DeviceBuffer(context, byteCount: 64) }
                let key = place.chunk << 40 | place.offset
                if let known = parts[key], known.byteCount == place.byteCount { return known }
                let part = try DeviceBuffer(part: chunks[place.chunk], offset: place.offset, byteCount: place.byteCount)
                parts[key] = part
                return part
            }
        }
    }

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
            try enqueue(state, queue, inputs: inputs, staged: staged, outputs: outputs, profile: profile)
        } catch {
            queue.abandon()
            throw error
        }
    }

    private func enqueue(
        _ state: OpenCLState, _ queue: CommandQueue, inputs: [UnsafeRawBufferPointer], staged: [Int: Set<Int>],
        outputs: [UnsafeMutableRawBufferPointer], profile: RunProfile?
    ) throws {
        for (index, (storage, bytes)) in zip(inputStorages, inputs).enumerated() {
            try upload(bytes, input: index, to: state.buffers[storage], staged: staged[index] ?? [], queue)
        }
        if let statusStorage {
            try state.clearedStatus.withUnsafeBytes { try queue.write($0, to: state.buffers[statusStorage]) }
        }
        var events: [(step: Int, event: DeviceEvent)] = []
        for (launch, kernel) in zip(launches, state.kernels) {
            if profile != nil {
                events.append((launch.step, try queue.timedLaunch(kernel, global: launch.global, local: launch.local)))
            } else {
                try queue.launch(kernel, global: launch.global, local: launch.local)
            }
        }
        var status = [Int32](repeating: 0, count: 16)
        try status.withUnsafeMutableBytes { flags in
            if let statusStorage { try queue.read(state.buffers[statusStorage], into: flags, waits: outputs.isEmpty) }
            for (index, bytes) in outputs.enumerated() {
                try queue.read(state.buffers[outputStorages[index]], into: bytes, waits: index == outputs.count - 1)
            }
            try queue.finish()
        }
        if status[0] != 0 { throw OpenCLError.indexOutOfRange(layers: checkedLayers) }
        if let profile { try record(events, in: profile) }
    }

    /// Copies an input's bytes, without the images that are on the device already.
    private func upload(
        _ bytes: UnsafeRawBufferPointer, input: Int, to buffer: DeviceBuffer, staged: Set<Int>, _ queue: CommandQueue
    ) throws(OpenCLError) {
        let count = inputShapes[input].first ?? 0
        guard !staged.isEmpty, count > 0 else { return try queue.write(bytes, to: buffer) }
        let size = bytes.count / count
        for image in 0..<count where !staged.contains(image) {
            try queue.write(
                UnsafeRawBufferPointer(rebasing: bytes[(image * size)..<((image + 1) * size)]), to: buffer, offset: image * size)
        }
    }
}

extension OpenCLPartition: PixelStaging {
    /// Inputs of shape [N][1 or 3][height][width].
    func takesPixels(input: Int) -> Bool {
        guard features.preparesPixels, inputShapes.indices.contains(input), inputShapes[input].count == 4 else { return false }
        return [1, 3].contains(inputShapes[input][1])
    }

    func stage(_ pixels: PixelUpload, input: Int, image: Int, in state: any PartitionState) throws -> Bool {
        guard takesPixels(input: input), let state = state as? OpenCLState else { return false }
        let shape = inputShapes[input]
        guard shape[1...] == [pixels.color.channelCount, pixels.resampling.height, pixels.resampling.width] else { return false }
        return try state.pixels.stage(
            pixels, input: input, image: image, into: state.buffers[inputStorages[input]], targetBytes: shape.reduce(4, *))
    }

    func discardStaged(_ state: any PartitionState) { _ = (state as? OpenCLState)?.pixels.takeStaged() }
}
