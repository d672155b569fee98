import NTGraph
import NTTensor

/// Kernels over windows of single channels: depthwise and transposed convolution, pooling; and products of computed matrices.
extension PartitionCompiler {
    /// Vectors of a pixel's channels that one work-item takes: all on wide cores, one on many.
    func channelBlocks(_ channels: Int, width: Int) -> (perItem: Int, items: Int) {
        let total = (channels + width - 1) / width
        return style.family == .wideCores ? (total, 1) : (1, total)
    }

    /// Whether a program whose vectors run along channels may load and store them as aligned ones; on wide cores that makes no difference.
    private func isVector(_ width: Int, _ tensors: [DeviceTensor]) -> Bool {
        style.family == .manyCores && width == 4 && tensors.allSatisfy { $0.isAligned }
    }

    /// Pixels in a row that one work-item of a depthwise convolution computes: on many cores as many as leave 256 work-items for each, and registers for those.
    private func depthwisePixels(_ out: DeviceTensor, blocks: Int, stride: Int) -> Int {
        guard style.family == .manyCores else { return min(style.depthwisePixels, out.dims[3]) }
        let rows = out.dims[0] * out.dims[2] * blocks
        return [4, 2].first { $0 * stride <= 4 && rows * ((out.dims[3] + $0 - 1) / $0) >= style.computeUnits * 256 } ?? 1
    }

    func emitDepthwise(_ op: Convolution, x: DeviceTensor, weights: Tensor, bias: Tensor?, out: DeviceTensor) throws {
        guard out.count > 0 else { return }
        let channels = x.dims[1]
        let (kh, kw) = (weights.shape[2], weights.shape[3])
        let width = style.vector(dividing: channels)
        let blocks = channelBlocks(channels, width: width)
        let packed = try constantStorage(
            WeightPacking.tapsFirst(weights.floats, channels: channels, taps: kh * kw), type: storedType)
        let biases = try constantStorage(
            WeightPacking.biasPanels(bias?.floats, groups: 1, outputs: channels, panelWidth: 1))
        let activation = Activation(op.activation).asClamp
        // Small windows lie in registers; the rest take the general kernel of the same program.
        let isSmall = kh * kw <= 25 && op.strides.width <= 2 && op.dilations.width == 1
        let across = isSmall ? depthwisePixels(out, blocks: blocks.items, stride: op.strides.width) : 1
        var macros = [
            "S": storedType.rawValue, "X_T": x.type.rawValue, "VW": "\(width)", "TX": "\(across)", "KH": "\(isSmall ? kh : 1)",
            "KW": "\(isSmall ? kw : 1)", "SW": "\(isSmall ? op.strides.width : 1)",
        ]
        if let macro = activation.macro { macros[macro] = "" }
        if isVector(width, [x, out]) { macros["ALIGNED"] = "" }
        let head: [KernelArgument] = [
            .storage(x.storage), .storage(packed), .storage(biases), .storage(out.storage), .int(channels), .int(blocks.perItem),
            .int(x.offset), .int(out.offset), .int(x.strides[0]), .int(x.strides[2]), .int(x.strides[3]), .int(out.pixelStride),
        ]
        let image: [KernelArgument] = [.int(x.dims[2]), .int(x.dims[3]), .int(out.dims[2]), .int(out.dims[3])]
        let tail: [KernelArgument] = [
            .int(op.padding.top), .int(op.padding.left), .float(activation.p), .float(activation.q),
        ]
        let rows = out.dims[0] * out.dims[2]
        if isSmall {
            let runs = (out.dims[3] + across - 1) / across
            // On wide cores a work-item takes a whole row, unless rows are fewer than keep the cores busy.
            let tiles = style.family == .wideCores ? max(1, runs / max(1, style.computeUnits * 8 / max(1, rows))) : 1
            launch(
                .depthwise, "nt_depthwise", macros: macros,
                head + [.int(rows)] + image + [.int(tiles), .int(op.strides.height), .int(op.dilations.height)] + tail,
                range: range([blocks.items, (runs + tiles - 1) / tiles, rows]), reads: [x], writes: [out],
                label: "depthwise \(kh)x\(kw) \(across)x\(width)")
        } else {
            launch(
                .depthwise, "nt_depthwise_any", macros: macros,
                head + [.int(rows * out.dims[3])] + image + [
                    .int(kh), .int(kw), .int(op.strides.height), .int(op.strides.width), .int(op.dilations.height),
                    .int(op.dilations.width),
                ] + tail,
                range: range([blocks.items, rows * out.dims[3]]), reads: [x], writes: [out], label: "depthwise any \(width)")
        }
    }

    func emitPool(_ op: Pool) throws {
        var x = try input(0)
        if !x.hasUnitChannelStride { x = try dense(x, order: DeviceTensor.channelsLast(4)) }
        x = x.withUnitChannelStride
        let out = try makeTensor(outputShape().dims, order: DeviceTensor.channelsLast(4), type: x.type)
        try emitPooling(op, x: x, out: out)
        bind(out)
    }

    func emitPooling(_ op: Pool, x: DeviceTensor, out: DeviceTensor) throws {
        guard out.count > 0 else { return }
        let channels = x.dims[1]
        let pixels = out.dims[0] * out.dims[2] * out.dims[3]
        // Few windows (global pooling) on many cores: items share each, or where it is small each channel is a work-item's.
        let isScarce = style.family == .manyCores && pixels * channels / 4 < style.computeUnits * 256
        let window = SaturatingArithmetic.product(op.kernel.height, op.kernel.width)
        let group = isScarce && window >= 32 ? style.groupSize(wanted: 64, sums: 4) : 1
        let width = isScarce && group == 1 ? 1 : style.vector(dividing: channels)
        var blocks = channelBlocks(channels, width: width)
        // Few windows (global pooling): the cores share the channels.
        if style.family == .wideCores, pixels < style.computeUnits * 4 { blocks = (1, (channels + width - 1) / width) }
        let run = style.family == .wideCores ? max(1, min(64, pixels * blocks.items / (style.computeUnits * 8))) : 1
        var macros = ["X_T": x.type.rawValue, "OUT_T": out.type.rawValue, "VW": "\(width)"]
        switch op.function {
        case .maximum: macros["POOL_MAXIMUM"] = ""
        case .average: macros["POOL_AVERAGE"] = ""
        case .l2: macros["POOL_L2"] = ""
        }
        if op.countsPadding { macros["COUNTS_PADDING"] = "" }
        if isVector(width, [x, out]) { macros["ALIGNED"] = "" }
        launch(
            style.sharing(.pool, macros: macros, group: group), "nt_pool",
            [
                .storage(x.storage), .storage(out.storage), .int(channels), .int(blocks.perItem), .int(x.offset), .int(x.strides[0]),
                .int(x.strides[2]), .int(x.strides[3]), .int(out.pixelStride), .int(pixels), .int(run), .int(x.dims[2]), .int(x.dims[3]),
                .int(out.dims[2]), .int(out.dims[3]), .int(op.kernel.height), .int(op.kernel.width), .int(op.strides.height),
                .int(op.strides.width), .int(op.dilations.height), .int(op.dilations.width), .int(op.padding.top),
                .int(op.padding.left), .int(op.padding.bottom), .int(op.padding.right),
            ],
            range: group > 1 ? ([blocks.items * group, pixels], [group, 1]) : range([blocks.items, (pixels + run - 1) / run]), reads: [x],
            writes: [out],
            label: "pool \(op.kernel) x\(width)")
    }

    func emitTransposed(_ op: ConvolutionTranspose) throws {
        let weights = try constant(1)
        let bias = op.hasBias ? try constant(2) : nil
        let kernel = weights.shape
        var x = try input(0)
        if !x.hasUnitChannelStride { x = try dense(x, order: DeviceTensor.channelsLast(4)) }
        x = x.withUnitChannelStride
        let out = try makeTensor(outputShape().dims, order: DeviceTensor.channelsLast(4), type: storedType)
        bind(out)
        guard out.count > 0 else { return }
        let (outputs, channels, taps) = (kernel[1], kernel[0] / op.groups, kernel[2] * kernel[3])
        let width = style.vectorWidth
        let panels = (outputs + width - 1) / width
        let packed = try constantStorage(
            WeightPacking.panels(
                weights.floats, groups: op.groups, outputs: outputs, channels: channels, taps: taps, panelWidth: width,
                index: { o, c, tap in (((o / outputs) * channels + c) * outputs + o % outputs) * taps + tap }), type: storedType)
        let biases = try constantStorage(
            WeightPacking.biasPanels(bias?.floats, groups: op.groups, outputs: outputs, panelWidth: width))
        let activation = Activation(op.activation)
        var macros = ["S": storedType.rawValue, "X_T": x.type.rawValue, "VW": "\(width)"]
        if let macro = activation.macro { macros[macro] = "" }
        let pixels = out.dims[0] * out.dims[2] * out.dims[3]
        launch(
            .transposed, "nt_transposed", macros: macros,
            [
                .storage(x.storage), .storage(packed), .storage(biases), .storage(out.storage), .int(pixels), .int(outputs),
                .int(channels), .int(panels), .int(panels * op.groups), .int(x.offset), .int(x.strides[0]), .int(x.strides[2]),
                .int(x.strides[3]), .int(out.pixelStride), .int(x.dims[2]), .int(x.dims[3]), .int(out.dims[2]), .int(out.dims[3]),
                .int(kernel[2]), .int(kernel[3]), .int(op.strides.height), .int(op.strides.width), .int(op.dilations.height),
                .int(op.dilations.width), .int(op.cropping.top), .int(op.cropping.left), .float(activation.p),
                .float(activation.q),
            ],
            range: range([pixels, panels * op.groups]), reads: [x], writes: [out], label: "transposed \(kernel[2])x\(kernel[3])")
    }

    func emitMatMul(_ op: MatMul) throws {
        let (a, b) = (inputShape(0), inputShape(1))
        if let matrix = graph.constant(node.inputs[1]), b.rank == 2, !op.transposeA, a.count > 0, b.count > 0 {
            let (n, k) = op.transposeB ? (b[0], b[1]) : (b[1], b[0])
            return try withExtendedLifetime(matrix) {
                try emitRows(
                    outputs: n, depth: k, weights: matrix.floats, bias: nil, activation: .none,
                    weightIndex: { o, c, _ in op.transposeB ? o * k + c : c * n + o })
            }
        }
        var left = try input(0)
        var right = try input(1)
        if op.transposeA { left = left.transposed(Array(0..<(a.rank - 2)) + [a.rank - 1, a.rank - 2]) }
        if op.transposeB { right = right.transposed(Array(0..<(b.rank - 2)) + [b.rank - 1, b.rank - 2]) }
        if right.strides[b.rank - 1] != 1, right.dims[b.rank - 1] != 1 { right = try dense(right, order: DeviceTensor.rowMajor(b.rank)) }
        let shape = outputShape()
        let out = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: resultType([left, right]))
        bind(out)
        guard out.count > 0 else { return }
        let batchDims = Array(shape.dims.dropLast(2))
        func batches(_ t: DeviceTensor) -> [Int] {
            var t = t
            let rank = t.rank
            (t.dims, t.strides) = (Array(t.dims[..<(rank - 2)]), Array(t.strides[..<(rank - 2)]))
            return t.broadcast(to: batchDims).strides
        }
        let space = IterationSpace(dims: batchDims, operands: [batches(left), batches(right)], order: Array(0..<batchDims.count))
        let meta = try constantStorage(space.rows(0..<space.dims.count).map { Int32($0) })
        let (m, n, k) = (shape[shape.rank - 2], shape[shape.rank - 1], left.dims[left.rank - 1])
        let (rows, width) = (4, style.vectorWidth)
        let macros = [
            "A_T": left.type.rawValue, "B_T": right.type.rawValue, "OUT_T": out.type.rawValue, "TM": "\(rows)", "VW": "\(width)",
        ]
        launch(
            .matmul, "nt_matmul", macros: macros,
            [
                .storage(left.storage), .storage(right.storage), .storage(out.storage), .storage(meta), .int(space.dims.count),
                .int(space.count), .int(m), .int(n), .int(k), .int(left.strides[left.rank - 2]),
                .int(left.strides[left.rank - 1]), .int(right.strides[right.rank - 2]), .int(left.offset), .int(right.offset),
            ],
            range: range([(n + width - 1) / width, (m + rows - 1) / rows, space.count]), reads: [left, right], writes: [out],
            label: "matmul \(rows)x\(width)")
    }
}
