import NTGraph
import NTTensor

/// Runs every operator by its own definition: double-precision accumulation in plain loops. The oracle, and the last resort of other backends.
package struct ReferenceBackend: Backend {
    package let name = "reference"
    package let deviceDescription = "plain loops in double precision, one thread"

    package init() {}

    package func claim(_ node: Node, in graph: Graph) -> Claim { .accepted }

    package func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
        ReferencePartition(graph: partition)
    }

    /// Computes a graph's outputs once.
    package static func evaluate(_ graph: Graph, inputs: [Tensor]) throws -> [Tensor] {
        try ReferencePartition(graph: graph).evaluate(inputs, profile: nil)
    }
}

/// A partition on the reference backend: one step per node.
struct ReferencePartition: CompiledPartition {
    final class State: PartitionState {}

    let graph: Graph
    let steps: [StepDescription]
    /// Values that no later node reads, per node: released at once.
    private let released: [[ValueID]]

    init(graph: Graph) {
        self.graph = graph
        steps = graph.nodes.map { node in
            let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
            return StepDescription(
                layers: [node.name], operators: [node.op.kind], kernel: "reference",
                flops: node.op.flops(inputs: inputs, outputs: outputs),
                byteCount: (inputs + outputs).reduce(0) { $0 + $1.byteCount },
                output: outputs.first.map { "\($0.shape)" } ?? "")
        }
        var lastReader = [ValueID: Int]()
        for (index, node) in graph.nodes.enumerated() { for id in node.inputs + node.outputs { lastReader[id] = index } }
        for id in graph.outputs { lastReader[id] = nil }
        var released = [[ValueID]](repeating: [], count: graph.nodes.count)
        for (id, index) in lastReader where graph.constant(id) == nil { released[index].append(id) }
        self.released = released
    }

    func makeState() throws -> any PartitionState { State() }

    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile?
    ) throws {
        let tensors = try zip(graph.inputs, inputs).map { id, bytes in
            try Tensor(graph[id].type) { $0.copyMemory(from: bytes) }
        }
        for (tensor, target) in zip(try evaluate(tensors, profile: profile), outputs) {
            withExtendedLifetime(tensor) { target.copyMemory(from: tensor.bytes) }
        }
    }

    func evaluate(_ inputs: [Tensor], profile: RunProfile?) throws -> [Tensor] {
        var values = graph.values.map(\.constant)
        for (id, tensor) in zip(graph.inputs, inputs) { values[id.index] = tensor }
        let clock = ContinuousClock()
        for (index, node) in graph.nodes.enumerated() {
            let start = clock.now
            let arguments = try node.inputs.map { id in
                guard let value = values[id.index] else {
                    throw GraphError(layer: node.name, "value '\(graph[id].name)' is read before it is computed")
                }
                return value
            }
            do {
                for (id, result) in zip(node.outputs, try node.op.evaluate(arguments)) { values[id.index] = result }
            } catch let error as OperatorError {
                throw GraphError(layer: node.name, "\(node.op.kind): \(error.description)")
            }
            for id in released[index] { values[id.index] = nil }
            profile?.add((clock.now - start) / .seconds(1), toStep: index)
        }
        return try graph.outputs.map { id in
            guard let value = values[id.index] else { throw GraphError("output '\(graph[id].name)' is not computed") }
            return value
        }
    }
}
