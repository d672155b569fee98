import NTGraph
import NTTensor

/// Operators that pick or place elements by computed indices, and running sums: `picking.cl`, on dense row-major tensors.
extension PartitionCompiler {
    private func plain(_ index: Int) throws -> DeviceTensor {
        let tensor = try input(index)
        return try dense(tensor, order: DeviceTensor.rowMajor(tensor.rank))
    }

    private func plainOutput(_ type: ElementType) throws -> DeviceTensor {
        let shape = outputShape()
        return try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: type)
    }

    /// Extents and strides of a dense shape's first axes, as the kernels read them.
    private func coordinates(_ shape: Shape, depth: Int) throws -> Int {
        try constantStorage((0..<depth).flatMap { [Int32(shape[$0]), Int32(clamping: shape.strides[$0])] })
    }

    func emitGatherAlong(_ op: GatherAlongAxis) throws {
        let (x, indices) = (try plain(0), try plain(1))
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let inner = x.dims[(axis + 1)...].reduce(1, *)
        let out = try plainOutput(x.type)
        launch(
            .picking, "nt_gather_along",
            macros: ["PICK_ALONG": "", "X_T": x.type.rawValue, "I_T": indices.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(x.storage), .storage(indices.storage), .storage(out.storage), .storage(try indexStatus()), .int(out.count),
                .int(x.dims[axis]), .int(inner), .int(max(1, indices.dims[axis] * inner)),
            ], range: range(items: out.count), reads: [x, indices], writes: [out], label: "gather along")
        bind(out)
    }

    func emitGatherND() throws {
        let (x, indices) = (try plain(0), try plain(1))
        let depth = indices.dims[indices.rank - 1]
        let out = try plainOutput(x.type)
        launch(
            .picking, "nt_gather_nd",
            macros: ["PICK_ND": "", "X_T": x.type.rawValue, "I_T": indices.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(x.storage), .storage(indices.storage), .storage(out.storage), .storage(try indexStatus()),
                .storage(try coordinates(inputShape(0), depth: depth)), .int(out.count), .int(depth),
                .int(max(1, x.dims[depth...].reduce(1, *))),
            ], range: range(items: out.count), reads: [x, indices], writes: [out], label: "gather nd")
        bind(out)
    }

    func emitScatter(_ op: Scatter) throws {
        let (source, indices, updates) = (try input(0), try plain(1), try plain(2))
        let out = try plainOutput(source.type)
        try emitPointwise([source], into: out)
        bind(out)
        let status = try indexStatus()
        let modes = ["UPDATE", "ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "MAXIMUM", "MINIMUM"]
        var macros = [
            "SCATTER": "", "SCATTER_\(modes[op.mode.rawValue])": "", "I_T": indices.type.rawValue, "U_T": updates.type.rawValue,
            "OUT_T": out.type.rawValue,
        ]
        let head: [KernelArgument] = [
            .storage(indices.storage), .storage(updates.storage), .storage(out.storage), .storage(status),
        ]
        switch op.addressing {
        case .slices(let axis), .elements(let axis):
            let axis = try OperatorError.normalizedAxis(axis, rank: out.rank)
            if case .elements = op.addressing { macros["SCATTER_ELEMENTS"] = "" }
            let inner = out.dims[(axis + 1)...].reduce(1, *)
            let lanes = out.dims[..<axis].reduce(1, *) * inner
            launch(
                .picking, "nt_scatter", macros: macros,
                head + [.int(lanes), .int(out.dims[axis]), .int(max(1, inner)), .int(updates.dims[axis])], range: range(items: lanes),
                reads: [indices, updates, out], writes: [out], label: "scatter")
        case .coordinates:
            let depth = indices.dims[indices.rank - 1]
            let inner = out.dims[depth...].reduce(1, *)
            launch(
                .picking, "nt_scatter_nd", macros: macros,
                head + [
                    .storage(try coordinates(outputShape(), depth: depth)), .int(inner), .int(indices.count / max(1, depth)), .int(depth),
                ], range: range(items: inner), reads: [indices, updates, out], writes: [out], label: "scatter nd")
        }
    }

    func emitCumulativeSum(_ op: CumulativeSum) throws {
        let x = try plain(0)
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let inner = x.dims[(axis + 1)...].reduce(1, *)
        let lanes = x.dims[..<axis].reduce(1, *) * inner
        let out = try plainOutput(x.type)
        launch(
            .picking, "nt_cumulative", macros: ["CUMULATIVE": "", "X_T": x.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(x.storage), .storage(out.storage), .int(lanes), .int(x.dims[axis]), .int(max(1, inner)),
                .int(op.isExclusive ? 1 : 0), .int(op.isReversed ? 1 : 0),
            ], range: range(items: lanes), reads: [x], writes: [out], label: "cumulative sum")
        bind(out)
    }

    func emitReverseSequence(_ op: ReverseSequence) throws {
        let (x, lengths) = (try plain(0), try plain(1))
        let batch = try OperatorError.normalizedAxis(op.batchAxis, rank: x.rank)
        let sequence = try OperatorError.normalizedAxis(op.sequenceAxis, rank: x.rank)
        let strides = inputShape(0).strides
        let out = try plainOutput(x.type)
        launch(
            .picking, "nt_reverse_sequence",
            macros: ["REVERSE_SEQUENCE": "", "X_T": x.type.rawValue, "I_T": lengths.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(x.storage), .storage(lengths.storage), .storage(out.storage), .storage(try indexStatus()), .int(out.count),
                .int(strides[batch]), .int(x.dims[batch]), .int(strides[sequence]), .int(x.dims[sequence]),
            ], range: range(items: out.count), reads: [x, lengths], writes: [out], label: "reverse sequence")
        bind(out)
    }

    func emitCropResize(_ op: CropResize) throws {
        let (x, boxes) = (try plain(0), try plain(1))
        let out = try plainOutput(x.type)
        var macros = [
            "CROP_RESIZE": "", "SAMPLING": "\(op.sampling.rawValue)", "X_T": x.type.rawValue, "I_T": boxes.type.rawValue,
            "OUT_T": out.type.rawValue,
        ]
        if op.format == .cornersHeightFirst || op.format == .centerHeightFirst { macros["HEIGHT_FIRST"] = "" }
        if op.format == .centerHeightFirst || op.format == .centerWidthFirst { macros["CENTERED"] = "" }
        let (height, width) = (x.dims[2], x.dims[3])
        launch(
            .picking, "nt_crop_resize", macros: macros,
            [
                .storage(x.storage), .storage(boxes.storage), .storage(out.storage), .storage(try indexStatus()), .int(out.count),
                .int(max(1, x.dims[0])), .int(max(1, x.dims[1])), .int(height), .int(width), .int(op.size.height), .int(op.size.width),
                .int(boxes.dims[1]), .float(op.spatialScale * (op.isNormalized ? Float(height - 1) : 1)),
                .float(op.spatialScale * (op.isNormalized ? Float(width - 1) : 1)),
            ], range: range(items: out.count), reads: [x, boxes], writes: [out], label: "crop and resize")
        bind(out)
    }
}
