import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Operators whose indices or boxes are values, as the last layers of detectors have them, and functions along sequences.
extension PlanBuilder {
    mutating func emitSelection(_ node: Node) throws {
        switch node.op {
        case let op as GatherAlongAxis:
            let elements = try self.elements(of: shape(node.inputs[1]), in: shape(node.inputs[0]), axis: op.axis)
            try emitPicking(nt_step_gather_elements, store.keep(elements), node, kernel: "gather elements")
        case is GatherND:
            let slices = coordinates(of: shape(node.inputs[1]), in: shape(node.inputs[0]))
            try emitPicking(nt_step_gather_slices, store.keep(slices), node, kernel: "gather slices")
        case let op as Scatter: try emitScatter(op, node)
        case let op as CumulativeSum: try emitRunningSum(op, node)
        case let op as ReverseSequence: try emitReverseSequence(op, node)
        case let op as CropResize: try emitCropResize(op, node)
        default: throw GraphError(layer: node.name, "the cpu backend has no kernel for \(node.op.kind)")
        }
    }

    /// A step over inputs and an output in logical order.
    private mutating func emitPicking(_ run: @escaping nt_step_fn, _ parameters: UnsafeRawPointer, _ node: Node, kernel: String) throws {
        var sources: [Placement] = []
        for id in node.inputs { sources.append(try asRowMajor(id)) }
        let target = place(node.outputs[0], asPixels: false)
        append(run, parameters, inputs: sources, outputs: [target], description: describe([node], kernel: kernel))
    }

    /// Elements of shape `picked` along an axis of `x`.
    private func elements(of picked: Shape, in x: Shape, axis: Int) throws -> nt_elements {
        let axis = try OperatorError.normalizedAxis(axis, rank: x.rank)
        let (_, extent, inner) = StridedLoop.split(x, axis: axis)
        return nt_elements(count: picked.count, run: picked[axis] * inner, extent: extent, inner: inner)
    }

    private func coordinates(of indices: Shape, in x: Shape) -> nt_coordinates {
        let depth = indices[indices.rank - 1]
        var result = nt_coordinates()
        (result.rows, result.depth, result.inner) = (indices.count / depth, depth, x.dims[depth...].reduce(1, *))
        CArray.assign(Array(x.dims[..<depth]), to: &result.extents)
        CArray.assign(x.strides, to: &result.strides)
        return result
    }

    private mutating func emitScatter(_ op: Scatter, _ node: Node) throws {
        let (x, indices, updates) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.inputs[2]))
        var scatter = nt_scatter()
        scatter.count = x.count
        let modes: [Scatter.Mode: Int] = [
            .update: NT_SCATTER_UPDATE, .add: NT_SCATTER_ADD, .subtract: NT_SCATTER_SUBTRACT, .multiply: NT_SCATTER_MULTIPLY,
            .divide: NT_SCATTER_DIVIDE, .maximum: NT_SCATTER_MAXIMUM, .minimum: NT_SCATTER_MINIMUM,
        ]
        guard let mode = modes[op.mode] else { throw OperatorError("scatter mode \(op.mode) has no kernel") }
        scatter.mode = Int32(mode)
        switch op.addressing {
        case .slices(let axis):
            scatter.addressing = Int32(NT_SCATTER_SLICES)
            scatter.elements = try elements(of: updates, in: x, axis: axis)
        case .elements(let axis):
            scatter.addressing = Int32(NT_SCATTER_ELEMENTS)
            scatter.elements = try elements(of: updates, in: x, axis: axis)
        case .coordinates:
            scatter.addressing = Int32(NT_SCATTER_COORDINATES)
            scatter.coordinates = coordinates(of: indices, in: x)
        }
        try emitPicking(nt_step_scatter, store.keep(scatter), node, kernel: "scatter")
    }

    private mutating func emitRunningSum(_ op: CumulativeSum, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let (outer, extent, inner) = StridedLoop.split(x, axis: try OperatorError.normalizedAxis(op.axis, rank: x.rank))
        let sum = nt_running_sum(
            outer: outer, extent: extent, inner: inner, is_exclusive: op.isExclusive ? 1 : 0, is_reversed: op.isReversed ? 1 : 0)
        try emitPicking(nt_step_running_sum, store.keep(sum), node, kernel: "running sum")
    }

    private mutating func emitReverseSequence(_ op: ReverseSequence, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let batch = try OperatorError.normalizedAxis(op.batchAxis, rank: x.rank)
        let sequence = try OperatorError.normalizedAxis(op.sequenceAxis, rank: x.rank)
        let reverse = nt_reverse_sequence(
            count: x.count, batch_stride: x.strides[batch], batch_extent: x[batch], sequence_stride: x.strides[sequence],
            sequence_extent: x[sequence])
        try emitPicking(nt_step_reverse_sequence, store.keep(reverse), node, kernel: "reverse sequence")
    }

    private mutating func emitCropResize(_ op: CropResize, _ node: Node) throws {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let (image, boxes) = (try placement(node.inputs[0]), try asRowMajor(node.inputs[1]))
        let isPixels = image.rowMajorView(x) == nil
        let source = isPixels ? image : try asRowMajor(node.inputs[0])
        let target = place(node.outputs[0], asPixels: isPixels)
        let (from, to) = (source.strides(x), target.strides(y))
        var crop = nt_crop_resize()
        (crop.items, crop.images, crop.fields) = (y[0], x[0], shape(node.inputs[1])[1])
        (crop.channels, crop.height, crop.width, crop.out_height, crop.out_width) = (x[1], x[2], x[3], y[2], y[3])
        crop.sampling =
            switch op.sampling {
            case .strictAlignEndpoints: Int32(NT_SAMPLE_STRICT_ENDPOINTS)
            case .alignEndpoints: Int32(NT_SAMPLE_ENDPOINTS)
            case .upsample: Int32(NT_SAMPLE_UPSAMPLE)
            case .regionAlign: Int32(NT_SAMPLE_REGIONS)
            }
        crop.height_first = op.format == .cornersHeightFirst || op.format == .centerHeightFirst ? 1 : 0
        crop.is_centered = op.format == .centerHeightFirst || op.format == .centerWidthFirst ? 1 : 0
        let scale = Double(op.spatialScale)
        (crop.scale_y, crop.scale_x) = op.isNormalized ? (scale * Double(x[2] - 1), scale * Double(x[3] - 1)) : (scale, scale)
        (crop.x_image_stride, crop.x_channel_stride, crop.x_row_stride, crop.x_column_stride) = (from[0], from[1], from[2], from[3])
        (crop.y_image_stride, crop.y_channel_stride, crop.y_row_stride, crop.y_column_stride) = (to[0], to[1], to[2], to[3])
        append(
            nt_step_crop_resize, store.keep(crop), inputs: [source, boxes], outputs: [target],
            parts: parts(work: y.count, grain: Self.shareElements, limit: y[0] * y[2]), description: describe([node], kernel: "crop and resize"))
    }
}
