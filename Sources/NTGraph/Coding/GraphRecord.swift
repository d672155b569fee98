import NTTensor

/// A graph as bytes that can be kept in a file, without its constants' elements: those are numbered, and lie elsewhere.
///
/// Operators are written as their kind and the attributes that they code themselves.
package enum GraphRecord {
    /// Writes a graph whose values are float32. `constantNumber` numbers the constants; values of one number share their elements.
    package static func write(_ graph: Graph, to writer: inout RecordWriter, constantNumber: (Tensor) -> Int) throws {
        writer.text(graph.name)
        writer.list(graph.values) { writer, value in
            writer.text(value.name)
            writer.ints(value.type.shape.dims)
            writer.int(value.constant.map(constantNumber) ?? -1)
        }
        let attributes = try graph.nodes.map { node in
            var (op, coder) = (node.op, AttributeCoder())
            try op.codeAttributes(&coder)
            return coder.bytes
        }
        writer.list(Array(zip(graph.nodes, attributes))) { writer, item in
            let (node, attributes) = item
            writer.text(node.name)
            writer.text(node.op.kind)
            writer.blob(attributes)
            writer.ints(node.inputs.map(\.index))
            writer.ints(node.outputs.map(\.index))
        }
        writer.ints(graph.inputs.map(\.index))
        writer.ints(graph.outputs.map(\.index))
    }

    /// Reads a graph. `constant` gives the elements of a number, for a value of this type.
    ///
    /// The bytes may come from anywhere: throws `GraphError`, `OperatorError` or `TensorError` unless shapes are sound, operators accept their inputs
    /// and give the types that are recorded, every value has one origin that comes before its readers, and outputs are computed.
    package static func read(_ reader: inout RecordReader, constant: (Int, TensorType) throws -> Tensor) throws -> Graph {
        var graph = Graph(name: try reader.text())
        graph.values = try reader.list { reader in
            let (name, dims, number) = (try reader.text(), try reader.ints(), try reader.int())
            let type = TensorType.float32(try Shape(checking: dims))
            return Value(name: name, type: type, constant: number == -1 ? nil : try constant(number, type))
        }
        graph.nodes = try reader.list { reader in
            let (name, kind) = (try reader.text(), try reader.text())
            guard let type = OperatorCatalogue.type(ofKind: kind) else { throw GraphError(layer: name, "there is no operator '\(kind)'") }
            var op: any Operator = type.blank
            var coder = AttributeCoder(try reader.blob())
            try op.codeAttributes(&coder)
            guard coder.isAtEnd else { throw GraphError(layer: name, "\(kind): it has other attributes") }
            return Node(name: name, op: op, inputs: try reader.ints().map { ValueID($0) }, outputs: try reader.ints().map { ValueID($0) })
        }
        graph.inputs = try reader.ints().map { ValueID($0) }
        graph.outputs = try reader.ints().map { ValueID($0) }
        try check(graph)
        return graph
    }

    private static func check(_ graph: Graph) throws {
        guard graph.nodes.count <= GraphBuilder.maximumNodeCount else { throw GraphError("more than \(GraphBuilder.maximumNodeCount) nodes") }
        var isDefined = graph.values.map { $0.constant != nil }
        var isComputed = [Bool](repeating: false, count: isDefined.count)
        func define(_ id: ValueID) throws {
            guard isDefined.indices.contains(id.index), !isDefined[id.index] else { throw GraphError("value \(id.index) has no origin of its own") }
            isDefined[id.index] = true
        }
        for id in graph.inputs { try define(id) }
        for node in graph.nodes {
            guard node.inputs.allSatisfy({ isDefined.indices.contains($0.index) && isDefined[$0.index] }) else {
                throw GraphError(layer: node.name, "it reads a value before it is computed")
            }
            for id in node.outputs {
                try define(id)
                isComputed[id.index] = true
            }
            guard try node.op.outputTypes(for: graph.types(node.inputs)) == graph.types(node.outputs) else {
                throw GraphError(layer: node.name, "\(node.op.kind): the recorded types are not those that it gives")
            }
        }
        guard Set(graph.outputs).count == graph.outputs.count,
            graph.outputs.allSatisfy({ isComputed.indices.contains($0.index) && isComputed[$0.index] })
        else { throw GraphError("an output is not computed") }
    }
}
