import NTTensor

/// Removes nodes that pass their input on unchanged. A graph output keeps a node of its own when it would otherwise be an input,
/// a constant or another output.
package struct IdentityElimination: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            if let input = Self.passedInput(of: node, &rewriter) { return rewriter.bypass(index, input: input) }
            if let concat = node.op as? Concat { return Self.dropEmptyInputs(&rewriter, index, node, concat) }
            guard let affine = node.op as? ChannelAffine, Self.isUnit(node, &rewriter) else { return false }
            rewriter.replace(index, op: Unary(affine.activation), inputs: [node.inputs[0]])
            return true
        }
    }

    /// The input that a node hands on, or nil when it does something.
    private static func passedInput(of node: Node, _ rewriter: inout Rewriter) -> ValueID? {
        guard node.outputs.count == 1, let first = node.inputs.first else { return nil }
        let (from, to) = (rewriter.shape(first), rewriter.shape(node.outputs[0]))
        guard from == to else { return nil }
        let isIdentity: Bool
        switch node.op {
        case let op as Unary: isIdentity = isIdentityFunction(op.function)
        case is Reshape, is BroadcastTo, is Tile, is Split, is Pad: isIdentity = true
        case let op as Transpose: isIdentity = op.permutation == Array(op.permutation.indices)
        case let op as Slice: isIdentity = zip(op.strides, from.dims).allSatisfy { $0 == 1 || $1 <= 1 }
        case is Concat: isIdentity = node.inputs.count == 1
        case let op as Reverse:
            isIdentity = op.axes.allSatisfy { from[$0 < 0 ? $0 + from.rank : $0] <= 1 }
        case let op as Resize:
            if case .explicit = op.coordinates { isIdentity = false } else { isIdentity = true }
        case let op as RearrangeBlocks: isIdentity = op.block == 1
        case let op as Pool: isIdentity = op.kernel == .one && op.padding.isZero && op.function != .l2
        case let op as Reduce:
            // Equal shapes mean that every combined extent is 1.
            isIdentity = [.sum, .mean, .product, .maximum, .minimum].contains(op.function)
        case let op as ChannelAffine: isIdentity = op.activation == .identity && isUnit(node, &rewriter)
        default: isIdentity = false
        }
        return isIdentity ? first : nil
    }

    private static func isIdentityFunction(_ function: UnaryFunction) -> Bool {
        switch function {
        case .identity, .linear(1, 0), .power(1), .leakyReLU(1), .clip(-.infinity, .infinity), .threshold(-.infinity): true
        default: false
        }
    }

    /// Whether a `ChannelAffine` multiplies by 1 and adds 0 everywhere.
    private static func isUnit(_ node: Node, _ rewriter: inout Rewriter) -> Bool {
        guard let scale = rewriter.constant(node.inputs[1]), let bias = rewriter.constant(node.inputs[2]) else { return false }
        return scale.floats.allSatisfy { $0 == 1 } && bias.floats.allSatisfy { $0 == 0 }
    }

    private static func dropEmptyInputs(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Concat) -> Bool {
        let kept = node.inputs.filter { rewriter.shape($0).count > 0 }
        guard !kept.isEmpty, kept.count < node.inputs.count else { return false }
        rewriter.replace(index, op: op, inputs: kept)
        return true
    }
}
