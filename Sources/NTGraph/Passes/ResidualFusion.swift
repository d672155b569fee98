/// Moves an addition into the convolution that computes one of its operands, as that convolution's residual, with the activation after it.
/// Of two convolutions the later one takes it, so that the other operand is there when it runs.
package struct ResidualFusion: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            guard let sum = node.op as? Binary, sum.function == .add, rewriter.shape(node.inputs[0]) == rewriter.shape(node.inputs[1])
            else { return false }
            var operands = [(node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])]
            if rewriter.position(of: operands[0].0) < rewriter.position(of: operands[1].0) { operands.reverse() }
            for (own, other) in operands {
                guard let producer = rewriter.soleProducer(of: own), var convolution = producer.op as? Convolution,
                    !convolution.hasResidual, convolution.activation == .identity
                else { continue }
                convolution.hasResidual = true
                convolution.activation = sum.activation
                rewriter.replace(index, op: convolution, inputs: producer.inputs + [other], name: producer.name)
                return true
            }
            return false
        }
    }
}
