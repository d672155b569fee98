import NTGraph
import NTTensor

extension PartitionCompiler {
    /// Why this backend has no kernel for a node, or nil when it has.
    static func refusal(of node: Node, in graph: Graph) -> String? {
        func isConstant(_ index: Int) -> Bool { graph.constant(node.inputs[index]) != nil }
        let types = graph.types(node.inputs + node.outputs)
        if let large = types.first(where: { $0.shape.count > Int(Int32.max) }) {
            return "a tensor of shape \(large.shape) has more than 2^31 - 1 elements"
        }
        switch node.op {
        case let op as Convolution:
            return isConstant(1) && (!op.hasBias || isConstant(2)) ? nil : "its weights are computed at run time"
        case let op as ConvolutionTranspose:
            return isConstant(1) && (!op.hasBias || isConstant(2)) ? nil : "its weights are computed at run time"
        case let op as Dense:
            return isConstant(1) && (!op.hasBias || isConstant(2)) ? nil : "its weights are computed at run time"
        case is Pool, is MatMul, is Unary, is Binary, is Select, is ChannelAffine, is PReLU, is Softmax,
            is LocalResponseNormalization, is MeanVarianceNormalization, is L2Normalization, is Reduce, is ArgReduce, is TopK,
            is Reshape, is Transpose, is Concat, is Split, is Slice, is Tile, is BroadcastTo, is Reverse, is Gather, is Pad,
            is Resize, is RearrangeBlocks, is CropResize, is GatherAlongAxis, is GatherND, is Scatter, is CumulativeSum,
            is ReverseSequence:
            return nil
        default: return "there is no OpenCL kernel for \(node.op.kind)"
        }
    }

    /// Emits the launches of a node and binds its outputs.
    func emit(_ node: Node) throws {
        switch node.op {
        case let op as Convolution: try emitConvolution(op)
        case let op as ConvolutionTranspose: try emitTransposed(op)
        case let op as Dense: try emitDense(op)
        case let op as MatMul: try emitMatMul(op)
        case let op as Pool: try emitPool(op)
        case let op as Unary: try emitUnary(op)
        case let op as Binary: try emitBinary(op)
        case is Select: try emitSelect()
        case let op as ChannelAffine: try emitAffine(op)
        case let op as PReLU: try emitPReLU(op)
        case let op as Softmax: try emitSoftmax(op)
        case let op as MeanVarianceNormalization: try emitNormalization(op)
        case let op as L2Normalization: try emitL2(op)
        case let op as LocalResponseNormalization: try emitLRN(op)
        case let op as Reduce: try emitReduce(op)
        case let op as ArgReduce: try emitArgument(op)
        case let op as TopK: try emitTop(op)
        case let op as Resize: try emitResize(op)
        case let op as Pad: try emitPad(op)
        case let op as Gather: try emitGather(op)
        case let op as GatherAlongAxis: try emitGatherAlong(op)
        case is GatherND: try emitGatherND()
        case let op as Scatter: try emitScatter(op)
        case let op as CumulativeSum: try emitCumulativeSum(op)
        case let op as ReverseSequence: try emitReverseSequence(op)
        case let op as CropResize: try emitCropResize(op)
        default: try emitMovement(node.op)
        }
    }
}
