import NTGraph
import NTTensor

/// Operators over lanes: reductions, softmax, normalisation, choosing.
extension PartitionCompiler {
    /// The kept and the reduced axes of x and of a result that lies under `out`'s strides (0 or any along reduced axes).
    private struct Lanes {
        var kept: IterationSpace
        var reduced: IterationSpace
        var lanes: Int
        var extent: Int
    }

    private func lanes(of x: DeviceTensor, out strides: [Int], reducing axes: [Int]) -> Lanes {
        let order = x.memoryOrder
        let keptDims = x.dims.indices.map { axes.contains($0) ? 1 : x.dims[$0] }
        let reducedDims = x.dims.indices.map { axes.contains($0) ? x.dims[$0] : 1 }
        return Lanes(
            kept: IterationSpace(dims: keptDims, operands: [x.strides, strides], order: order),
            reduced: IterationSpace(dims: reducedDims, operands: [x.strides, strides], order: order),
            lanes: keptDims.reduce(1, *), extent: reducedDims.reduce(1, *))
    }

    private func launchLanes(
        _ entry: String, macros extra: [String: String], x: DeviceTensor, out: DeviceTensor, outStrides: [Int], axes: [Int],
        parameter: Float = 0, count: Int? = nil, isShared: Bool = true, second: DeviceTensor? = nil, label: String
    ) throws {
        guard out.count > 0 else { return }
        let lanes = lanes(of: x, out: outStrides, reducing: axes)
        // Short lanes have groups of 64, so that few items wait for the longest.
        let extent = lanes.extent
        let group = isShared && extent >= 64 ? style.groupSize(wanted: extent < 256 ? 64 : 256) : 1
        let (kept, reduced) = (lanes.kept, lanes.reduced)
        let meta = try constantStorage((kept.rows(0..<kept.dims.count) + reduced.rows(0..<reduced.dims.count)).map { Int32($0) })
        var macros = extra
        macros["X_T"] = x.type.rawValue
        macros["OUT_T"] = out.type.rawValue
        var arguments: [KernelArgument] = [
            .storage(x.storage), .storage(out.storage), .storage(meta), .int(lanes.lanes), .int(kept.dims.count),
            .int(reduced.dims.count), .int(reduced.outerCount), .int(reduced.innerExtent), .int(reduced.innerStride(0)),
            .int(reduced.innerStride(1)), .int(x.offset), .int(out.offset), .float(parameter), .int(count ?? lanes.extent),
        ]
        if let second { arguments.append(.storage(second.storage)) }
        launch(
            style.sharing(.lanes, macros: macros, group: group), entry, arguments,
            range: group == 1 ? range(items: lanes.lanes) : ([lanes.lanes * group], [group]), reads: [x],
            writes: [out] + (second.map { [$0] } ?? []), label: label)
    }

    /// Strides of a result without the reduced axes, seen with them.
    private func spread(_ out: DeviceTensor, rank: Int, reduced: [Int], keepsDimensions: Bool) -> [Int] {
        if keepsDimensions { return (0..<rank).map { reduced.contains($0) ? 0 : out.strides[$0] } }
        var next = 0
        return (0..<rank).map { axis in
            if reduced.contains(axis) { return 0 }
            defer { next += 1 }
            return out.strides[next]
        }
    }

    func emitReduce(_ op: Reduce) throws {
        var x = try input(0)
        let axes = try op.reducedAxes(rank: x.rank)
        let shape = outputShape()
        if op.function == .mean, x.rank == 4, axes == [2, 3], op.keepsDimensions, x.count > 0, x.hasUnitChannelStride {
            x = x.withUnitChannelStride
            let out = try makeTensor(shape.dims, order: DeviceTensor.channelsLast(4), type: x.type)
            try emitPooling(Pool(.average, kernel: Size2D(x.dims[2], x.dims[3])), x: x, out: out)
            return bind(out)
        }
        let order = op.keepsDimensions && x.rank == 4 ? DeviceTensor.channelsLast(4) : DeviceTensor.rowMajor(shape.rank)
        let out = try makeTensor(shape.dims, order: order, type: x.type)
        let macro =
            switch op.function {
            case .sum: "REDUCE_SUM"
            case .mean: "REDUCE_MEAN"
            case .product: "REDUCE_PRODUCT"
            case .maximum: "REDUCE_MAXIMUM"
            case .minimum: "REDUCE_MINIMUM"
            case .l1: "REDUCE_L1"
            case .l2: "REDUCE_L2"
            case .sumSquare: "REDUCE_SUM_SQUARE"
            case .logSum: "REDUCE_LOG_SUM"
            case .sumLog: "REDUCE_SUM_LOG"
            case .logSumExp: "REDUCE_LOG_SUM_EXP"
            }
        try launchLanes(
            "nt_reduce", macros: ["LANES_REDUCE": "", macro: ""], x: x, out: out,
            outStrides: spread(out, rank: x.rank, reduced: axes, keepsDimensions: op.keepsDimensions), axes: axes,
            parameter: op.epsilon, label: "reduce")
        bind(out)
    }

    func emitArgument(_ op: ArgReduce) throws {
        let x = try input(0)
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let shape = outputShape()
        // Indices stay whole: half precision would round those above 2048.
        let out = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: .float)
        var macros = ["LANES_ARGUMENT": ""]
        if op.isMinimum { macros["ARGUMENT_MINIMUM"] = "" }
        try launchLanes(
            "nt_argument", macros: macros, x: x, out: out,
            outStrides: spread(out, rank: x.rank, reduced: [axis], keepsDimensions: op.keepsDimension), axes: [axis],
            label: "argument")
        bind(out)
    }

    func emitTop(_ op: TopK) throws {
        let x = try input(0)
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let shape = outputShape()
        let values = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: x.type)
        let indices = try makeTensor(shape.dims, order: DeviceTensor.rowMajor(shape.rank), type: .float)
        var macros = ["LANES_TOP": ""]
        if op.isSmallest { macros["TOP_SMALLEST"] = "" }
        try launchLanes(
            "nt_top", macros: macros, x: x, out: values, outStrides: values.strides, axes: [axis], count: op.k, isShared: false,
            second: indices, label: "top \(op.k)")
        bind(values, output: 0)
        bind(indices, output: 1)
    }

    func emitSoftmax(_ op: Softmax) throws {
        let x = try input(0)
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        var macros = ["LANES_SOFTMAX": ""]
        if op.isLog { macros["SOFTMAX_LOG"] = "" }
        try launchLanes("nt_softmax", macros: macros, x: x, out: out, outStrides: out.strides, axes: [axis], label: "softmax")
        bind(out)
    }

    func emitNormalization(_ op: MeanVarianceNormalization) throws {
        var macros = ["LANES_NORMALIZE": ""]
        if op.normalizesVariance { macros["NORMALIZE_VARIANCE"] = "" }
        if op.epsilonOutside { macros["EPSILON_OUTSIDE"] = "" }
        try emitNormalizing(op.axes, macros: macros, epsilon: op.epsilon)
    }

    func emitL2(_ op: L2Normalization) throws {
        try emitNormalizing(op.axes, macros: ["LANES_NORMALIZE": "", "NORMALIZE_L2": ""], epsilon: op.epsilon)
    }

    private func emitNormalizing(_ axes: [Int], macros: [String: String], epsilon: Float) throws {
        let x = try input(0)
        let axes = try Set(axes.map { try OperatorError.normalizedAxis($0, rank: x.rank) }).sorted()
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        try launchLanes(
            "nt_normalize", macros: macros, x: x, out: out, outStrides: out.strides, axes: axes, parameter: epsilon,
            label: "normalize")
        bind(out)
    }
}
