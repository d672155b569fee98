import NTGraph
import NTTensor

/// A graph made ready for one backend: compiled partitions in order. Immutable and shared; each run uses an `ExecutionState` of its own.
package final class ExecutionPlan: Sendable {
    private struct Segment: Sendable {
        let compiled: any CompiledPartition
        let inputs: [Place]
        let outputs: [Place]
        let backendName: String
    }

    /// A graph input that a partition makes from pictures' bytes.
    private struct StagedInput: Sendable {
        let staging: any PixelStaging
        let segment: Int
        let input: Int
    }

    /// Where a run finds a value that a partition takes or gives.
    private enum Place: Sendable, Equatable {
        /// The run's input or output of this index.
        case input(Int)
        case output(Int)
        /// One of the state's own buffers.
        case host(Int)
    }

    package let graph: Graph
    package let backend: any Backend
    /// Nodes that the backend refused and the reference runs.
    package let fallbacks: [Fallback]
    private let segments: [Segment]
    /// Per graph input, how it is made from pictures' bytes; nil when it is not.
    private let stagedInputs: [StagedInput?]
    /// Values that pass between partitions through memory of the state.
    private let hostValues: [ValueID]
    /// Whether the one partition takes the graph's inputs and gives its outputs as they are.
    private let isWhole: Bool
    private let inputByteCounts: [Int]
    private let outputByteCounts: [Int]

    /// Compiles `graph`, which should have been optimised by `Passes`.
    package init(_ graph: Graph, backend: any Backend, options: CompileOptions = CompileOptions()) throws {
        let (partitions, fallbacks) = try Partitioner.partition(graph, for: backend)
        self.graph = graph
        self.backend = backend
        self.fallbacks = fallbacks
        let external = Set(graph.inputs + graph.outputs)
        var hostValues: [ValueID] = []
        for id in partitions.flatMap(\.outputs) where !external.contains(id) && !hostValues.contains(id) { hostValues.append(id) }
        func target(_ id: ValueID) throws -> Place {
            if let index = graph.outputs.firstIndex(of: id) { return .output(index) }
            if let index = hostValues.firstIndex(of: id) { return .host(index) }
            throw GraphError("value '\(graph[id].name)' is read before it is computed")
        }
        func source(_ id: ValueID) throws -> Place {
            if let index = graph.inputs.firstIndex(of: id) { return .input(index) }
            return try target(id)
        }
        segments = try partitions.map { partition in
            let chosen: any Backend = partition.isFallback ? ReferenceBackend() : backend
            let compiled = try chosen.compile(partition.graph, options: options)
            return Segment(
                compiled: compiled, inputs: try partition.inputs.map(source), outputs: try partition.outputs.map(target),
                backendName: chosen.name)
        }
        stagedInputs = ExecutionPlan.stagedInputs(graph, segments)
        isWhole = partitions.count == 1 && partitions[0].inputs == graph.inputs && partitions[0].outputs == graph.outputs
        self.hostValues = hostValues
        inputByteCounts = graph.types(graph.inputs).map(\.byteCount)
        outputByteCounts = graph.types(graph.outputs).map(\.byteCount)
    }

    /// A plan for `count` elements that runs another plan's partition on each, and shares its weights. `graph` is that plan's graph for so many elements,
    /// whose inputs and outputs lead with their number. Nil when the other plan is of several partitions, or one plan for all elements is better.
    package init?(_ single: ExecutionPlan, for count: Int, graph: Graph) {
        guard single.isWhole, let partition = single.segments[0].compiled as? any RepeatablePartition,
            ExecutionPlan.isRepeated(graph.types(graph.inputs), of: single.inputByteCounts, count),
            ExecutionPlan.isRepeated(graph.types(graph.outputs), of: single.outputByteCounts, count), let compiled = partition.repeated(count)
        else { return nil }
        let segment = single.segments[0]
        self.graph = graph
        (backend, fallbacks, hostValues, isWhole) = (single.backend, [], [], true)
        segments = [
            Segment(compiled: compiled, inputs: segment.inputs, outputs: segment.outputs, backendName: segment.backendName)
        ]
        stagedInputs = ExecutionPlan.stagedInputs(graph, segments)
        inputByteCounts = graph.types(graph.inputs).map(\.byteCount)
        outputByteCounts = graph.types(graph.outputs).map(\.byteCount)
    }

    private static func isRepeated(_ types: [TensorType], of byteCounts: [Int], _ count: Int) -> Bool {
        types.count == byteCounts.count
            && zip(types, byteCounts).allSatisfy { type, bytes in type.shape.dims.first == count && type.byteCount == bytes * count }
    }

    /// All steps in order, with the backend that runs each.
    package var steps: [(backend: String, step: StepDescription)] {
        segments.flatMap { segment in segment.compiled.steps.map { (segment.backendName, $0) } }
    }

    /// Memory for one run at a time. Allocates; runs do not.
    package func makeState() throws -> ExecutionState {
        let inputs = try inputByteCounts.map { try HostMemory(byteCount: $0) }
        let outputs = try outputByteCounts.map { try HostMemory(byteCount: $0) }
        return ExecutionState(
            partitionStates: try segments.map { segment in
                try segment.compiled.makeState(
                    inputs: segment.inputs.map { lendable($0, inputs: inputs, outputs: outputs) },
                    outputs: segment.outputs.map { lendable($0, inputs: inputs, outputs: outputs) })
            }, hostValues: try hostValues.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }, inputs: inputs.map(\.buffer),
            outputs: outputs.map(\.buffer),
            bindings: segments.map { ExecutionState.Binding(inputCount: $0.inputs.count, outputCount: $0.outputs.count) })
    }

    /// The memory of a graph input or output that one segment alone touches, which may be the device's own; what passes between segments is the host's.
    private func lendable(_ place: Place, inputs: [HostMemory], outputs: [HostMemory]) -> HostMemory? {
        guard segments.reduce(0, { $0 + $1.inputs.count { $0 == place } + $1.outputs.count { $0 == place } }) == 1 else { return nil }
        switch place {
        case .input(let index): return graph.outputs.contains(graph.inputs[index]) ? nil : inputs[index]
        case .output(let index): return outputs[index]
        case .host: return nil
        }
    }

    /// Per graph input: the one segment that reads it, when that makes inputs from pictures' bytes, and the input's number there.
    private static func stagedInputs(_ graph: Graph, _ segments: [Segment]) -> [StagedInput?] {
        graph.inputs.indices.map { index in
            let readers = segments.enumerated().compactMap { place, segment in
                segment.inputs.firstIndex { if case .input(index) = $0 { true } else { false } }.map { (segment: place, input: $0) }
            }
            guard readers.count == 1, !graph.outputs.contains(graph.inputs[index]),
                let staging = segments[readers[0].segment].compiled as? any PixelStaging
            else { return nil }
            return StagedInput(staging: staging, segment: readers[0].segment, input: readers[0].input)
        }
    }

    /// Whether graph input `index` can be made from pictures' bytes by the backend.
    package func takesPixels(input index: Int) -> Bool {
        guard stagedInputs.indices.contains(index), let staged = stagedInputs[index] else { return false }
        return staged.staging.takesPixels(input: staged.input)
    }

    /// Begins to make image `image` of graph input `index` from a picture's bytes, for the state's next run, which then looks at nothing that the input's
    /// buffer holds for this image. Returns when the bytes have been read; false, with nothing done, when they cannot be taken. Different images of one
    /// state may be staged by several threads at once.
    package func stage(_ pixels: PixelUpload, input index: Int, image: Int, in state: ExecutionState) throws -> Bool {
        guard stagedInputs.indices.contains(index), let staged = stagedInputs[index] else { return false }
        return try staged.staging.stage(pixels, input: staged.input, image: image, in: state.partitionStates[staged.segment])
    }

    /// Forgets what has been staged in a state and not run.
    package func discardStaged(_ state: ExecutionState) {
        for case let staged? in stagedInputs { staged.staging.discardStaged(state.partitionStates[staged.segment]) }
    }

    /// Computes the graph from the state's own input buffers into its own output buffers.
    package func run(_ state: ExecutionState, profile: RunProfile? = nil) throws {
        try run(state, inputs: state.ownInputs, outputs: state.ownOutputs, profile: profile)
    }

    /// Computes the graph. `inputs` and `outputs` follow `graph.inputs` and `graph.outputs`: contiguous float32, logical layout, aligned to 64 bytes.
    /// Nothing is allocated and nothing locked by the plan itself. Throws when a buffer's size is not its value's.
    package func run(
        _ state: ExecutionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile? = nil
    ) throws {
        guard inputs.count == inputByteCounts.count else {
            throw GraphError("expected \(inputByteCounts.count) inputs, found \(inputs.count)")
        }
        guard outputs.count == outputByteCounts.count else {
            throw GraphError("expected \(outputByteCounts.count) outputs, found \(outputs.count)")
        }
        for index in inputs.indices where inputs[index].count != inputByteCounts[index] {
            throw mismatch(graph.inputs[index], "input", found: inputs[index].count)
        }
        for index in outputs.indices where outputs[index].count != outputByteCounts[index] {
            throw mismatch(graph.outputs[index], "output", found: outputs[index].count)
        }
        profile?.offset = 0
        if isWhole {
            try segments[0].compiled.run(state.partitionStates[0], inputs: inputs, outputs: outputs, profile: profile)
            profile?.finishRun()
            return
        }
        for index in segments.indices {
            bind(segments[index], index, state, inputs, outputs)
            let binding = state.bindings[index]
            try segments[index].compiled.run(
                state.partitionStates[index], inputs: binding.inputs, outputs: binding.outputs, profile: profile)
            profile?.offset += segments[index].compiled.steps.count
        }
        profile?.finishRun()
    }

    /// Writes a partition's addresses into the state's table for it.
    private func bind(
        _ segment: Segment, _ index: Int, _ state: ExecutionState, _ inputs: [UnsafeRawBufferPointer],
        _ outputs: [UnsafeMutableRawBufferPointer]
    ) {
        for (place, source) in segment.inputs.enumerated() {
            switch source {
            case .input(let number): state.bindings[index].inputs[place] = inputs[number]
            case .output(let number): state.bindings[index].inputs[place] = UnsafeRawBufferPointer(outputs[number])
            case .host(let number): state.bindings[index].inputs[place] = UnsafeRawBufferPointer(state.hostValues[number].bytes)
            }
        }
        for (place, target) in segment.outputs.enumerated() {
            switch target {
            case .output(let number): state.bindings[index].outputs[place] = outputs[number]
            case .host(let number): state.bindings[index].outputs[place] = state.hostValues[number].bytes
            case .input: continue
            }
        }
    }

    private func mismatch(_ id: ValueID, _ what: String, found: Int) -> GraphError {
        GraphError("\(what) '\(graph[id].name)': expected \(graph[id].type.byteCount) bytes (\(graph[id].type)), found \(found)")
    }
}

/// What one run of a plan at a time owns: each partition's state, the values that pass between partitions, and buffers for the
/// graph's inputs and outputs, which a request may fill and read in place. Used by one thread at a time.
package final class ExecutionState: @unchecked Sendable {
    /// The addresses that a partition of several is run with.
    struct Binding {
        var inputs: [UnsafeRawBufferPointer]
        var outputs: [UnsafeMutableRawBufferPointer]

        init(inputCount: Int, outputCount: Int) {
            inputs = Array(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: inputCount)
            outputs = Array(repeating: UnsafeMutableRawBufferPointer(start: nil, count: 0), count: outputCount)
        }
    }

    /// Per graph input: contiguous float32 in logical layout.
    package let inputs: [TensorBuffer]
    /// Per graph output, likewise; overwritten by each run.
    package let outputs: [TensorBuffer]
    let ownInputs: [UnsafeRawBufferPointer]
    let ownOutputs: [UnsafeMutableRawBufferPointer]
    let partitionStates: [any PartitionState]
    let hostValues: [TensorBuffer]
    var bindings: [Binding]

    /// Keeps runs on the caller's thread: for callers that run several states at once. Results are the same.
    package var usesOneThread = false {
        didSet { for state in partitionStates { state.usesOneThread = usesOneThread } }
    }

    init(
        partitionStates: [any PartitionState], hostValues: [TensorBuffer], inputs: [TensorBuffer], outputs: [TensorBuffer],
        bindings: [Binding]
    ) {
        (self.partitionStates, self.hostValues, self.bindings) = (partitionStates, hostValues, bindings)
        (self.inputs, self.outputs) = (inputs, outputs)
        ownInputs = inputs.map { UnsafeRawBufferPointer($0.bytes) }
        ownOutputs = outputs.map(\.bytes)
    }
}

extension TensorBuffer {
    fileprivate var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: byteCount) }
}
