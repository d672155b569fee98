import NTGraph
import NTTensor

/// A graph made ready for one backend: compiled partitions in order. Immutable and shared; each run uses an `ExecutionState` of its own.
package final class ExecutionPlan: Sendable {
    private struct Segment: Sendable {
        let compiled: any CompiledPartition
        let inputs: [ValueID]
        let outputs: [ValueID]
        let backendName: String
    }

    package let graph: Graph
    package let backend: any Backend
    /// Nodes that the backend refused and the reference runs.
    package let fallbacks: [Fallback]
    private let segments: [Segment]

    /// Compiles `graph`, which should have been optimised by `Passes`.
    package init(_ graph: Graph, backend: any Backend, options: CompileOptions = CompileOptions()) throws {
        let (partitions, fallbacks) = try Partitioner.partition(graph, for: backend)
        self.graph = graph
        self.backend = backend
        self.fallbacks = fallbacks
        segments = try partitions.map { partition in
            let chosen: any Backend = partition.isFallback ? ReferenceBackend() : backend
            let compiled = try chosen.compile(partition.graph, options: options)
            return Segment(
                compiled: compiled, inputs: partition.inputs, outputs: partition.outputs, backendName: chosen.name)
        }
    }

    /// All steps in order, with the backend that runs each.
    package var steps: [(backend: String, step: StepDescription)] {
        segments.flatMap { segment in segment.compiled.steps.map { (segment.backendName, $0) } }
    }

    /// Memory for one run at a time.
    package func makeState() throws -> ExecutionState {
        var hostValues: [ValueID: TensorBuffer] = [:]
        let external = Set(graph.inputs + graph.outputs)
        for segment in segments {
            for id in segment.outputs where !external.contains(id) && hostValues[id] == nil {
                hostValues[id] = try TensorBuffer(byteCount: graph[id].type.byteCount)
            }
        }
        return ExecutionState(
            partitionStates: try segments.map { try $0.compiled.makeState() }, hostValues: hostValues,
            inputs: try graph.inputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount, zeroed: true) },
            outputs: try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount, zeroed: true) })
    }

    /// The one segment that reads a graph input, and the input's number there; nil when several do, or none.
    private func reader(ofInput index: Int) -> (segment: Int, input: Int)? {
        guard graph.inputs.indices.contains(index) else { return nil }
        let readers = segments.enumerated().compactMap { place, segment in
            segment.inputs.firstIndex(of: graph.inputs[index]).map { (segment: place, input: $0) }
        }
        return readers.count == 1 && !graph.outputs.contains(graph.inputs[index]) ? readers[0] : nil
    }

    /// Whether graph input `index` can be made from pictures' bytes by the backend.
    package func takesPixels(input index: Int) -> Bool {
        guard let reader = reader(ofInput: index), let staging = segments[reader.segment].compiled as? any PixelStaging else { return false }
        return staging.takesPixels(input: reader.input)
    }

    /// Begins to make image `image` of graph input `index` from a picture's bytes, for the state's next run, which then looks at nothing that the input's
    /// buffer holds for this image. Returns when the bytes have been read; false, with nothing done, when they cannot be taken. Different images of one
    /// state may be staged by several threads at once.
    package func stage(_ pixels: PixelUpload, input index: Int, image: Int, in state: ExecutionState) throws -> Bool {
        guard let reader = reader(ofInput: index), let staging = segments[reader.segment].compiled as? any PixelStaging else { return false }
        return try staging.stage(pixels, input: reader.input, image: image, in: state.partitionStates[reader.segment])
    }

    /// Forgets what has been staged in a state and not run.
    package func discardStaged(_ state: ExecutionState) {
        for (segment, partitionState) in zip(segments, state.partitionStates) {
            (segment.compiled as? any PixelStaging)?.discardStaged(partitionState)
        }
    }

    /// Computes the graph from the state's own input buffers into its own output buffers.
    package func run(_ state: ExecutionState, profile: RunProfile? = nil) throws {
        try run(
            state, inputs: state.inputs.map { UnsafeRawBufferPointer(start: $0.base, count: $0.byteCount) },
            outputs: state.outputs.map { UnsafeMutableRawBufferPointer(start: $0.base, count: $0.byteCount) },
            profile: profile)
    }

    /// Computes the graph. `inputs` and `outputs` follow `graph.inputs` and `graph.outputs`: contiguous float32, logical layout, aligned to 64 bytes.
    /// Throws when a buffer's size is not its value's.
    package func run(
        _ state: ExecutionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile? = nil
    ) throws {
        try check(inputs.map(\.count), against: graph.inputs, what: "input")
        try check(outputs.map(\.count), against: graph.outputs, what: "output")
        profile?.offset = 0
        if segments.count == 1, segments[0].inputs == graph.inputs, segments[0].outputs == graph.outputs {
            try segments[0].compiled.run(state.partitionStates[0], inputs: inputs, outputs: outputs, profile: profile)
            profile?.finishRun()
            return
        }
        for (segment, partitionState) in zip(segments, state.partitionStates) {
            let sources = segment.inputs.map { id -> UnsafeRawBufferPointer in
                if let index = graph.inputs.firstIndex(of: id) { return inputs[index] }
                return UnsafeRawBufferPointer(target(of: id, state, outputs))
            }
            let targets = segment.outputs.map { target(of: $0, state, outputs) }
            try segment.compiled.run(partitionState, inputs: sources, outputs: targets, profile: profile)
            profile?.offset += segment.compiled.steps.count
        }
        profile?.finishRun()
    }

    private func target(
        of id: ValueID, _ state: ExecutionState, _ outputs: [UnsafeMutableRawBufferPointer]
    ) -> UnsafeMutableRawBufferPointer {
        if let index = graph.outputs.firstIndex(of: id) { return outputs[index] }
        guard let buffer = state.hostValues[id] else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        return UnsafeMutableRawBufferPointer(start: buffer.base, count: graph[id].type.byteCount)
    }

    private func check(_ counts: [Int], against ids: [ValueID], what: String) throws {
        guard counts.count == ids.count else { throw GraphError("expected \(ids.count) \(what)s, found \(counts.count)") }
        for (count, id) in zip(counts, ids) where count != graph[id].type.byteCount {
            throw GraphError(
                "\(what) '\(graph[id].name)': expected \(graph[id].type.byteCount) bytes (\(graph[id].type)), found \(count)")
        }
    }
}

/// What one run of a plan at a time owns: each partition's state, the values that pass between partitions, and buffers for the
/// graph's inputs and outputs, which a request may fill and read in place. Used by one thread at a time.
package final class ExecutionState: @unchecked Sendable {
    /// Per graph input: contiguous float32 in logical layout.
    package let inputs: [TensorBuffer]
    /// Per graph output, likewise; overwritten by each run.
    package let outputs: [TensorBuffer]
    let partitionStates: [any PartitionState]
    let hostValues: [ValueID: TensorBuffer]

    init(
        partitionStates: [any PartitionState], hostValues: [ValueID: TensorBuffer], inputs: [TensorBuffer],
        outputs: [TensorBuffer]
    ) {
        (self.partitionStates, self.hostValues) = (partitionStates, hostValues)
        (self.inputs, self.outputs) = (inputs, outputs)
    }
}
