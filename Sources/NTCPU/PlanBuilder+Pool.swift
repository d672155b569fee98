import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Pooling and reductions.
extension PlanBuilder {
    mutating func emitPool(_ op: Pool, _ node: Node) throws {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let coversAll = op.kernel.height == x[2] && op.kernel.width == x[3] && op.padding.isZero && y[2] == 1 && y[3] == 1
        if coversAll, op.function == .average, op.dilations == .one, reserved[node.outputs[0]]?.layout.isPairs != true {
            let source = try asStoredPixels(node.inputs[0])
            let target = place(node.outputs[0], asPixels: true)
            emitPoolSum(node, x, source, target, scale: 1 / Float(x[2] * x[3]), yStride: target.pixelStride)
            return
        }
        let inPairs = poolsPairs(node)
        let source = inPairs ? try asPairs(node.inputs[0]) : try asPixels(node.inputs[0])
        let target = inPairs ? placePairs(node.outputs[0]) : place(node.outputs[0], asPixels: true)
        let image = poolImage(op, node, xStride: source.pixelStride, yStride: target.pixelStride, inPairs: inPairs)
        append(
            nt_step_pool, store.keep(image), inputs: [source], outputs: [target],
            parts: parts(work: y.count * op.kernel.height * op.kernel.width / 8, grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            description: describe([node], kernel: "pool " + String(cString: image.kernel.pointee.name)))
    }

    func poolImage(_ op: Pool, _ node: Node, xStride: Int, yStride: Int, inPairs: Bool) -> nt_pool_image {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let functions: [Pool.Function: Int] = [.maximum: NT_POOL_MAXIMUM, .average: NT_POOL_AVERAGE, .l2: NT_POOL_L2]
        return nt_pool_image(
            window: nt_window(
                in_height: x[2], in_width: x[3], out_height: y[2], out_width: y[3], kernel_height: op.kernel.height,
                kernel_width: op.kernel.width, stride_y: op.strides.height, stride_x: op.strides.width,
                dilation_y: op.dilations.height, dilation_x: op.dilations.width, pad_top: op.padding.top, pad_left: op.padding.left),
            batch: x[0], channels: x[1], x_stride: xStride, y_stride: yStride,
            kernel: inPairs ? nt_pool_choose_element(element, isa) : nt_pool_choose(isa),
            function: Int32(functions[op.function] ?? NT_POOL_MAXIMUM), counts_padding: op.countsPadding ? 1 : 0,
            pad_bottom: op.padding.bottom, pad_right: op.padding.right)
    }

    private mutating func emitPoolSum(
        _ node: Node, _ x: Shape, _ source: Placement, _ target: Placement, scale: Float, yStride: Int
    ) {
        let sum = nt_pool_sum_image(
            kernel: nt_pool_choose_element(source.element, isa), batch: x[0], height: x[2], width: x[3],
            x_stride: source.pixelStride, channels: x[1],
            y_stride: yStride, scale: scale)
        append(
            nt_step_pool_sum, store.keep(sum), inputs: [source], outputs: [target],
            description: describe([node], kernel: "sum of pixels " + String(cString: sum.kernel.pointee.name)))
    }

    mutating func emitReduce(_ op: Reduce, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let axes = try op.reducedAxes(rank: x.rank)
        let averages = x.rank == 4 && axes == [2, 3] && (op.function == .mean || op.function == .sum)
        if averages, reserved[node.outputs[0]] == nil, try isStoredAsPixels(node.inputs[0]) {
            let source = try asStoredPixels(node.inputs[0])
            let target = self.place(node.outputs[0], asPixels: false)
            emitPoolSum(node, x, source, target, scale: op.function == .mean ? 1 / Float(x[2] * x[3]) : 1, yStride: x[1])
            return
        }
        let place = try placement(node.inputs[0])
        var reduce = Self.reduction(x, axes: axes, strides: place.strides(x))
        let codes: [Reduce.Function: Int] = [
            .sum: NT_REDUCE_SUM, .mean: NT_REDUCE_MEAN, .product: NT_REDUCE_PRODUCT, .maximum: NT_REDUCE_MAXIMUM,
            .minimum: NT_REDUCE_MINIMUM, .l1: NT_REDUCE_L1, .l2: NT_REDUCE_L2, .sumSquare: NT_REDUCE_SUM_SQUARE,
            .logSum: NT_REDUCE_LOG_SUM, .sumLog: NT_REDUCE_SUM_LOG, .logSumExp: NT_REDUCE_LOG_SUM_EXP,
        ]
        reduce.function = Int32(codes[op.function] ?? NT_REDUCE_SUM)
        reduce.epsilon = op.epsilon
        let target = self.place(node.outputs[0], asPixels: false)
        append(
            nt_step_reduce, store.keep(reduce), inputs: [place], outputs: [target], description: describe([node], kernel: "reduce"))
    }

    /// The loops of a reduction over `axes` of memory with these strides.
    static func reduction(_ shape: Shape, axes: [Int], strides: [Int]) -> nt_reduce {
        let kept = (0..<shape.rank).filter { !axes.contains($0) }
        var reduce = nt_reduce()
        reduce.kept_rank = Int32(kept.count)
        reduce.reduced_rank = Int32(axes.count)
        CArray.assign(kept.map { shape[$0] }, to: &reduce.kept_dims)
        CArray.assign(kept.map { strides[$0] }, to: &reduce.kept_strides)
        CArray.assign(axes.map { shape[$0] }, to: &reduce.reduced_dims)
        CArray.assign(axes.map { strides[$0] }, to: &reduce.reduced_strides)
        return reduce
    }

    mutating func emitArgReduce(_ op: ArgReduce, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try asRowMajor(node.inputs[0])
        let target = place(node.outputs[0], asPixels: false)
        var axis = Self.axis(x, try OperatorError.normalizedAxis(op.axis, rank: x.rank))
        axis.function = op.isMinimum ? 1 : 0
        append(nt_step_arg, store.keep(axis), inputs: [source], outputs: [target], description: describe([node], kernel: "arg"))
    }

    mutating func emitTopK(_ op: TopK, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try asRowMajor(node.inputs[0])
        let values = place(node.outputs[0], asPixels: false)
        let indices = place(node.outputs[1], asPixels: false)
        var axis = Self.axis(x, try OperatorError.normalizedAxis(op.axis, rank: x.rank))
        axis.function = op.isSmallest ? 1 : 0
        axis.k = op.k
        append(
            nt_step_topk, store.keep(axis), inputs: [source], outputs: [values, indices], scratchCount: axis.extent,
            description: describe([node], kernel: "topk"))
    }

    /// A shape seen along an axis.
    static func axis(_ shape: Shape, _ axis: Int) -> nt_axis {
        let (outer, extent, inner) = StridedLoop.split(shape, axis: axis)
        var result = nt_axis()
        (result.outer, result.extent, result.inner) = (outer, extent, inner)
        return result
    }
}
