import NTTensor

/// Folds linear functions and `ChannelAffine`s into the constant weights of the convolution or dense layer before or after them.
/// Weights and biases are computed in double precision and rounded once.
///
/// After a layer everything folds. Before one the bias folds only where no padding is, for padding is added after it.
package struct AffineFolding: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        try Rewriter.sweep(&graph) { rewriter, index, node in
            if let affine = Affine(node, rewriter) {
                guard let producer = rewriter.soleProducer(of: node.inputs[0]), let layer = WeightedLayer(producer, rewriter),
                    let folded = layer.followed(by: affine)
                else { return false }
                try folded.store(&rewriter, index, input: producer.inputs[0], activation: Affine.activation(of: node), name: producer.name)
                return true
            }
            guard node.op is Convolution || node.op is ConvolutionTranspose || node.op is Dense,
                let producer = rewriter.soleProducer(of: node.inputs[0]), Affine.activation(of: producer) == .identity,
                let affine = Affine(producer, rewriter), let layer = WeightedLayer(node, rewriter, allowsEpilogue: true),
                let folded = layer.preceded(by: affine)
            else { return false }
            try folded.store(&rewriter, index, input: producer.inputs[0], activation: nil, name: node.name)
            return true
        }
    }
}
