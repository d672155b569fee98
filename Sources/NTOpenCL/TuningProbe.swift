import NTGraph
import NTRuntime
import NTTensor

/// Times layers of a graph by themselves, as the whole graph runs them: on values that lie as earlier layers leave them, and where the graph is one launch, in
/// kernels compiled for the layer.
struct TuningProbe {
    /// A convolution or what runs as one.
    struct Item {
        var node: Node
        var shape: ConvolutionShape
        /// The tile without tuning.
        var standard: ConvolutionTile
    }

    private let graph: Graph
    private let backend: OpenCLBackend
    private let storedType: ElementType
    private let limit: Double
    /// Whether the graph runs in one launch.
    let isOneLaunch: Bool

    /// `seconds` is what one timing takes, at least.
    init(_ graph: Graph, backend: OpenCLBackend, storedType: ElementType, seconds: Double) {
        (self.graph, self.backend, self.storedType, limit) = (graph, backend, storedType, seconds)
        let compiler = Self.compiler(graph, backend, storedType, backend.tuning)
        // A graph of which this backend does not take all is none.
        isOneLaunch = backend.features.runsInOneLaunch && (try? compiler.compile()) != nil && OpenCLPartition.isOneLaunch(compiler, backend.features)
    }

    private static func compiler(
        _ graph: Graph, _ backend: OpenCLBackend, _ storedType: ElementType, _ table: TuningTable, storedInputs: Set<ValueID> = []
    ) -> PartitionCompiler {
        PartitionCompiler(
            graph, context: backend.context, style: backend.style, storedType: storedType, tuning: table,
            leastSeparableWork: backend.features.fusesSeparable ? backend.features.leastSeparableWork : nil, storedInputs: storedInputs)
    }

    /// The distinct shapes of the graph, those with most arithmetic first, each with the first node that has it.
    func convolutions() throws -> [Item] {
        var seen: Set<ConvolutionShape> = []
        var items: [Item] = []
        for node in graph.nodes
        where PartitionCompiler.refusal(of: node, in: graph) == nil && node.inputs.contains(where: { graph.constant($0) != nil }) {
            let compiler = try compiler(for: [node], TuningTable())
            try compiler.compile()
            for (shape, tile) in compiler.tiles.sorted(by: { $0.key.key < $1.key.key }) where seen.insert(shape).inserted {
                items.append(Item(node: node, shape: shape, standard: tile))
            }
        }
        return items.sorted { $0.shape.multiplyAdds > $1.shape.multiplyAdds }
    }

    /// Whether a pair is one kernel where nothing was measured.
    func isFusedByDefault(_ pair: SeparablePair) throws -> Bool {
        try compiler(for: [pair.depthwise, pair.pointwise], TuningTable()).separablePair(at: 0) != nil
    }

    /// The shortest device time of nodes that follow one another, without the copies that bring values to them and back. Nil when the device refuses, for
    /// lack of registers for example; a device that is lost is an error.
    func seconds(_ nodes: [Node], _ table: TuningTable, inOneLaunch: Bool) throws -> Double? {
        try Self.unlessRefused {
            let compiler = try compiler(for: nodes, table)
            try compiler.compile()
            var features = backend.features
            (features.runsInOneLaunch, features.leastLaunches) = (inOneLaunch, 1)
            return try seconds(compiler.graph, try OpenCLPartition(compiler, features: features))
        }
    }

    /// The result of `body`; nil when the device refuses what it asks. A device that is lost is an error.
    static func unlessRefused<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let error as OpenCLError where error.condition != .lost {
            return nil
        }
    }

    private func seconds(_ graph: Graph, _ partition: OpenCLPartition) throws -> Double {
        let state = try partition.makeState()
        let inputs = try graph.inputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount, zeroed: true) }
        let outputs = try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }
        func run(_ profile: RunProfile?) throws {
            try partition.run(
                state, inputs: zip(inputs, graph.inputs).map { UnsafeRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount) },
                outputs: zip(outputs, graph.outputs).map { UnsafeMutableRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount) },
                profile: profile)
        }
        try run(nil)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(limit)
        var best = Double.infinity
        var count = 0
        repeat {
            let profile = RunProfile(stepCount: partition.steps.count)
            try run(profile)
            let kernels = zip(partition.steps, profile.kernelSeconds).flatMap { step, times in
                zip(step.kernels, times).filter { $0.0 != PartitionCompiler.copyLabel }.map(\.1)
            }
            // Stages of one launch are timed one by one, and lie apart only then.
            best = min(best, kernels.reduce(0, +) + (partition.network == nil ? profile.gapSeconds ?? 0 : 0))
            count += 1
        } while clock.now < end || count < 3
        return best
    }

    /// A compiler of nodes that follow one another alone: operands that are neither constants nor each other's results are inputs.
    private func compiler(for nodes: [Node], _ table: TuningTable) throws -> PartitionCompiler {
        var builder = GraphBuilder(name: nodes.last?.name ?? "")
        var values: [ValueID: ValueID] = [:]
        var stored: Set<ValueID> = []
        for node in nodes {
            let operands = try node.inputs.map { id in
                if let known = values[id] { return known }
                let made = try graph.constant(id).map { try builder.constant($0) } ?? builder.input(graph[id].name, graph[id].type)
                values[id] = made
                if graph.constant(id) == nil, !graph.inputs.contains(id) { stored.insert(made) }
                return made
            }
            for (id, result) in zip(node.outputs, try builder.apply(node.op, operands, layer: node.name)) { values[id] = result }
        }
        for id in nodes.last?.outputs ?? [] { if let output = values[id] { try builder.output(output, name: "y") } }
        return Self.compiler(builder.graph, backend, storedType, table, storedInputs: stored)
    }
}
