import NTTensor

/// Names a value of one graph.
package struct ValueID: Sendable, Hashable, Comparable {
    package let index: Int

    package init(_ index: Int) { self.index = index }
    package static func < (a: ValueID, b: ValueID) -> Bool { a.index < b.index }
}

/// A tensor that flows through a graph: an input, a node's output, or a constant.
package struct Value: Sendable {
    package var name: String
    package var type: TensorType
    /// The value itself when it is known beforehand: weights, folded expressions.
    package var constant: Tensor?

    package init(name: String, type: TensorType, constant: Tensor? = nil) {
        (self.name, self.type, self.constant) = (name, type, constant)
    }
}

/// One application of an operator.
package struct Node: Sendable {
    /// The layer's name in the model's file; several nodes of one layer share it.
    package var name: String
    package var op: any Operator
    package var inputs: [ValueID]
    package var outputs: [ValueID]

    package init(name: String, op: any Operator, inputs: [ValueID], outputs: [ValueID]) {
        (self.name, self.op, self.inputs, self.outputs) = (name, op, inputs, outputs)
    }
}

/// The portable form of a network: nodes in an order that computes them, values with static types. A plan is made from it per backend.
package struct Graph: Sendable {
    package var name: String
    package var values: [Value] = []
    /// Each node's inputs are graph inputs, constants, or outputs of earlier nodes; each value has at most one producer.
    package var nodes: [Node] = []
    package var inputs: [ValueID] = []
    package var outputs: [ValueID] = []

    package init(name: String) { self.name = name }

    package subscript(id: ValueID) -> Value {
        get { values[id.index] }
        set { values[id.index] = newValue }
    }

    package func types(_ ids: [ValueID]) -> [TensorType] { ids.map { self[$0].type } }

    package func constant(_ id: ValueID) -> Tensor? { self[id].constant }

    /// For each value the indices of the nodes that read it, in order; a node that reads it twice stands twice.
    package func consumers() -> [[Int]] {
        var result = [[Int]](repeating: [], count: values.count)
        for (index, node) in nodes.enumerated() { for input in node.inputs { result[input.index].append(index) } }
        return result
    }

    /// For each value the index of the node that computes it, or nil.
    package func producers() -> [Int?] {
        var result = [Int?](repeating: nil, count: values.count)
        for (index, node) in nodes.enumerated() { for output in node.outputs { result[output.index] = index } }
        return result
    }

    /// The arithmetic of one run, see `Operator.flops`.
    package var flops: Int {
        nodes.reduce(0) {
            SaturatingArithmetic.sum($0, $1.op.flops(inputs: types($1.inputs), outputs: types($1.outputs)))
        }
    }

    /// One line per node, for people.
    package func dump() -> String {
        func text(_ id: ValueID) -> String { "%\(id.index):\(self[id].type)" + (self[id].constant == nil ? "" : "!") }
        var lines = ["graph \(name) (\(inputs.map { "\(self[$0].name) \(text($0))" }.joined(separator: ", ")))"]
        for node in nodes {
            let results = node.outputs.map(text).joined(separator: ", ")
            let arguments = node.inputs.map(text).joined(separator: ", ")
            lines.append("  \(results) = \(node.op.kind)(\(arguments)) \(node.op.attributeText)  # \(node.name)")
        }
        lines.append("  return \(outputs.map { "\(self[$0].name) \(text($0))" }.joined(separator: ", "))")
        return lines.joined(separator: "\n")
    }
}

/// A graph that cannot be built or run: names the layer, what was expected and what was found.
package struct GraphError: Error, Sendable, CustomStringConvertible {
    /// The layer's name, when one is to blame.
    package let layer: String?
    package let reason: String

    package init(layer: String? = nil, _ reason: String) { (self.layer, self.reason) = (layer, reason) }

    package var description: String { layer.map { "layer '\($0)': \(reason)" } ?? reason }
}
