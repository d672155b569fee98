import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

extension PlanBuilder {
    mutating func emitSoftmax(_ op: Softmax, _ node: Node) throws {
        let id = node.inputs[0]
        let x = shape(id)
        let place = try placement(id)
        let source = try asRowMajor(id)
        let target = source == place ? try self.place(node.outputs[0], over: id, asPixels: false) : self.place(node.outputs[0], asPixels: false)
        var axis = Self.axis(x, try OperatorError.normalizedAxis(op.axis, rank: x.rank))
        axis.function = op.isLog ? 1 : 0
        axis.softmax = nt_softmax_choose(isa)
        append(
            nt_step_softmax, store.keep(axis), inputs: [source], outputs: [target],
            parts: parts(work: x.count, grain: Self.shareElements / 4, limit: axis.outer),
            description: describe([node], kernel: "softmax " + String(cString: axis.softmax.pointee.name)))
    }

    mutating func emitLRN(_ op: LocalResponseNormalization, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try placement(node.inputs[0])
        let (outer, channels, inner) = StridedLoop.split(x, axis: 1)
        let target: Placement
        var lrn = nt_lrn()
        (lrn.outer, lrn.channels, lrn.inner) = (outer, channels, inner)
        (lrn.size, lrn.alpha, lrn.beta, lrn.k) = (op.size, op.alpha, op.beta, op.k)
        if case .pixels(let stride) = source.layout {
            // The result lies as the input does, strides and all.
            let own = Placement(buffer: addBuffer(.arena(count: outer * inner * stride)), layout: source.layout)
            placements[node.outputs[0].index] = own
            target = own
            (lrn.outer_stride, lrn.channel_stride, lrn.inner_stride) = (inner * stride, 1, stride)
        } else {
            target = place(node.outputs[0], asPixels: false)
            (lrn.outer_stride, lrn.channel_stride, lrn.inner_stride) = (channels * inner, inner, 1)
        }
        append(
            nt_step_lrn, store.keep(lrn), inputs: [source], outputs: [target],
            parts: parts(work: x.count, grain: Self.shareElements / 16, limit: threads),
            description: describe([node], kernel: "lrn"))
    }

    mutating func emitMeanVariance(_ op: MeanVarianceNormalization, _ node: Node) throws {
        var reduce = try normalization(node, axes: op.axes)
        reduce.epsilon = op.epsilon
        reduce.normalizes_variance = op.normalizesVariance ? 1 : 0
        reduce.epsilon_outside = op.epsilonOutside ? 1 : 0
        try emitNormalization(nt_step_mean_variance, reduce, node, kernel: "mean and variance")
    }

    mutating func emitL2(_ op: L2Normalization, _ node: Node) throws {
        var reduce = try normalization(node, axes: op.axes)
        reduce.epsilon = op.epsilon
        try emitNormalization(nt_step_l2_normalize, reduce, node, kernel: "l2 normalise")
    }

    private mutating func normalization(_ node: Node, axes: [Int]) throws -> nt_reduce {
        let x = shape(node.inputs[0])
        let reduced = try Set(axes.map { try OperatorError.normalizedAxis($0, rank: x.rank) }).sorted()
        return Self.reduction(x, axes: reduced, strides: x.strides)
    }

    private mutating func emitNormalization(
        _ run: @escaping nt_step_fn, _ reduce: nt_reduce, _ node: Node, kernel: String
    ) throws {
        let source = try asRowMajor(node.inputs[0])
        let target = place(node.outputs[0], asPixels: false)
        append(run, store.keep(reduce), inputs: [source], outputs: [target], description: describe([node], kernel: kernel))
    }
}
