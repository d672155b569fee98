import NTTensor

/// A graph being rewritten in one forward sweep: knows each value's producer and how often it is read, and keeps both up to date.
///
/// Every rewrite looks from a node back at what made its inputs, and takes time independent of the graph's size, so that a sweep is linear.
struct Rewriter {
    private var graph: Graph
    private var nodes: [Node?]
    /// New nodes, to stand before the original node of that index.
    private var insertions: [Int: [Int]] = [:]
    /// Where a node stands: its own index, or that of the node it was inserted before.
    private var positions: [Int]
    private let originalCount: Int
    private var producers: [Int?]
    /// Reads by nodes and by the graph's outputs.
    private var useCounts: [Int]
    private var isOutput: [Bool]
    /// Values that were replaced by others, until readers are told.
    private var replacements: [ValueID?]
    private(set) var hasChanged = false

    init(_ graph: Graph) {
        self.graph = graph
        nodes = graph.nodes
        originalCount = graph.nodes.count
        positions = Array(graph.nodes.indices)
        producers = graph.producers()
        useCounts = [Int](repeating: 0, count: graph.values.count)
        isOutput = [Bool](repeating: false, count: graph.values.count)
        replacements = [ValueID?](repeating: nil, count: graph.values.count)
        for node in graph.nodes { for input in node.inputs { useCounts[input.index] += 1 } }
        for output in graph.outputs {
            useCounts[output.index] += 1
            isOutput[output.index] = true
        }
    }

    /// Calls `rewrite` on each node in order, again on the same one as long as it returns true, and stores the result in `graph`.
    /// Returns whether anything changed.
    static func sweep(
        _ graph: inout Graph, _ rewrite: (inout Rewriter, Int, Node) throws -> Bool
    ) rethrows -> Bool {
        var rewriter = Rewriter(graph)
        for index in 0..<rewriter.originalCount {
            var attempts = 0
            while let node = rewriter.node(at: index), attempts < 64, try rewrite(&rewriter, index, node) { attempts += 1 }
        }
        guard rewriter.hasChanged else { return false }
        graph = rewriter.finish()
        return true
    }

    // MARK: Looking

    func shape(_ id: ValueID) -> Shape { graph[id].type.shape }
    func constant(_ id: ValueID) -> Tensor? { graph[id].constant }
    func types(_ ids: [ValueID]) -> [TensorType] { graph.types(ids) }
    func isGraphOutput(_ id: ValueID) -> Bool { isOutput[id.index] }

    /// The node at an index with its inputs as they are now, or nil when it was removed.
    mutating func node(at index: Int) -> Node? {
        guard var node = nodes[index] else { return nil }
        for place in node.inputs.indices { node.inputs[place] = resolve(node.inputs[place]) }
        nodes[index] = node
        return node
    }

    /// The node that computes a value.
    mutating func producer(of id: ValueID) -> Node? {
        guard let index = producers[id.index] else { return nil }
        return node(at: index)
    }

    /// The node that computes a value, when it computes nothing else and the value is read once and is no graph output.
    mutating func soleProducer(of id: ValueID) -> Node? {
        guard useCounts[id.index] == 1, !isOutput[id.index], let node = producer(of: id), node.outputs.count == 1 else { return nil }
        return node
    }

    /// The function of the `Unary` node that computes a value, with the value it is applied to; nil unless it may be fused away.
    mutating func soleUnary(of id: ValueID) -> (function: UnaryFunction, input: ValueID)? {
        guard let node = soleProducer(of: id), let op = node.op as? Unary else { return nil }
        return (op.function, node.inputs[0])
    }

    /// Where the producer of a value stands in the order of nodes; -1 for graph inputs and constants.
    func position(of id: ValueID) -> Int { producers[id.index].map { positions[$0] } ?? -1 }

    // MARK: Changing

    /// Adds a constant.
    mutating func addConstant(_ tensor: Tensor, name: String) -> ValueID {
        addValue(Value(name: name, type: tensor.type, constant: tensor))
    }

    /// Adds a float32 constant of one dimension; the values are rounded once.
    mutating func addConstant(_ values: [Double], name: String) throws -> ValueID {
        addConstant(try Tensor([values.count], values.map { Float($0) }), name: name)
    }

    /// Adds a value that a node will compute.
    mutating func addValue(_ value: Value) -> ValueID {
        graph.values.append(value)
        producers.append(nil)
        useCounts.append(0)
        isOutput.append(false)
        replacements.append(nil)
        return ValueID(graph.values.count - 1)
    }

    /// Puts another node in the place of one, with the same outputs. What only the old node read is removed.
    mutating func replace(_ index: Int, op: any Operator, inputs: [ValueID], name: String? = nil) {
        guard let old = node(at: index) else { return }
        for input in inputs { useCounts[input.index] += 1 }
        nodes[index] = Node(name: name ?? old.name, op: op, inputs: inputs, outputs: old.outputs)
        hasChanged = true
        release(old.inputs)
    }

    /// Adds a node before the one at `index`, and returns its output.
    mutating func insert(before index: Int, op: any Operator, inputs: [ValueID], name: String) throws -> ValueID? {
        guard let type = try op.outputTypes(for: types(inputs)).first else { return nil }
        let output = addValue(Value(name: name, type: type))
        for input in inputs { useCounts[input.index] += 1 }
        nodes.append(Node(name: name, op: op, inputs: inputs, outputs: [output]))
        positions.append(index)
        producers[output.index] = nodes.count - 1
        insertions[index, default: []].append(nodes.count - 1)
        hasChanged = true
        return output
    }

    /// Takes out a node that passes `input` on unchanged as its only output. A node that gives an output its name and cannot be
    /// taken out becomes an identity. Returns whether anything changed.
    mutating func bypass(_ index: Int, input: ValueID) -> Bool {
        guard let node = node(at: index), node.outputs.count == 1 else { return false }
        let output = node.outputs[0]
        let producer = producers[input.index]
        if isOutput[output.index], isOutput[input.index] || graph[input].constant != nil || producer == nil {
            if let op = node.op as? Unary, op.function == .identity { return false }
            replace(index, op: Unary(.identity), inputs: [input])
            return true
        }
        useCounts[input.index] += 1
        nodes[index] = nil
        producers[output.index] = nil
        hasChanged = true
        if isOutput[output.index], let producer, let place = nodes[producer]?.outputs.firstIndex(of: input) {
            // The producer writes the output itself.
            nodes[producer]?.outputs[place] = output
            (producers[output.index], producers[input.index]) = (producer, nil)
            redirect(input, to: output)
            useCounts[output.index] -= 1
            release(node.inputs.map { $0 == input ? output : $0 })
        } else {
            redirect(output, to: input)
            useCounts[input.index] -= 1
            release(node.inputs)
        }
        return true
    }

    /// Puts constants in the place of a node's outputs; those that are graph outputs get an identity of theirs.
    mutating func replaceWithConstants(_ index: Int, _ tensors: [Tensor]) {
        guard let node = node(at: index), node.outputs.count == tensors.count else { return }
        nodes[index] = nil
        hasChanged = true
        for (output, tensor) in zip(node.outputs, tensors) {
            producers[output.index] = nil
            guard isOutput[output.index] else {
                graph[output].constant = tensor
                continue
            }
            let constant = addConstant(tensor, name: graph[output].name)
            useCounts[constant.index] += 1
            nodes.append(Node(name: node.name, op: Unary(.identity), inputs: [constant], outputs: [output]))
            positions.append(index)
            producers[output.index] = nodes.count - 1
            insertions[index, default: []].append(nodes.count - 1)
        }
        release(node.inputs)
    }

    private mutating func resolve(_ id: ValueID) -> ValueID {
        guard var target = replacements[id.index] else { return id }
        while let next = replacements[target.index] { target = next }
        // Shorten the path for the next reader.
        var step = id
        while let next = replacements[step.index], next != target {
            replacements[step.index] = target
            step = next
        }
        return target
    }

    /// Readers of `old` read `new` from now on.
    private mutating func redirect(_ old: ValueID, to new: ValueID) {
        replacements[old.index] = new
        useCounts[new.index] += useCounts[old.index]
        useCounts[old.index] = 0
    }

    /// Takes back one read of each value, and removes producers whose outputs nothing reads any more.
    private mutating func release(_ ids: [ValueID]) {
        var pending = ids
        while let id = pending.popLast() {
            useCounts[id.index] -= 1
            guard useCounts[id.index] == 0, let index = producers[id.index], let node = node(at: index),
                node.outputs.allSatisfy({ useCounts[$0.index] == 0 })
            else { continue }
            nodes[index] = nil
            for output in node.outputs { producers[output.index] = nil }
            pending += node.inputs
        }
    }

    private mutating func finish() -> Graph {
        var result: [Node] = []
        for index in 0..<originalCount {
            for inserted in insertions[index] ?? [] { if let node = node(at: inserted) { result.append(node) } }
            if let node = node(at: index) { result.append(node) }
        }
        graph.nodes = result
        return graph
    }
}
