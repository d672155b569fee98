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
    /// The launches as stages of fewer launches; nil when they are queued one by one.
    let network: NetworkPlan?
    private let networkTable: DeviceBuffer?

    init(_ compiler: PartitionCompiler, features: DeviceFeatures) throws {
        (context, style, self.features) = (compiler.context, compiler.style, features)
        steps = compiler.steps
        launches = compiler.launches
        (inputStorages, outputStorages) = (compiler.inputStorages, compiler.outputStorages)
        (statusStorage, checkedLayers) = (compiler.statusStorage, compiler.checkedLayers)
        inputShapes = compiler.graph.types(compiler.graph.inputs).map(\.shape.dims)
        storages = Self.sharing(compiler.storages, inputs: inputStorages, outputs: outputStorages, shapes: inputShapes, features)
        let device = context.device
        arena = ArenaPlanner(alignment: device.subBufferAlignment, maximumChunkBytes: device.maximumAllocationBytes)
            .plan(storages, launches: launches, inputs: inputStorages, outputs: outputStorages)
        guard arena.byteCount <= device.globalMemoryBytes else {
            throw OpenCLError.tooLarge(
                what: "the network's activations", byteCount: arena.byteCount, limit: device.globalMemoryBytes, device: device.name)
        }
        network = Self.isOneLaunch(compiler, features) ? NetworkPlan(launches, storages: storages, arena: arena, style: style) : nil
        networkTable = try network?.table.withUnsafeBytesOrError { bytes throws(OpenCLError) in
            try DeviceBuffer(compiler.context, byteCount: bytes.count, contents: bytes, readOnly: true)
        }
        var programs: [ProgramKey: DeviceProgram] = [:]
        for key in network?.segments.map(\.program) ?? launches.map(\.program) where programs[key] == nil {
            programs[key] = try context.program(key)
        }
        self.programs = programs
        if network == nil { try checkLimits() }
    }

    /// Throws naming the first launch that asks for more than the device allows its kernel.
    private func checkLimits() throws(OpenCLError) {
        struct Kernel: Hashable {
            var program: ProgramKey
            var entry: String
        }
        var known: [Kernel: DeviceKernel.Limits] = [:]
        for launch in launches {
            let key = Kernel(program: launch.program, entry: launch.entry)
            guard let program = programs[launch.program] else { continue }
            let limits: DeviceKernel.Limits
            if let found = known[key] { limits = found } else { limits = try DeviceKernel(program, entry: launch.entry).limits(on: context.device) }
            known[key] = limits
            let layers = steps.indices.contains(launch.step) ? steps[launch.step].layers : []
            func check(_ limit: KernelLimit, _ wanted: Int, _ allowed: Int) throws(OpenCLError) {
                guard wanted > allowed else { return }
                throw OpenCLError.kernelLimit(limit, kernel: launch.entry, layers: layers, wanted: wanted, allowed: allowed)
            }
            try check(.workItems, launch.local.reduce(1, *), limits.workItems)
            try check(.localBytes, limits.localBytes, context.device.localMemoryBytes)
        }
    }

    /// Whether what was compiled is to run in one launch.
    static func isOneLaunch(_ compiler: PartitionCompiler, _ features: DeviceFeatures) -> Bool {
        features.runsInOneLaunch && compiler.launches.count >= features.leastLaunches
            && compiler.steps.reduce(0) { SaturatingArithmetic.sum($0, $1.flops) } <= features.mostSingleLaunchWork
    }

    /// The storages, those of inputs and outputs out of the arena where the device uses the host's memory. An input that kernels make from a picture's bytes
    /// stays in device memory, and so does what is input and output at once, or two outputs.
    private static func sharing(
        _ storages: [Storage], inputs: [Int], outputs: [Int], shapes: [[Int]], _ features: DeviceFeatures
    ) -> [Storage] {
        guard features.sharesMemory else { return storages }
        var result = storages
        let all = inputs + outputs
        for (place, storage) in all.enumerated() {
            guard case .arena = storages[storage].kind, all.filter({ $0 == storage }).count == 1 else { continue }
            if place < inputs.count, takesPixels(shapes[place], features) { continue }
            result[storage].kind = .shared
        }
        return result
    }

    func makeState() throws -> any PartitionState {
        try makeState(
            inputs: [HostMemory?](repeating: nil, count: inputStorages.count), outputs: [HostMemory?](repeating: nil, count: outputStorages.count))
    }

    func makeState(inputs: [HostMemory?], outputs: [HostMemory?]) throws -> any PartitionState {
        let queue = try CommandQueue(context)
        let shared = try makeShared(queue, inputs: inputs, outputs: outputs)
        let (buffers, chunks) = try makeBuffers(shared)
        if let network, let networkTable {
            let run = try NetworkRun(
                network, table: networkTable, buffers: buffers, chunks: chunks, context: context, programs: programs)
            try run.warmUp(queue)
            return OpenCLState(
                buffers: buffers, shared: shared, kernels: [], queue: queue, recording: nil, network: run,
                pixels: PixelStage(context, style: style, queue: queue))
        }
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
        return OpenCLState(
            buffers: buffers, shared: shared, kernels: kernels, queue: queue, recording: recordLaunches(kernels, queue), network: nil,
            pixels: PixelStage(context, style: style, queue: queue))
    }

    /// All launches recorded; nil when the device does not record, or not these: then they are queued one by one.
    private func recordLaunches(_ kernels: [DeviceKernel], _ queue: CommandQueue) -> CommandBuffer? {
        guard features.replaysLaunches, !launches.isEmpty, let calls = context.commandBuffers else { return nil }
        return try? CommandBuffer(
            calls, api: context.api, queue: queue, launches: zip(launches, kernels).map { ($1, $0.global, $0.local) })
    }

    /// The buffers over host memory, by storage: the memory that runs will be given, or memory of the state's own.
    private func makeShared(
        _ queue: CommandQueue, inputs: [HostMemory?], outputs: [HostMemory?]
    ) throws -> [Int: SharedBuffer] {
        var shared: [Int: SharedBuffer] = [:]
        for (storage, memory) in zip(inputStorages + outputStorages, inputs + outputs) {
            guard case .shared = storages[storage].kind else { continue }
            let own = try memory ?? HostMemory(byteCount: storages[storage].byteCount)
            shared[storage] = try SharedBuffer(context, memory: own, queue: queue)
        }
        return shared
    }

    /// One buffer per storage: constants are shared by all states, the rest are parts of the state's own arena or lie in host memory.
    private func makeBuffers(_ shared: [Int: SharedBuffer]) throws -> (storages: [DeviceBuffer], chunks: [DeviceBuffer]) {
        let chunks = try arena.chunkByteCounts.map { try DeviceBuffer.large(context, byteCount: $0) }
        var parts: [Int: DeviceBuffer] = [:]
        let buffers = try storages.enumerated().map { index, storage in
            if let known = shared[index] { return known.buffer }
            switch storage.kind {
            case .constant(let buffer): return buffer
            case .status, .shared: return try DeviceBuffer(context, byteCount: storage.byteCount)
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
        return (buffers, chunks)
    }
}
