import NTGraph
import NTTensor

/// Convolutions and what runs as one: dense layers, products with constant matrices.
extension PartitionCompiler {
    /// A convolution in numbers: x [N, C, H, W] by any strides to out [N, O, OH, OW] with evenly spaced pixels.
    struct Convolving {
        var x: DeviceTensor
        var out: DeviceTensor
        var residual: DeviceTensor?
        var weights: UnsafeBufferPointer<Float>
        var bias: UnsafeBufferPointer<Float>?
        var groups = 1
        var kernel = Size2D.one
        var strides = Size2D.one
        var dilations = Size2D.one
        var padding = Padding2D.zero
        var activation: Activation
        /// Where the weight of an output channel, a channel of its group and a tap lies in `weights`.
        var weightIndex: (_ output: Int, _ channel: Int, _ tap: Int) -> Int

        var outputs: Int { out.dims[1] / groups }
        var channels: Int { x.dims[1] / groups }
        var pixels: Int { out.dims[0] * out.dims[2] * out.dims[3] }
        /// Pixels of a row of the output; all of them where they are one even run.
        var rowLength: Int { isPointwise ? pixels : out.dims[3] }

        /// Whether tiles of `rows` pixels keep to rows of the output: where that takes at most a quarter more of them.
        func isInLines(_ rows: Int) -> Bool {
            rows <= rowLength && ((rowLength + rows - 1) / rows * rows - rowLength) * 4 <= rowLength
        }

        /// Tiles of `rows` pixels that cover the output.
        func tiles(of rows: Int) -> Int {
            isInLines(rows) ? pixels / rowLength * ((rowLength + rows - 1) / rows) : (pixels + rows - 1) / rows
        }

        /// Whether every output pixel reads one input pixel, and these are evenly spaced.
        var isPointwise: Bool {
            kernel == .one && strides == .one && padding.isZero && groups == 1 && x.strides[1] == 1
                && x.reshapedRows != nil
        }
    }

    func emitConvolution(_ op: Convolution) throws {
        let weights = try constant(1)
        let bias = op.hasBias ? try constant(2) : nil
        let (shape, kernel) = (outputShape(), weights.shape)
        var x = try input(0)
        let isDepthwise = op.groups > 1 && kernel[1] == 1 && kernel[0] == op.groups
        // The kernels read any strides with unit channel stride; a few planar channels (images as they come) are read where they lie.
        if !x.hasUnitChannelStride, isDepthwise || op.groups > 1 || x.dims[1] > 4 || op.isPointwiseKernel(kernel) {
            x = try dense(x, order: DeviceTensor.channelsLast(4))
        }
        x = x.withUnitChannelStride
        let out = try makeTensor(shape.dims, order: DeviceTensor.channelsLast(4), type: storedType)
        var residual: DeviceTensor?
        if let index = op.residualIndex { residual = try dense(try input(index), order: DeviceTensor.channelsLast(4), type: storedType) }
        if isDepthwise, residual == nil {
            try emitDepthwise(op, x: x, weights: weights, bias: bias, out: out)
        } else {
            let (depth, taps) = (kernel[1], kernel[2] * kernel[3])
            try withExtendedLifetime((weights, bias)) {
                try emitConvolving(
                    Convolving(
                        x: x, out: out, residual: residual, weights: weights.floats, bias: bias?.floats, groups: op.groups,
                        kernel: Size2D(kernel[2], kernel[3]), strides: op.strides, dilations: op.dilations, padding: op.padding,
                        activation: Activation(op.activation), weightIndex: { ($0 * depth + $1) * taps + $2 }))
            }
        }
        bind(out)
    }

    func emitDense(_ op: Dense) throws {
        let weights = try constant(1)
        let bias = op.hasBias ? try constant(2) : nil
        let depth = weights.shape[1]
        try withExtendedLifetime((weights, bias)) {
            try emitRows(
                outputs: weights.shape[0], depth: depth, weights: weights.floats, bias: bias?.floats,
                activation: Activation(op.activation), weightIndex: { o, c, _ in o * depth + c })
        }
    }

    /// Rows [..., K] of input 0 times a constant matrix: a 1x1 convolution over as many pixels.
    func emitRows(
        outputs: Int, depth: Int, weights: UnsafeBufferPointer<Float>, bias: UnsafeBufferPointer<Float>?, activation: Activation,
        weightIndex: @escaping (_ output: Int, _ channel: Int, _ tap: Int) -> Int
    ) throws {
        let shape = outputShape()
        let rows = shape.count / max(1, outputs)
        let source = try input(0)
        var x = try dense(source, order: DeviceTensor.rowMajor(source.rank))
        (x.dims, x.strides) = ([1, depth, 1, rows], [rows * depth, 1, rows * depth, depth])
        let out = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: storedType)
        var pixels = out
        (pixels.dims, pixels.strides) = ([1, outputs, 1, rows], [rows * outputs, 1, rows * outputs, outputs])
        try emitConvolving(
            Convolving(
                x: x, out: pixels, residual: nil, weights: weights, bias: bias, activation: activation, weightIndex: weightIndex))
        bind(out)
    }

    func emitConvolving(_ c: Convolving) throws {
        guard c.out.count > 0 else { return }
        let shape = ConvolutionShape(
            pixels: c.pixels, rowLength: c.rowLength, outputs: c.outputs, channels: c.channels, taps: c.kernel.height * c.kernel.width,
            groups: c.groups,
            storedType: storedType)
        var tuned = tuning.tile(for: shape, style: style)
        if case .shared = tuned, !c.isPointwise { tuned = nil }
        let tile = tuned ?? ConvolutionTile.standard(shape, style: style, isPointwise: c.isPointwise)
        note(tile, for: shape)
        explain(tuned == nil ? "the default tile for \(style.summary)" : "the tile tuned on this device")
        let panels = (c.outputs + tile.panelWidth - 1) / tile.panelWidth
        var macros = ["S": storedType.rawValue, "X_T": c.x.type.rawValue]
        switch tile {
        case .registers(let rows, let vectors, let width):
            macros.merge(["TM": "\(rows)", "NV": "\(vectors)", "VW": "\(width)"]) { $1 }
            if c.isPointwise {
                macros["POINTWISE"] = ""
            } else if c.x.strides[1] != 1 {
                macros["PLANAR"] = ""
            }
            let tiles = c.tiles(of: rows)
            if c.isInLines(rows) { macros["LINE"] = "" }
            // A work-item is worth some microseconds of arithmetic, as long as every core gets several.
            let work = rows * tile.panelWidth * c.channels * shape.taps
            let span = max(
                1, min(tiles * panels * c.groups / (style.computeUnits * 16), (1 << 19) / max(1, work), tiles))
            try launchConvolution(
                .convolution, c, macros: macros, panelWidth: tile.panelWidth, panels: panels, span: span,
                range: range([(tiles + span - 1) / span, panels * c.groups]),
                label: "\(c.isPointwise ? "gemm" : "convolution") \(rows)x\(tile.panelWidth)")
        case .local(let side, let rows, let columns, let depth, let splits):
            macros.merge(["LX": "\(side)", "LY": "\(side)", "RM": "\(rows)", "RN": "\(columns)", "BK": "\(depth)", "VW": "4", "ALIGNED": ""]) { $1 }
            if c.isPointwise { macros["POINTWISE"] = "" }
            if c.x.strides[1] == 1, c.channels % 4 == 0, c.x.isAligned { macros["X_VECTORS"] = "" }
            if c.outputs % 4 == 0, c.out.isAligned, c.residual?.isAligned ?? true { macros["Y_VECTORS"] = "" }
            let stages = (c.channels * shape.taps + depth - 1) / depth
            let span = max(1, (stages + splits - 1) / splits)
            let places = max(1, (stages + span - 1) / span)
            let groups = (c.pixels + side * rows - 1) / (side * rows)
            let range = ([groups * side, panels * c.groups * side, places], [side, side, 1])
            let label = "tiled gemm \(side * rows)x\(tile.panelWidth)"
            guard places > 1 else {
                try launchConvolution(
                    .convolutionTiled, c, macros: macros, panelWidth: tile.panelWidth, panels: panels, span: span, range: range, label: label)
                return
            }
            macros["SPLIT"] = ""
            try launchSplitConvolution(
                c, macros: macros, panelWidth: tile.panelWidth, panels: panels, span: span, places: places, range: range, label: label)
        case .shared(let items, let columns): try launchShared(c, items: items, columns: columns)
        }
    }

    /// The launch whose groups' items share each inner product of all pixels.
    private func launchShared(_ c: Convolving, items: Int, columns: Int) throws {
        let (x, out, residual) = (c.x, c.out, c.residual ?? c.out)
        let activation = c.activation.asClamp
        var macros = [
            "S": storedType.rawValue, "X_T": x.type.rawValue, "RM": "\(c.pixels)", "RN": "\(columns)", "VW": "4", "ALIGNED": "",
        ]
        if c.channels % 4 == 0, x.isAligned { macros["X_VECTORS"] = "" }
        if let macro = activation.macro { macros[macro] = "" }
        let weights = try constantStorage(
            WeightPacking.rows(c.weights, outputs: c.outputs, channels: c.channels, panelWidth: columns, index: c.weightIndex), type: storedType)
        let bias = try constantStorage(WeightPacking.biasPanels(c.bias, groups: 1, outputs: c.outputs, panelWidth: columns))
        launch(
            style.sharing(.dense, macros: macros, group: items), "nt_dense",
            [
                .storage(x.storage), .storage(weights), .storage(bias), .storage(residual.storage), .storage(out.storage), .int(c.outputs),
                .int(c.channels), .int(c.residual == nil ? 0 : 1), .int(x.offset), .int(out.offset), .int(residual.offset),
                .int(x.reshapedRows ?? x.strides[3]), .int(out.pixelStride), .int(residual.pixelStride), .float(activation.p), .float(activation.q),
            ],
            range: ([(c.outputs + columns - 1) / columns * items], [items]), reads: [x] + (c.residual.map { [$0] } ?? []), writes: [out],
            replaceable: c.residual.map { [$0] } ?? [], label: "shared gemm \(c.pixels)x\(columns)")
    }

    /// The launch whose groups share each inner product among `places`, and the one that adds what they leave.
    private func launchSplitConvolution(
        _ c: Convolving, macros: [String: String], panelWidth: Int, panels: Int, span: Int, places: Int,
        range: (global: [Int], local: [Int]), label: String
    ) throws {
        let columns = panels * c.groups * panelWidth
        let partial = try makeTensor([places, c.pixels, columns], order: DeviceTensor.rowMajor(3), type: .float)
        let convolution = try launchConvolution(
            .convolutionTiled, c, into: partial, macros: macros, panelWidth: panelWidth, panels: panels, span: span, range: range,
            label: "\(label), \(places) parts")
        let (out, residual) = (c.out, c.residual ?? c.out)
        launch(
            .convolutionTiled, "nt_convolution_sum", macros: convolution.macros,
            [
                .storage(partial.storage), .storage(convolution.bias), .storage(residual.storage), .storage(out.storage), .int(c.pixels),
                .int(c.outputs), .int(panels), .int(places), .int(columns), .int(c.residual == nil ? 0 : 1), .int(out.offset),
                .int(residual.offset), .int(out.pixelStride), .int(residual.pixelStride), .float(convolution.activation.p),
                .float(convolution.activation.q),
            ],
            range: self.range([columns / 4, c.pixels]), reads: [partial] + (c.residual.map { [$0] } ?? []), writes: [out],
            replaceable: c.residual.map { [$0] } ?? [], label: "sum")
    }

    /// What a launch of a convolution was made of.
    private typealias Launched = (macros: [String: String], bias: Int, activation: Activation)

    /// Launches a convolution into its output, or its sums alone into `partial`.
    @discardableResult
    private func launchConvolution(
        _ source: KernelSource, _ c: Convolving, into partial: DeviceTensor? = nil, macros: [String: String], panelWidth: Int, panels: Int,
        span: Int, range: (global: [Int], local: [Int]), label: String
    ) throws -> Launched {
        var macros = macros
        let activation = c.activation.asClamp
        if let macro = activation.macro { macros[macro] = "" }
        let weights = try constantStorage(
            WeightPacking.panels(
                c.weights, groups: c.groups, outputs: c.outputs, channels: c.channels, taps: c.kernel.height * c.kernel.width,
                panelWidth: panelWidth, index: c.weightIndex), type: storedType)
        let bias = try constantStorage(
            WeightPacking.biasPanels(c.bias, groups: c.groups, outputs: c.outputs, panelWidth: panelWidth))
        let zeros = c.isPointwise ? c.x.storage : try zeros(c.channels, type: c.x.type)
        let (x, out) = (c.x, partial ?? c.out)
        let added = partial == nil ? c.residual : nil
        let residual = added ?? out
        let pixelStride = c.isPointwise ? x.reshapedRows ?? x.strides[3] : x.strides[3]
        launch(
            source, "nt_convolution", macros: macros,
            [
                .storage(x.storage), .storage(weights), .storage(bias), .storage(residual.storage), .storage(out.storage),
                .storage(zeros), .int(c.pixels), .int(c.outputs), .int(c.channels), .int(panels), .int(span), .int(added == nil ? 0 : 1),
                .int(x.offset), .int(out.offset), .int(residual.offset), .int(x.strides[0]), .int(x.strides[2]), .int(pixelStride),
                .int(x.strides[1]), .int(c.out.pixelStride), .int((added ?? c.out).pixelStride), .int(x.dims[2]), .int(x.dims[3]),
                .int(c.out.dims[2]), .int(c.out.dims[3]), .int(c.kernel.height), .int(c.kernel.width), .int(c.strides.height),
                .int(c.strides.width), .int(c.dilations.height), .int(c.dilations.width), .int(c.padding.top),
                .int(c.padding.left), .float(activation.p), .float(activation.q),
            ],
            range: range, reads: [x] + (added.map { [$0] } ?? []), writes: [out],
            replaceable: added.map { [$0] } ?? [], label: label)
        return (macros, bias, activation)
    }
}

extension Convolution {
    /// Whether it multiplies single pixels.
    func isPointwiseKernel(_ weights: Shape) -> Bool { weights[2] == 1 && weights[3] == 1 }
}

extension DeviceTensor {
    /// Whether a rank-4 tensor's channels are neighbours.
    var hasUnitChannelStride: Bool { dims[1] == 1 || strides[1] == 1 }

    /// The same with the stride of a single channel said to be 1.
    var withUnitChannelStride: DeviceTensor {
        var result = self
        if dims[1] == 1 { result.strides[1] = 1 }
        return result
    }

    /// How far apart the pixels of a rank-4 tensor lie when N, H, W are one even run; nil when they are not.
    var reshapedRows: Int? {
        let space = IterationSpace(dims: [dims[0], dims[2], dims[3]], operands: [[strides[0], strides[2], strides[3]]], order: [0, 1, 2])
        return space.dims.count == 1 && space.dims[0] == dims[0] * dims[2] * dims[3] ? space.innerStride(0) : nil
    }

    /// How far apart the pixels of a result lie; results are laid out evenly.
    var pixelStride: Int { reshapedRows ?? strides[3] }
}
