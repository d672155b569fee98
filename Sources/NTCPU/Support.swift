import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// What the backend's kernels can compute. Everything that `accepted` lets through has a step in `PlanBuilder`.
enum Support {
    /// The highest rank of the strided kernels' loops; a tile needs two dimensions for each of its input's.
    static let maximumRank = Int(NT_COPY_MAX_RANK) / 2

    static func claim(_ node: Node, in graph: Graph) -> Claim {
        let shapes = graph.types(node.inputs + node.outputs)
        if shapes.contains(where: { $0.shape.count == 0 }) { return .refused(reason: "a tensor without elements") }
        if let odd = shapes.first(where: { $0.dtype != .float32 }) {
            return .refused(reason: "elements of type \(odd.dtype.rawValue)")
        }
        if shapes.contains(where: { $0.shape.rank > maximumRank }) { return .refused(reason: "rank above \(maximumRank)") }
        if let reason = reasonToRefuse(node, in: graph) { return .refused(reason: reason) }
        return .accepted
    }

    private static func reasonToRefuse(_ node: Node, in graph: Graph) -> String? {
        func isConstant(_ index: Int) -> Bool { graph.constant(node.inputs[index]) != nil }
        switch node.op {
        case let op as Convolution:
            return isConstant(1) && (!op.hasBias || isConstant(2)) ? nil : "weights that are computed"
        case let op as ConvolutionTranspose:
            guard isConstant(1), !op.hasBias || isConstant(2) else { return "weights that are computed" }
            return TransposedGeometry(op, x: graph[node.inputs[0]].type.shape, w: graph[node.inputs[1]].type.shape) == nil
                ? "cropping beyond the kernel" : nil
        case let op as Dense:
            return isConstant(1) && (!op.hasBias || isConstant(2)) ? nil : "weights that are computed"
        case is ChannelAffine: return isConstant(1) && isConstant(2) ? nil : "scales that are computed"
        case is PReLU: return isConstant(1) ? nil : "slopes that are computed"
        case let op as Pool:
            let taps = op.kernel.height.multipliedReportingOverflow(by: op.kernel.width)
            return taps.overflow || taps.partialValue > Int(NT_POOL_MAX_TAPS) ? "a window above \(Int(NT_POOL_MAX_TAPS)) places" : nil
        case is MatMul, is Unary, is Binary, is Select, is Softmax, is Reduce, is Reshape, is Transpose, is Concat, is Split,
            is Slice, is Tile, is BroadcastTo, is Reverse, is RearrangeBlocks, is Gather, is Pad, is Resize, is ArgReduce, is TopK,
            is LocalResponseNormalization, is MeanVarianceNormalization, is L2Normalization, is CropResize, is GatherAlongAxis,
            is GatherND, is Scatter, is CumulativeSum, is ReverseSequence:
            return nil
        default: return "no kernel"
        }
    }
}
