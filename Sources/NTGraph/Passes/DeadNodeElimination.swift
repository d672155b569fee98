/// Removes nodes whose outputs reach no graph output, and values, weights among them, that nothing reads. Graph inputs stay.
/// Values are numbered anew.
package struct DeadNodeElimination: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        var isLive = [Bool](repeating: false, count: graph.values.count)
        for id in graph.outputs { isLive[id.index] = true }
        var kept: [Node] = []
        for node in graph.nodes.reversed() where node.outputs.contains(where: { isLive[$0.index] }) {
            for id in node.inputs { isLive[id.index] = true }
            kept.append(node)
        }
        for id in graph.inputs + kept.flatMap(\.outputs) { isLive[id.index] = true }
        guard kept.count < graph.nodes.count || isLive.contains(false) else { return false }

        var places = [ValueID](repeating: ValueID(0), count: graph.values.count)
        var values: [Value] = []
        for (index, value) in graph.values.enumerated() where isLive[index] {
            places[index] = ValueID(values.count)
            values.append(value)
        }
        func moved(_ ids: [ValueID]) -> [ValueID] { ids.map { places[$0.index] } }
        graph.nodes = kept.reversed().map { Node(name: $0.name, op: $0.op, inputs: moved($0.inputs), outputs: moved($0.outputs)) }
        graph.inputs = moved(graph.inputs)
        graph.outputs = moved(graph.outputs)
        graph.values = values
        return true
    }
}
