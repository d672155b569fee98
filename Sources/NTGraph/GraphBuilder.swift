import NTTensor

/// Makes a graph node by node, checking types as it goes. A node whose inputs are all constants is computed at once.
package struct GraphBuilder {
    package private(set) var graph: Graph

    /// Constant expressions with more output elements than this stay nodes, so that a small file cannot ask for a long load.
    package static let maximumFoldedCount = 1 << 24
    /// The most elements of all constant expressions together; what comes after stays nodes.
    package static let maximumFoldedTotal = 1 << 26
    /// The most nodes that a graph may have.
    package static let maximumNodeCount = 1 << 17

    private var foldedTotal = 0

    package init(name: String) { graph = Graph(name: name) }

    /// Adds a graph input.
    package mutating func input(_ name: String, _ type: TensorType) -> ValueID {
        let id = append(Value(name: name, type: type))
        graph.inputs.append(id)
        return id
    }

    /// Adds a constant. Anything but float32 is converted.
    package mutating func constant(_ tensor: Tensor, name: String = "constant") throws -> ValueID {
        let floats = try tensor.asFloat32()
        return append(Value(name: name, type: floats.type, constant: floats))
    }

    /// The type of a value made so far.
    package func type(_ id: ValueID) -> TensorType { graph[id].type }
    /// The shape of a value made so far.
    package func shape(_ id: ValueID) -> Shape { graph[id].type.shape }
    /// The constant behind a value, when there is one.
    package func constantValue(_ id: ValueID) -> Tensor? { graph[id].constant }

    /// Adds a node and returns its outputs. `names` are the outputs' names, by default the layer's.
    /// Throws `GraphError` naming the layer when the inputs do not fit.
    @discardableResult
    package mutating func apply(
        _ op: any Operator, _ inputs: [ValueID], layer: String, names: [String] = []
    ) throws -> [ValueID] {
        do {
            guard graph.nodes.count < Self.maximumNodeCount else {
                throw OperatorError("more than \(Self.maximumNodeCount) nodes")
            }
            let types = try op.outputTypes(for: graph.types(inputs))
            for type in types { _ = try Shape(checking: type.shape.dims) }
            let constants = inputs.compactMap { graph[$0].constant }
            let outputCount = types.reduce(0) { $0 + $1.shape.count }
            if constants.count == inputs.count, outputCount <= Self.maximumFoldedCount, foldedTotal <= Self.maximumFoldedTotal,
                op.flops(inputs: graph.types(inputs), outputs: types) <= Self.maximumFoldedCount * 8
            {
                foldedTotal += outputCount
                let results = try op.evaluate(constants)
                return zip(results, types).enumerated().map { index, pair in
                    append(
                        Value(
                            name: index < names.count ? names[index] : layer, type: pair.1, constant: pair.0))
                }
            }
            let outputs = types.enumerated().map { index, type in
                append(Value(name: index < names.count ? names[index] : layer, type: type))
            }
            graph.nodes.append(Node(name: layer, op: op, inputs: inputs, outputs: outputs))
            return outputs
        } catch let error as OperatorError {
            throw GraphError(layer: layer, "\(op.kind): \(error.description)")
        } catch let error as TensorError {
            throw GraphError(layer: layer, "\(op.kind): \(error.description)")
        }
    }

    /// Adds a node of one output and returns it.
    package mutating func add(_ op: any Operator, _ inputs: ValueID..., layer: String, name: String? = nil) throws -> ValueID {
        guard let output = try apply(op, inputs, layer: layer, names: name.map { [$0] } ?? []).first else {
            throw GraphError(layer: layer, "\(op.kind) has no output")
        }
        return output
    }

    /// Marks a value as a graph output called `name`. An output that is an input or a constant is copied, so that names stay apart.
    package mutating func output(_ id: ValueID, name: String) throws {
        var id = id
        if graph[id].constant != nil || graph.inputs.contains(id) || graph.outputs.contains(id) {
            let copy = append(Value(name: name, type: graph[id].type))
            graph.nodes.append(Node(name: name, op: Unary(.identity), inputs: [id], outputs: [copy]))
            id = copy
        }
        graph[id].name = name
        graph.outputs.append(id)
    }

    private mutating func append(_ value: Value) -> ValueID {
        graph.values.append(value)
        return ValueID(graph.values.count - 1)
    }
}
