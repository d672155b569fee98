import NTGraph
import NTTensor

/// Element-wise operators, and the copies that change a layout.
extension PartitionCompiler {
    /// What a kernel that only moves values is called.
    static let copyLabel = "copy"

    /// out = activate(combine(inputs)). Inputs have out's extents, strides 0 where they repeat; one to three of them.
    func emitPointwise(
        _ inputs: [DeviceTensor], into out: DeviceTensor, combine: String? = nil, activation: Activation = .none,
        label: String = copyLabel
    ) throws {
        guard out.count > 0, let first = inputs.first else { return }
        let operands = (0..<3).map { $0 < inputs.count ? inputs[$0] : first }
        let space = IterationSpace(
            dims: out.dims, operands: ([out] + operands).map(\.strides), order: out.memoryOrder)
        let inner = space.innerExtent
        let steps = (0..<4).map { space.innerStride($0) }
        let isVector = steps[0] == 1 && steps[1...].allSatisfy { $0 == 0 || $0 == 1 }
        let run = runLength(total: space.count, inner: inner, isVector: isVector)
        let chunks = (inner + run - 1) / run
        let items = space.outerCount * chunks
        let meta = try constantStorage(space.rows(0..<(space.dims.count - 1)).map { Int32($0) })
        func kind(_ step: Int) -> String { step == 0 || step == 1 ? "\(step)" : "2" }
        var macros = [
            "W": "\(style.vectorWidth)", "A_T": operands[0].type.rawValue, "B_T": operands[1].type.rawValue,
            "C_T": operands[2].type.rawValue, "OUT_T": out.type.rawValue, "OUT_STEP": steps[0] == 1 ? "1" : "2",
            "A_STEP": kind(steps[1]), "B_STEP": kind(steps[2]), "C_STEP": kind(steps[3]),
        ]
        if style.family == .manyCores, isVector, style.vectorWidth == 4, run % 4 == 0,
            zip([out] + operands, 0..<4).allSatisfy({ tensor, operand in
                steps[operand] == 0
                    || tensor.offset % 4 == 0 && space.strides[operand].dropLast().allSatisfy { $0 % 4 == 0 }
            })
        {
            macros["ALIGNED"] = ""
        }
        if let combine { macros[combine] = "" }
        if let macro = activation.macro { macros[macro] = "" }
        let whole = inputs.filter { $0.type == out.type && $0.offset == out.offset && $0.strides == out.strides }
        launch(
            .pointwise, "nt_pointwise", macros: macros,
            operands.map { .storage($0.storage) } + [
                .storage(out.storage), .storage(meta), .int(space.dims.count - 1), .int(inner), .int(run), .int(chunks),
                .int(items), .int(out.offset), .int(operands[0].offset), .int(operands[1].offset), .int(operands[2].offset),
                .int(steps[0]), .int(steps[1]), .int(steps[2]), .int(steps[3]), .float(activation.p), .float(activation.q),
            ],
            range: range(items: items), reads: inputs, writes: [out], replaceable: whole, label: label)
    }

    /// Elements of the inner axis that one work-item takes.
    private func runLength(total: Int, inner: Int, isVector: Bool) -> Int {
        guard style.family == .wideCores else { return isVector ? min(inner, style.vectorWidth) : 1 }
        let share = total / (style.computeUnits * 8)
        return max(1, min(inner, max(64, min(8192, (share + 63) / 64 * 64))))
    }

    /// A new tensor for a result of broadcast operands, laid out as the first that has its shape, and the operands spread over it.
    private func broadcastTarget(_ inputs: [DeviceTensor]) throws -> (out: DeviceTensor, operands: [DeviceTensor]) {
        let dims = outputShape().dims
        let order = inputs.first { $0.dims == dims && $0.count > 0 }?.denseOrder ?? DeviceTensor.rowMajor(dims.count)
        return (try makeTensor(dims, order: order, type: resultType(inputs)), inputs.map { $0.broadcast(to: dims) })
    }

    /// What an element-wise result is stored in: the stored type, unless all operands are exact floats.
    func resultType(_ inputs: [DeviceTensor]) -> ElementType { inputs.allSatisfy { $0.type == .float } ? .float : storedType }

    func emitUnary(_ op: Unary) throws {
        let x = try input(0)
        guard op.function != .identity else { return bind(x) }
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        try emitPointwise([x], into: out, activation: Activation(op.function), label: "pointwise")
        bind(out)
    }

    func emitBinary(_ op: Binary) throws {
        let (out, operands) = try broadcastTarget([try input(0), try input(1)])
        try emitPointwise(
            operands, into: out, combine: Activation.macro(of: op.function), activation: Activation(op.activation), label: "pointwise")
        bind(out)
    }

    func emitSelect() throws {
        let (out, operands) = try broadcastTarget([try input(0), try input(1), try input(2)])
        try emitPointwise(operands, into: out, combine: "OP_SELECT", label: "pointwise")
        bind(out)
    }

    func emitAffine(_ op: ChannelAffine) throws {
        let axis = try OperatorError.normalizedAxis(op.axis, rank: inputShape(0).rank)
        let x = try input(0)
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        let operands = [x, along(try input(1), axis: axis, of: x.dims), along(try input(2), axis: axis, of: x.dims)]
        try emitPointwise(operands, into: out, combine: "OP_AFFINE", activation: Activation(op.activation), label: "pointwise")
        bind(out)
    }

    func emitPReLU(_ op: PReLU) throws {
        let axis = try OperatorError.normalizedAxis(op.axis, rank: inputShape(0).rank)
        let x = try input(0)
        let out = try makeTensor(x.dims, order: x.denseOrder, type: x.type)
        try emitPointwise([x, along(try input(1), axis: axis, of: x.dims)], into: out, combine: "OP_PRELU", label: "pointwise")
        bind(out)
    }

    /// A vector [C] spread along one axis of a shape.
    private func along(_ vector: DeviceTensor, axis: Int, of dims: [Int]) -> DeviceTensor {
        var result = vector
        result.dims = dims
        result.strides = dims.indices.map { $0 == axis ? vector.strides[0] : 0 }
        return result
    }
}
