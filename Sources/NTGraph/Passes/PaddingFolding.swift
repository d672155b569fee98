import NTTensor

/// Moves padding with zeros, around the image only, into the convolution or pooling that reads it, where that computes the same.
package struct PaddingFolding: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            guard node.op is Convolution || node.op is Pool, let producer = rewriter.soleProducer(of: node.inputs[0]),
                let pad = producer.op as? Pad, case .constant(let filler) = pad.mode, pad.before.count == 4,
                pad.before[0] == 0, pad.before[1] == 0, pad.after[0] == 0, pad.after[1] == 0
            else { return false }
            let source = producer.inputs[0]
            let op: any Operator
            if var convolution = node.op as? Convolution, filler == 0 {
                convolution.padding = Self.sum(convolution.padding, pad)
                op = convolution
            } else if var pool = node.op as? Pool, Self.isExact(pool, pad, filler, source, &rewriter) {
                pool.padding = Self.sum(pool.padding, pad)
                if pool.function == .average { pool.countsPadding = true }
                op = pool
            } else {
                return false
            }
            let inputs = [source] + node.inputs.dropFirst()
            guard let types = try? op.outputTypes(for: rewriter.types(inputs)), types == rewriter.types(node.outputs) else {
                return false
            }
            rewriter.replace(index, op: op, inputs: inputs)
            return true
        }
    }

    private static func sum(_ padding: Padding2D, _ pad: Pad) -> Padding2D {
        Padding2D(
            top: padding.top + pad.before[2], left: padding.left + pad.before[3], bottom: padding.bottom + pad.after[2],
            right: padding.right + pad.after[3])
    }

    /// Whether the pooling treats its own padding as it would treat the padded elements.
    private static func isExact(
        _ pool: Pool, _ pad: Pad, _ filler: Float, _ source: ValueID, _ rewriter: inout Rewriter
    ) -> Bool {
        switch pool.function {
        case .average: return filler == 0 && (pool.countsPadding || pool.padding.isZero)
        case .l2: return filler == 0
        case .maximum:
            // A window of nothing but padding gives 0; elsewhere padding loses against what is not negative.
            var budget = 64
            return filler == 0 && isNonNegative(source, &rewriter, &budget)
        }
    }

    /// Whether a value is known to have no negative elements. Looks at `budget` nodes at most.
    private static func isNonNegative(_ id: ValueID, _ rewriter: inout Rewriter, _ budget: inout Int) -> Bool {
        if let constant = rewriter.constant(id) { return constant.floats.allSatisfy { $0 >= 0 } }
        guard budget > 0, let node = rewriter.producer(of: id) else { return false }
        budget -= 1
        let function: UnaryFunction
        switch node.op {
        case let op as Unary: function = op.function
        case let op as Convolution: function = op.activation
        case let op as ConvolutionTranspose: function = op.activation
        case let op as Binary: function = op.activation
        case let op as ChannelAffine: function = op.activation
        case is Softmax: return !((node.op as? Softmax)?.isLog ?? true)
        case is Pool, is Reshape, is Transpose, is Concat, is Slice, is Split, is Tile, is RearrangeBlocks, is Resize:
            for input in node.inputs { if !isNonNegative(input, &rewriter, &budget) { return false } }
            return true
        default: return false
        }
        switch function {
        case .clip(let lower, _), .threshold(let lower): return lower >= 0
        case .relu, .sigmoid, .hardSigmoid, .square, .abs, .exp, .exp2, .softplus: return true
        default: return false
        }
    }
}
