import NTTensor

/// Gives averages over whole images one form, `Reduce(.mean, axes: [2, 3])` with kept dimensions, whether they came as global pooling or as
/// a reduction, and turns reductions over axes of extent 1 into reshapes.
package struct ReductionNormalization: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        try Rewriter.sweep(&graph) { rewriter, index, node in
            switch node.op {
            case let op as Pool: Self.normalizePool(&rewriter, index, node, op)
            case let op as Reduce: try Self.normalizeReduce(&rewriter, index, node, op)
            default: false
            }
        }
    }

    private static func normalizePool(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Pool) -> Bool {
        let shape = rewriter.shape(node.inputs[0])
        guard op.function == .average, op.padding.isZero, op.kernel == Size2D(shape[2], shape[3]),
            op.dilations.height == 1 || op.kernel.height == 1, op.dilations.width == 1 || op.kernel.width == 1
        else { return false }
        rewriter.replace(index, op: Reduce(.mean, axes: [2, 3]), inputs: node.inputs)
        return true
    }

    private static func normalizeReduce(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Reduce) throws -> Bool {
        let (shape, output) = (rewriter.shape(node.inputs[0]), rewriter.shape(node.outputs[0]))
        let axes = try op.reducedAxes(rank: shape.rank)
        if !op.keepsDimensions, axes.allSatisfy({ shape[$0] == 1 }),
            [.sum, .mean, .product, .maximum, .minimum].contains(op.function)
        {
            rewriter.replace(index, op: Reshape(output), inputs: node.inputs)
            return true
        }
        guard op.function == .mean, shape.rank == 4, axes == [2, 3] else { return false }
        let normal = Reduce(.mean, axes: [2, 3])
        guard op != normal else { return false }
        if op.keepsDimensions {
            rewriter.replace(index, op: normal, inputs: node.inputs)
            return true
        }
        guard let mean = try rewriter.insert(before: index, op: normal, inputs: node.inputs, name: node.name) else { return false }
        rewriter.replace(index, op: Reshape(output), inputs: [mean])
        return true
    }
}
