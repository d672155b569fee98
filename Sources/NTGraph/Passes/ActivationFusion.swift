/// Moves an activation into the operator that computes its argument, when nothing else reads that.
package struct ActivationFusion: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            guard let op = node.op as? Unary, Self.isFusible(op.function),
                let producer = rewriter.soleProducer(of: node.inputs[0]),
                let fused = Self.adding(op.function, to: producer.op)
            else { return false }
            rewriter.replace(index, op: fused, inputs: producer.inputs, name: producer.name)
            return true
        }
    }

    /// The functions that every backend applies at a store; others stay nodes, so that they cannot drag a convolution off its kernel.
    static func isFusible(_ function: UnaryFunction) -> Bool {
        switch function {
        case .relu, .clip, .threshold, .leakyReLU, .sigmoid, .hardSigmoid, .hardSwish, .silu, .tanh, .elu, .geluExact, .geluTanh,
            .geluSigmoid:
            true
        default: false
        }
    }

    private static func adding(_ function: UnaryFunction, to op: any Operator) -> (any Operator)? {
        func combined(_ present: UnaryFunction) -> UnaryFunction? {
            present == .identity ? function : function.clamp(after: present)
        }
        switch op {
        case var op as Convolution:
            guard let activation = combined(op.activation) else { return nil }
            op.activation = activation
            return op
        case var op as ConvolutionTranspose:
            guard let activation = combined(op.activation) else { return nil }
            op.activation = activation
            return op
        case var op as Dense:
            guard let activation = combined(op.activation) else { return nil }
            op.activation = activation
            return op
        case var op as ChannelAffine:
            guard let activation = combined(op.activation) else { return nil }
            op.activation = activation
            return op
        case var op as Binary:
            guard [.add, .subtract, .multiply, .divide, .maximum, .minimum].contains(op.function),
                let activation = combined(op.activation)
            else { return nil }
            op.activation = activation
            return op
        default: return nil
        }
    }
}
