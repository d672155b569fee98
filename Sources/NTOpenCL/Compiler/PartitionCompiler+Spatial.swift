import NTGraph
import NTTensor

/// Resizing, padding, picking, and normalisation across channels.
extension PartitionCompiler {
    /// A tensor as dense [outer][extent][inner] around an axis, channels last where it lies so already and the axis is the channel's.
    private func denseAround(_ x: DeviceTensor, axis: Int) throws -> (x: DeviceTensor, inner: Int) {
        if x.rank == 4, axis == 1, x.isDense(order: DeviceTensor.channelsLast(4)) { return (x, 1) }
        let x = try dense(x, order: DeviceTensor.rowMajor(x.rank))
        return (x, x.dims[(axis + 1)...].reduce(1, *))
    }

    func emitLRN(_ op: LocalResponseNormalization) throws {
        let (x, inner) = try denseAround(try input(0), axis: 1)
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        launch(
            .spatial, "nt_lrn", macros: ["SPATIAL_LRN": "", "X_T": x.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(x.storage), .storage(out.storage), .int(x.count), .int(x.dims[1]), .int(inner), .int(op.size),
                .float(op.alpha / Float(op.size)), .float(op.beta), .float(op.k),
            ],
            range: range(items: x.count), reads: [x], writes: [out], label: "lrn \(op.size)")
        bind(out)
    }

    func emitResize(_ op: Resize) throws {
        let source = try input(0)
        let rank = source.rank
        let isChannelsLast = rank == 4 && source.isDense(order: DeviceTensor.channelsLast(4))
        let order = isChannelsLast ? DeviceTensor.channelsLast(4) : DeviceTensor.rowMajor(rank)
        let x = try dense(source, order: order)
        let out = try makeTensor(outputShape().dims, order: order, type: x.type)
        bind(out)
        let (height, width) = (x.dims[rank - 2], x.dims[rank - 1])
        let rows = op.taps(input: height, output: op.size.height, vertical: true)
        let columns = op.taps(input: width, output: op.size.width, vertical: false)
        let places = try constantStorage((rows + columns).flatMap { [Int32($0.low), Int32($0.high)] })
        let weights = try constantStorage((rows + columns).map { Float($0.weight) })
        var macros = ["SPATIAL_RESIZE": "", "X_T": x.type.rawValue, "OUT_T": out.type.rawValue]
        if op.mode == .nearest { macros["RESIZE_NEAREST"] = "" }
        launch(
            .spatial, "nt_resize", macros: macros,
            [
                .storage(x.storage), .storage(out.storage), .storage(places), .storage(weights), .int(out.count), .int(height),
                .int(width), .int(op.size.height), .int(op.size.width), .int(isChannelsLast ? x.dims[1] : 1),
            ],
            range: range(items: out.count), reads: [x], writes: [out], label: "resize \(op.mode.rawValue)")
    }

    func emitPad(_ op: Pad) throws {
        let x = try input(0)
        let dims = outputShape().dims
        let out = try makeTensor(dims, order: x.count > 0 ? x.denseOrder : DeviceTensor.rowMajor(x.rank), type: x.type)
        bind(out)
        guard out.count > 0 else { return }
        // A table per axis of where each output place reads. Tables hold no negative offsets, so a window that runs backwards is copied first.
        let source = x.strides.contains { $0 < 0 } ? try dense(x, order: DeviceTensor.rowMajor(x.rank)) : x
        var (tables, meta): ([Int32], [Int32]) = ([], [])
        for axis in out.memoryOrder {
            meta += [Int32(dims[axis]), Int32(tables.count)]
            let last = x.dims[axis] - 1
            tables += (0..<dims[axis]).map { place in
                let index = place - op.before[axis]
                if index >= 0, index <= last { return Int32(index * source.strides[axis]) }
                switch op.mode {
                case .constant: return -1
                case .reflection: return Int32((index < 0 ? -index : 2 * last - index) * source.strides[axis])
                case .replication: return Int32((index < 0 ? 0 : last) * source.strides[axis])
                }
            }
        }
        var filler: Float = 0
        if case .constant(let value) = op.mode { filler = value }
        launch(
            .spatial, "nt_remap", macros: ["SPATIAL_REMAP": "", "X_T": source.type.rawValue, "OUT_T": out.type.rawValue],
            [
                .storage(source.storage), .storage(out.storage), .storage(try constantStorage(meta)),
                .storage(try constantStorage(tables)), .int(out.count), .int(dims.count), .int(source.offset), .float(filler),
            ],
            range: range(items: out.count), reads: [source], writes: [out], label: "pad")
    }

    func emitGather(_ op: Gather) throws {
        let axis = try OperatorError.normalizedAxis(op.axis, rank: inputShape(0).rank)
        let extent = inputShape(0)[axis]
        if let indices = graph.constant(node.inputs[1]) {
            for value in indices.floats {
                guard let index = Int(exactly: value), (-extent..<extent).contains(index) else {
                    throw GraphError(layer: node.name, "Gather: index \(value) lies outside extent \(extent)")
                }
            }
        }
        let source = try input(0)
        let x = try dense(source, order: DeviceTensor.rowMajor(source.rank))
        let picked = try input(1)
        let indices = try dense(picked, order: DeviceTensor.rowMajor(picked.rank))
        let shape = outputShape()
        let out = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: x.type)
        let status = try indexStatus()
        launch(
            .spatial, "nt_gather",
            macros: [
                "SPATIAL_GATHER": "", "X_T": x.type.rawValue, "I_T": indices.type.rawValue, "OUT_T": out.type.rawValue,
            ],
            [
                .storage(x.storage), .storage(indices.storage), .storage(out.storage), .storage(status), .int(out.count),
                .int(extent), .int(indices.count), .int(x.dims[(axis + 1)...].reduce(1, *)),
            ],
            range: range(items: out.count), reads: [x, indices], writes: [out], label: "gather")
        bind(out)
    }
}
