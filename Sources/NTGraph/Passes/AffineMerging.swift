/// Merges linear functions and `ChannelAffine`s in a row into one; the numbers are combined in double precision and rounded once.
package struct AffineMerging: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        try Rewriter.sweep(&graph) { rewriter, index, node in
            guard let outer = Affine(node, rewriter), let producer = rewriter.soleProducer(of: node.inputs[0]),
                Affine.activation(of: producer) == .identity, let inner = Affine(producer, rewriter), let merged = outer.after(inner)
            else { return false }
            let activation = Affine.activation(of: node)
            guard let axis = merged.axis else {
                let function = UnaryFunction.linear(Float(merged.scales[0]), Float(merged.biases[0]))
                rewriter.replace(index, op: Unary(function), inputs: [producer.inputs[0]])
                return true
            }
            let scale = try rewriter.addConstant(merged.scales, name: node.name)
            let bias = try rewriter.addConstant(merged.biases, name: node.name)
            rewriter.replace(
                index, op: ChannelAffine(axis: axis, activation: activation), inputs: [producer.inputs[0], scale, bias])
            return true
        }
    }
}
