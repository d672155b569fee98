import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Convolutions: weights packed once, a kernel chosen for each shape.
extension PlanBuilder {
    /// The work, in cycles, below which a share is not worth the meeting of threads it takes.
    static let shareCycles = 6_000.0

    /// A convolution's window.
    static func window(_ op: Convolution, _ x: Shape, _ w: Shape, _ y: Shape) -> nt_window {
        nt_window(
            in_height: x[2], in_width: x[3], out_height: y[2], out_width: y[3], kernel_height: w[2], kernel_width: w[3],
            stride_y: op.strides.height, stride_x: op.strides.width, dilation_y: op.dilations.height,
            dilation_x: op.dilations.width, pad_top: op.padding.top, pad_left: op.padding.left)
    }

    /// Whether each output channel sees the one input channel of its own index.
    static func isDepthwise(_ op: Convolution, _ x: Shape, _ w: Shape) -> Bool {
        op.groups == x[1] && w[0] == x[1] && x[1] > 1 && w[2] <= Int(NT_DEPTHWISE_MAX_HEIGHT)
            && op.strides.height > 0 && !op.hasResidual
    }

    /// A constant input as float32.
    func constant(_ id: ValueID) throws -> Tensor {
        guard let tensor = graph.constant(id) else { throw GraphError("value '\(graph[id].name)' must be constant") }
        return try tensor.asFloat32()
    }

    /// The elements of a constant input, kept for the plan's steps.
    func constantFloats(_ id: ValueID) throws -> UnsafePointer<Float> { store.keep(try constant(id)) }

    /// A constant input packed for a kernel.
    func packed(_ id: ValueID, _ packing: GEMMPacking) throws -> UnsafePointer<Float> {
        let count = packing.groups * packing.groupCount
        return try store.packed(try constant(id), recipe: packing.recipe, byteCount: 4 * count) {
            try packing.pack($1.bindMemory(to: Float.self, capacity: count), elements: $0.floats(_:))
        }.assumingMemoryBound(to: Float.self)
    }

    mutating func emitConvolution(_ index: Int) throws {
        let node = graph.nodes[index]
        guard let op = node.op as? Convolution else { return }
        let (x, w, y) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]))
        if Self.isDepthwise(op, x, w) {
            try emitDepthwise(op, node)
        } else if try isStem(index) {
            try emitStem(op, node)
        } else {
            if let winograd = winograd(op, node, x, w, y) {
                try emitWinograd(winograd, op, node)
            } else if try !emitStrassen(op, node, w, y) {
                try emitGeneral(op, node, x, w, y)
            }
        }
    }

    private mutating func emitGeneral(_ op: Convolution, _ node: Node, _ x: Shape, _ w: Shape, _ y: Shape) throws {
        let inPairs = multipliesPairs(op, w)
        let source = inPairs ? try asPairs(node.inputs[0]) : try asPixels(node.inputs[0])
        let (residual, target) = try convolutionTarget(op, node, from: node.inputs[0], inPairs: inPairs)
        let (depth, perGroup, taps) = (w[1], w[0] / op.groups, w[2] * w[3])
        var conv = nt_conv()
        conv.window = Self.window(op, x, w, y)
        (conv.batch, conv.groups, conv.outputs) = (x[0], op.groups, perGroup)
        conv.channels = nt_slots(source.element, depth)
        conv.x_stride = source.pixelStride
        conv.y_stride = target.pixelStride
        conv.residual_stride = residual?.pixelStride ?? 0
        conv.y_element = target.element
        conv.kernel = nt_gemm_choose_taps(source.element, x[0] * y[2] * y[3], perGroup, taps, conv.channels, isa)
        // Weights lie as [groups][outputs][channels][taps].
        let packing = GEMMPacking(
            kernel: conv.kernel, groups: op.groups, outputs: perGroup, taps: taps, depth: depth, tapStride: 1, depthStride: taps)
        (conv.packed, conv.packed_stride) = (try packed(node.inputs[1], packing), packing.groupCount)
        conv.bias_stride = nt_gemm_bias_count(conv.kernel, perGroup)
        conv.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: op.groups, perGroup: perGroup, stride: conv.bias_stride, of: node, for: conv.kernel)
        conv.zeros = try store.zeros(conv.channels * w[3])
        conv.activation = activation(op.activation)
        conv.block_rows = nt_conv_block_rows(&conv, nt_cache_bytes(2))
        let parts = nt_conv_parts(&conv, threads, Self.shareCycles)
        let kernel = "conv \(w[2])x\(w[3]) " + String(cString: conv.kernel.pointee.name)
        append(
            nt_step_conv, store.keep(conv), inputs: [source, residual], outputs: [target], parts: parts,
            description: describe([node], kernel: kernel))
    }

    /// A convolution's residual and output: over the residual where that may be, in pairs where its readers want that.
    mutating func convolutionTarget(
        _ op: Convolution, _ node: Node, from input: ValueID, inPairs: Bool
    ) throws -> (residual: Placement?, target: Placement) {
        let id = node.outputs[0]
        let writesPairs = inPairs && wantsPairs(id)
        guard let residual = op.residualIndex.map({ node.inputs[$0] }) else {
            return (nil, writesPairs ? placePairs(id) : place(id, asPixels: true))
        }
        let source = writesPairs ? try asPairs(residual) : try asPixels(residual)
        guard residual != input else { return (source, writesPairs ? placePairs(id) : place(id, asPixels: true)) }
        return (source, writesPairs ? placePairs(id, over: residual) : try place(id, over: residual, asPixels: true))
    }

    /// Biases of each group, padded with zeros to `stride`; zeros alone when there are none. Those of a kernel that multiplies bfloat16 make up
    /// for what rounding the node's weights takes from its sums on average.
    func packBias(
        _ id: ValueID?, groups: Int, perGroup: Int, stride: Int, of node: Node? = nil, for kernel: UnsafePointer<nt_gemm_kernel>? = nil
    ) throws -> UnsafePointer<Float> {
        let packed = try store.floats(stride * groups)
        if let id {
            let bias = try constant(id)
            withExtendedLifetime(bias) {
                for (index, value) in bias.floats.prefix(groups * perGroup).enumerated() {
                    packed[index / perGroup * stride + index % perGroup] = value
                }
            }
        }
        if let node, let kernel, kernel.pointee.element == Int32(NT_ELEMENT_BFLOAT16) {
            let shifts = try roundingShifts(node, count: groups * perGroup)
            for index in 0..<(groups * perGroup) { packed[index / perGroup * stride + index % perGroup] += shifts[index] }
        }
        return UnsafePointer(packed)
    }

    /// See `ChannelEstimates`; kept with the packed weights, so that nothing is estimated where these are there.
    private func roundingShifts(_ node: Node, count: Int) throws -> UnsafePointer<Float> {
        let output = node.outputs[0]
        return try store.packed(
            try constant(node.inputs[1]), recipe: "bfloat16 shifts of value \(output.index) from \(shape(node.inputs[0]))", byteCount: 4 * count
        ) { _, target in
            let (target, shifts) = (target.bindMemory(to: Float.self, capacity: count), try estimates.shifts(of: output))
            for index in 0..<count { target[index] = index < shifts.count ? shifts[index] : 0 }
        }.assumingMemoryBound(to: Float.self)
    }

    // MARK: Depthwise

    mutating func emitDepthwise(_ op: Convolution, _ node: Node) throws {
        let isWide = shape(node.inputs[0])[1] > Self.narrowChannels
        let inPairs = usesPairs && (reserved[node.outputs[0]]?.layout.isPairs ?? isWide)
        let source = inPairs ? try asPairs(node.inputs[0]) : try asPixels(node.inputs[0])
        let target = inPairs ? placePairs(node.outputs[0]) : place(node.outputs[0], asPixels: true)
        let image = try depthwiseImage(op, node, xStride: source.pixelStride, yStride: target.pixelStride, inPairs: inPairs)
        let y = shape(node.outputs[0])
        let work = y.count * image.window.kernel_height * image.window.kernel_width / 8
        append(
            nt_step_depthwise, store.keep(image), inputs: [source], outputs: [target],
            parts: parts(work: work, grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            description: describe([node], kernel: "depthwise " + String(cString: image.kernel.pointee.name)))
    }

    func depthwiseImage(_ op: Convolution, _ node: Node, xStride: Int, yStride: Int, inPairs: Bool) throws -> nt_depthwise_image {
        let (x, w, y) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]))
        let (channels, taps) = (x[1], w[2] * w[3])
        let padded = nt_depthwise_padded(channels)
        let kernel = inPairs ? nt_depthwise_choose_pairs(element, isa) : nt_depthwise_choose(channels, isa)
        let name = kernel.map { String(cString: $0.pointee.name) } ?? ""
        let weights = try store.packed(
            try constant(node.inputs[1]), recipe: "depthwise \(name) channels \(channels) of \(padded) taps \(taps)",
            byteCount: 4 * padded * taps
        ) { nt_depthwise_pack(kernel, channels, taps, try $0.floats(), $1.bindMemory(to: Float.self, capacity: padded * taps)) }
        let bias = try store.floats(padded)
        if op.hasBias {
            let tensor = try constant(node.inputs[2])
            withExtendedLifetime(tensor) { nt_depthwise_pack(kernel, channels, 1, tensor.floats.baseAddress, bias) }
        }
        return nt_depthwise_image(
            window: Self.window(op, x, w, y), batch: x[0], channels: channels, x_stride: xStride, y_stride: yStride,
            kernel: kernel, weights: weights.assumingMemoryBound(to: Float.self), bias: UnsafePointer(bias),
            activation: activation(op.activation))
    }
}
