import NTGraph
import NTTensor

/// What must hold in every graph.
package enum GraphCheck {
    /// What is wrong with a graph, in words: the order of its nodes, types that are not the operators', values made twice, names. Empty when it is sound.
    package static func problems(_ graph: Graph) -> [String] {
        var problems: [String] = []
        var known = Set(graph.inputs)
        if known.count != graph.inputs.count { problems.append("an input stands twice") }
        for (index, node) in graph.nodes.enumerated() {
            let name = "node \(index) \(node.op.kind) '\(node.name)'"
            for id in node.inputs where !graph.values.indices.contains(id.index) { return ["\(name) reads no value of the graph"] }
            for id in node.inputs where !known.contains(id) && graph.constant(id) == nil {
                problems.append("\(name) reads value \(id.index) before it is computed")
            }
            for id in node.outputs {
                if graph.constant(id) != nil { problems.append("\(name) computes a constant") }
                if !known.insert(id).inserted { problems.append("\(name) computes value \(id.index) again") }
            }
            do {
                let types = try node.op.outputTypes(for: graph.types(node.inputs))
                if types != graph.types(node.outputs) { problems.append("\(name) gives \(types), values are \(graph.types(node.outputs))") }
            } catch {
                problems.append("\(name): \(error)")
            }
        }
        for value in graph.values {
            if let constant = value.constant, constant.type != value.type { problems.append("constant '\(value.name)' has another type") }
        }
        for id in graph.outputs where !known.contains(id) { problems.append("output '\(graph[id].name)' is not computed") }
        if Set(graph.outputs).count != graph.outputs.count { problems.append("two outputs are one value") }
        return problems
    }
}
