import NTGraph
import NTTensor

/// A part of a graph that runs on one backend, as a graph of its own, and where its inputs and outputs lie in the whole.
package struct Partition: Sendable {
    package var graph: Graph
    package var isFallback: Bool
    /// The whole graph's values behind `graph.inputs` and `graph.outputs`.
    package var inputs: [ValueID]
    package var outputs: [ValueID]
}

/// Why a node does not run on the backend that was asked for.
package struct Fallback: Sendable, Equatable {
    package var layer: String
    package var operatorKind: String
    package var reason: String
}

/// Cuts a graph into as few partitions as its order allows: those of the backend, and those left to the reference.
package enum Partitioner {
    package static func partition(_ graph: Graph, for backend: any Backend) throws -> (partitions: [Partition], fallbacks: [Fallback]) {
        var fallbacks: [Fallback] = []
        let refused = graph.nodes.map { node -> Bool in
            guard case .refused(let reason) = backend.claim(node, in: graph) else { return false }
            fallbacks.append(Fallback(layer: node.name, operatorKind: node.op.kind, reason: reason))
            return true
        }
        var groups: [(isFallback: Bool, nodes: [Int])] = []
        for (index, isFallback) in try order(graph, refused) {
            if groups.last?.isFallback != isFallback { groups.append((isFallback, [])) }
            groups[groups.count - 1].nodes.append(index)
        }
        let (consumers, graphOutputs) = (graph.consumers(), Set(graph.outputs))
        let partitions = groups.map { extract(graph, $0.nodes, $0.isFallback, consumers, graphOutputs) }
        return (partitions, fallbacks)
    }

    /// The nodes in an order that computes them and changes sides as rarely as a greedy choice can.
    private static func order(_ graph: Graph, _ refused: [Bool]) throws -> [(Int, Bool)] {
        let producers = graph.producers()
        let consumers = graph.consumers()
        var missing = graph.nodes.map { node in Set(node.inputs.compactMap { producers[$0.index] }).count }
        // Ready nodes of each side, in the graph's order: index 0 the backend's, 1 the reference's.
        var ready: [[Int]] = [[], []]
        for index in graph.nodes.indices.reversed() where missing[index] == 0 { ready[refused[index] ? 1 : 0].append(index) }
        var result: [(Int, Bool)] = []
        var side = ready[0].isEmpty ? 1 : 0
        while !ready[0].isEmpty || !ready[1].isEmpty {
            if ready[side].isEmpty { side = 1 - side }
            let index = ready[side].removeLast()
            result.append((index, side == 1))
            let readers = Set(graph.nodes[index].outputs.flatMap { consumers[$0.index] })
            for reader in readers.sorted(by: >) {
                missing[reader] -= 1
                if missing[reader] == 0 { insert(reader, into: &ready[refused[reader] ? 1 : 0]) }
            }
        }
        guard result.count == graph.nodes.count else { throw GraphError("the graph has a cycle") }
        return result
    }

    /// Keeps the list in descending order, so that its last element is the first node.
    private static func insert(_ index: Int, into list: inout [Int]) {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle] > index { low = middle + 1 } else { high = middle }
        }
        list.insert(index, at: low)
    }

    private static func extract(
        _ graph: Graph, _ nodes: [Int], _ isFallback: Bool, _ consumers: [[Int]], _ graphOutputs: Set<ValueID>
    ) -> Partition {
        var part = Graph(name: graph.name)
        var map: [ValueID: ValueID] = [:]
        var inputs: [ValueID] = []
        let produced = Set(nodes.flatMap { graph.nodes[$0].outputs })
        func mapped(_ id: ValueID) -> ValueID {
            if let known = map[id] { return known }
            part.values.append(graph[id])
            let own = ValueID(part.values.count - 1)
            map[id] = own
            if !produced.contains(id), graph.constant(id) == nil {
                part.inputs.append(own)
                inputs.append(id)
            }
            return own
        }
        for index in nodes {
            let node = graph.nodes[index]
            part.nodes.append(
                Node(name: node.name, op: node.op, inputs: node.inputs.map(mapped), outputs: node.outputs.map(mapped)))
        }
        let inside = Set(nodes)
        let outputs = produced.sorted().filter { id in
            graphOutputs.contains(id) || consumers[id.index].contains { !inside.contains($0) }
        }
        part.outputs = outputs.map(mapped)
        return Partition(graph: part, isFallback: isFallback, inputs: inputs, outputs: outputs)
    }
}
