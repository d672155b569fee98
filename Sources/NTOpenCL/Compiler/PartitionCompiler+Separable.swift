import NTGraph
import NTTensor

/// A depthwise convolution and the 1x1 convolution that alone reads it, in one kernel.
struct SeparablePair {
    let depthwise: Node
    let pointwise: Node
    /// Pixels of a row, vectors of output channels, and their width that one step computes.
    let across: Int
    let vectors: Int
    let width: Int
    let shape: SeparableShape
    /// Whether it was measured to be worth it.
    var isTuned = false
}

extension PartitionCompiler {
    /// The most channels between the two convolutions: what lies in private memory is a row of pixels of them.
    private static let maximumChannels = 512

    /// The pair that begins at a node, where one kernel is worth it: as was measured, else when no more than a sixth of the pixels would be computed twice
    /// at the ends of rows and there is enough to do.
    ///
    /// Measured on 2 cores in turns with separate kernels: MobileNet v1 takes 0.83 of the time on PoCL and 0.87 to 0.99 on Intel's runtime, v2 0.99 and 0.95
    /// to 1. Images under 14 x 14, rows of which runs leave more over, and layers under 2 million multiply-adds lose.
    func separablePair(at index: Int) -> SeparablePair? {
        guard let leastSeparableWork, var pair = Self.separablePair(at: index, in: graph, style: style, storedType: storedType) else { return nil }
        if let isFused = tuning.isFused(pair.shape) {
            pair.isTuned = true
            return isFused ? pair : nil
        }
        let shape = pair.shape
        let isTight = ((shape.columns + pair.across - 1) / pair.across * pair.across - shape.columns) * 6 <= shape.columns
        guard isTight, shape.rows * shape.columns >= 196, shape.multiplyAdds / max(1, shape.images) >= leastSeparableWork else { return nil }
        return pair
    }

    /// The pair that begins at a node, where one kernel can do it: on wide cores, for windows that lie in registers.
    static func separablePair(at index: Int, in graph: Graph, style: DeviceStyle, storedType: ElementType) -> SeparablePair? {
        guard style.family == .wideCores, index + 1 < graph.nodes.count else { return nil }
        let (first, second) = (graph.nodes[index], graph.nodes[index + 1])
        guard let depthwise = first.op as? Convolution, let pointwise = second.op as? Convolution, first.inputs.count > 1, second.inputs.count > 1,
            second.inputs[0] == first.outputs[0], graph.nodes.reduce(0, { $0 + $1.inputs.count { $0 == first.outputs[0] } }) == 1,
            !graph.outputs.contains(first.outputs[0])
        else { return nil }
        let (kernel, weights) = (graph[first.inputs[1]].type.shape, graph[second.inputs[1]].type.shape)
        let output = graph[second.outputs[0]].type.shape
        let channels = kernel[0]
        guard depthwise.groups > 1, kernel[1] == 1, channels == depthwise.groups, !depthwise.hasResidual, depthwise.dilations == .one,
            depthwise.strides.width <= 2, kernel[2] * kernel[3] <= 25, pointwise.isPointwiseKernel(weights), pointwise.groups == 1,
            pointwise.strides == .one, pointwise.padding.isZero, channels <= maximumChannels, output.count > 0
        else { return nil }
        for op in [depthwise, pointwise] where Activation(op.activation).asClamp.macro != "ACT_CLAMP" { return nil }
        let (width, columns) = (style.vector(dividing: channels), output[3])
        let runs = style.vectorWidth == 16 ? (depthwise.strides.width == 1 ? [10, 7] : [7]) : [5]
        guard width == style.vectorWidth,
            let across = runs.filter({ $0 <= columns }).min(by: { (columns + $0 - 1) / $0 * $0 < (columns + $1 - 1) / $1 * $1 })
        else { return nil }
        return SeparablePair(
            depthwise: first, pointwise: second, across: across, vectors: output[1] > width ? 2 : 1, width: width,
            shape: SeparableShape(
                images: output[0], rows: output[2], columns: columns, channels: channels, outputs: output[1], kernel: Size2D(kernel[2], kernel[3]),
                strides: depthwise.strides, storedType: storedType))
    }

    /// Emits the one launch of a pair as part of the current step.
    func emitSeparable(_ pair: SeparablePair) throws {
        guard let depthwise = pair.depthwise.op as? Convolution, let pointwise = pair.pointwise.op as? Convolution else { return }
        enter(pair.depthwise)
        let (depthWeights, depthBias) = (try constant(1), depthwise.hasBias ? try constant(2) : nil)
        var x = try input(0)
        if !x.hasUnitChannelStride { x = try dense(x, order: DeviceTensor.channelsLast(4)) }
        x = x.withUnitChannelStride
        enter(pair.pointwise)
        let (weights, bias) = (try constant(1), pointwise.hasBias ? try constant(2) : nil)
        let out = try makeTensor(outputShape().dims, order: DeviceTensor.channelsLast(4), type: storedType)
        let residual = try pointwise.residualIndex.map { try dense(try input($0), order: DeviceTensor.channelsLast(4), type: storedType) }
        let constants = try withExtendedLifetime((depthWeights, depthBias, weights, bias)) {
            try separableConstants(pair, depthWeights, depthBias, weights, bias)
        }
        let (before, after) = (Activation(depthwise.activation).asClamp, Activation(pointwise.activation).asClamp)
        let (channels, outputs, panelWidth) = (x.dims[1], out.dims[1], pair.vectors * pair.width)
        let (rows, runs) = (out.dims[0] * out.dims[2], (out.dims[3] + pair.across - 1) / pair.across)
        let parts = max(1, min(runs, (style.computeUnits * 8 + rows - 1) / rows))
        let (kh, kw, other) = (depthWeights.shape[2], depthWeights.shape[3], residual ?? out)
        let macros = [
            "S": storedType.rawValue, "X_T": x.type.rawValue, "VW": "\(pair.width)", "NV": "\(pair.vectors)", "TX": "\(pair.across)", "KH": "\(kh)",
            "KW": "\(kw)", "SW": "\(depthwise.strides.width)", "CMAX": channels <= 64 ? "64" : channels <= 256 ? "256" : "\(Self.maximumChannels)",
            "ACT_CLAMP": "",
        ]
        launch(
            .separable, "nt_separable", macros: macros,
            [.storage(x.storage)] + constants.map { .storage($0) } + [
                .storage(other.storage), .storage(out.storage), .int(channels), .int(outputs), .int((outputs + panelWidth - 1) / panelWidth),
                .int(parts), .int(residual == nil ? 0 : 1), .int(x.offset), .int(out.offset), .int(other.offset), .int(x.strides[0]),
                .int(x.strides[2]), .int(x.strides[3]), .int(out.pixelStride), .int(other.pixelStride), .int(rows), .int(x.dims[2]),
                .int(x.dims[3]), .int(out.dims[2]), .int(out.dims[3]), .int(depthwise.strides.height), .int(depthwise.padding.top),
                .int(depthwise.padding.left), .float(before.p), .float(before.q), .float(after.p), .float(after.q),
            ],
            range: range([rows, parts]), reads: [x] + (residual.map { [$0] } ?? []), writes: [out],
            replaceable: residual.map { [$0] } ?? [], label: "separable \(kh)x\(kw) \(pair.across)x\(panelWidth)")
        explain(
            "two convolutions in one kernel: what lies between them stays in the core"
                + (pair.isTuned ? "; measured on this device to be faster" : ""))
        bind(out)
    }

    /// Depthwise weights and bias, pointwise weights and bias.
    private func separableConstants(
        _ pair: SeparablePair, _ depthWeights: Tensor, _ depthBias: Tensor?, _ weights: Tensor, _ bias: Tensor?
    ) throws -> [Int] {
        let (channels, outputs, panelWidth) = (depthWeights.shape[0], weights.shape[0], pair.vectors * pair.width)
        return [
            try constantStorage(
                WeightPacking.tapsFirst(depthWeights.floats, channels: channels, taps: depthWeights.shape[2] * depthWeights.shape[3]),
                type: storedType),
            try constantStorage(WeightPacking.biasPanels(depthBias?.floats, groups: 1, outputs: channels, panelWidth: 1)),
            try constantStorage(
                WeightPacking.panels(
                    weights.floats, groups: 1, outputs: outputs, channels: channels, taps: 1, panelWidth: panelWidth,
                    index: { o, c, _ in o * channels + c }), type: storedType),
            try constantStorage(WeightPacking.biasPanels(bias?.floats, groups: 1, outputs: outputs, panelWidth: panelWidth)),
        ]
    }
}
