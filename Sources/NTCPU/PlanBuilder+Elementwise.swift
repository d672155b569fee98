import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Functions of single elements, and of channels.
extension PlanBuilder {
    /// Elements that a share of an elementwise step should have at least.
    static let shareElements = 8_192

    private var kernelName: String { elementwise.map { String(cString: $0.pointee.name) } ?? "" }

    mutating func emitUnary(_ function: UnaryFunction, _ node: Node) throws {
        let id = node.inputs[0]
        let shape = shape(id)
        let source = reserved[node.outputs[0]] == nil ? try placement(id) : try asPixels(id)
        let target =
            try source == placement(id)
            ? place(node.outputs[0], over: id, asPixels: source.layout != .rowMajor) : place(node.outputs[0], asPixels: true)
        let code = KernelFunction(function)
        var rows = nt_rows()
        (rows.function, rows.alpha, rows.beta, rows.kernel) = (code.function, code.alpha, code.beta, elementwise)
        if case .pixels(let from) = source.layout, case .pixels(let to) = target.layout, from != shape[1] || to != shape[1] {
            (rows.rows, rows.count, rows.x_stride, rows.y_stride) = (shape.count / shape[1], shape[1], from, to)
        } else {
            (rows.rows, rows.count) = (1, shape.count)
        }
        append(
            nt_step_unary, store.keep(rows), inputs: [source], outputs: [target],
            parts: parts(work: shape.count, grain: Self.shareElements, limit: threads),
            description: describe([node], kernel: "elementwise \(kernelName)"))
    }

    /// The layout of a result of several operands: pixels when an operand of the result's shape lies so.
    private mutating func wantsPixels(_ node: Node) throws -> Bool {
        let y = shape(node.outputs[0])
        if reserved[node.outputs[0]] != nil { return true }
        guard y.rank == 4 else { return false }
        return try node.inputs.contains { try shape($0) == y && placement($0).rowMajorView(y) == nil }
    }

    /// An operand's memory, converted when it has the result's shape and another layout.
    private mutating func operand(_ id: ValueID, _ y: Shape, asPixels wanted: Bool) throws -> Placement {
        guard shape(id) == y, y.rank == 4 else { return try placement(id) }
        return wanted ? try asPixels(id) : try asRowMajor(id)
    }

    /// Strides over the result's axes, in the order that the result lies in memory.
    private func strides(_ id: ValueID, _ place: Placement, _ y: Shape, _ order: [Int]) -> [Int] {
        let own = shape(id)
        let lead = y.rank - own.rank
        let memory = place.strides(own)
        return order.map { $0 < lead || own[$0 - lead] == 1 ? 0 : memory[$0 - lead] }
    }

    private mutating func broadcast(_ node: Node, operands: [Placement], target: Placement, asPixels: Bool) -> nt_broadcast {
        let y = shape(node.outputs[0])
        let order = asPixels && y.rank == 4 ? [0, 2, 3, 1] : Array(0..<y.rank)
        var result = nt_broadcast()
        result.rank = Int32(y.rank)
        CArray.assign(order.map { y[$0] }, to: &result.dims)
        let memory = target.strides(y)
        CArray.assign(order.map { memory[$0] }, to: &result.y)
        let inputs = node.inputs.indices.map { strides(node.inputs[$0], operands[$0], y, order) }
        CArray.assign(inputs[inputs.count - 2], to: &result.a)
        CArray.assign(inputs[inputs.count - 1], to: &result.b)
        CArray.assign(inputs.count > 2 ? inputs[0] : memoryZeros(y.rank), to: &result.c)
        nt_broadcast_simplify(&result)
        return result
    }

    private func memoryZeros(_ count: Int) -> [Int] { [Int](repeating: 0, count: count) }

    mutating func emitBinary(_ op: Binary, _ node: Node) throws {
        let y = shape(node.outputs[0])
        let pixels = try wantsPixels(node)
        let operands = try node.inputs.map { try operand($0, y, asPixels: pixels) }
        let target = try binaryTarget(node, operands, asPixels: pixels)
        var step = broadcast(node, operands: operands, target: target, asPixels: target.layout != .rowMajor)
        step.function = KernelFunction.binary(op.function)
        step.activation = activation(op.activation)
        append(
            nt_step_broadcast, store.keep(step), inputs: [operands[0], operands[1]], outputs: [target],
            parts: step.rank == 0 ? 1 : parts(work: y.count, grain: Self.shareElements, limit: max(1, step.dims.0)),
            description: describe([node], kernel: "elementwise \(kernelName)"))
    }

    /// The result takes over an operand of its shape and layout when no one else wants that.
    private mutating func binaryTarget(_ node: Node, _ operands: [Placement], asPixels: Bool) throws -> Placement {
        let y = shape(node.outputs[0])
        for (id, place) in zip(node.inputs, operands)
        where shape(id) == y && isExpendable(id) && placements[id.index] == place && reserved[node.outputs[0]] == nil
            && !graph.outputs.contains(node.outputs[0])
        {
            placements[node.outputs[0].index] = place
            return place
        }
        return place(node.outputs[0], asPixels: asPixels)
    }

    mutating func emitSelect(_ node: Node) throws {
        let operands = try node.inputs.map { try asRowMajor($0) }
        let target = place(node.outputs[0], asPixels: false)
        let step = broadcast(node, operands: operands, target: target, asPixels: false)
        append(
            nt_step_select, store.keep(step), inputs: operands, outputs: [target], description: describe([node], kernel: "select"))
    }

    /// ChannelAffine and PReLU.
    mutating func emitChannels(axis: Int, activation function: UnaryFunction, _ node: Node) throws {
        let id = node.inputs[0]
        let x = shape(id)
        let axis = try OperatorError.normalizedAxis(axis, rank: x.rank)
        let place = try placement(id)
        var channels = nt_channels()
        channels.scale = try constantFloats(node.inputs[1])
        if node.inputs.count > 2 { channels.bias = try constantFloats(node.inputs[2]) }
        channels.activation = activation(function)
        channels.channels = x[axis]
        let source: Placement
        let target: Placement
        if reserved[node.outputs[0]] != nil || (place.rowMajorView(x) == nil && axis == 1) {
            source = try asPixels(id)
            target = source == place ? try self.place(node.outputs[0], over: id, asPixels: true) : self.place(node.outputs[0], asPixels: true)
            channels.channels_last = 1
            (channels.outer, channels.x_stride, channels.y_stride) = (x.count / x[1], source.pixelStride, target.pixelStride)
        } else {
            source = try asRowMajor(id)
            target = source == place ? try self.place(node.outputs[0], over: id, asPixels: false) : self.place(node.outputs[0], asPixels: false)
            let (outer, _, inner) = StridedLoop.split(x, axis: axis)
            if inner == 1 {
                channels.channels_last = 1
                (channels.outer, channels.x_stride, channels.y_stride) = (outer, x[axis], x[axis])
            } else {
                (channels.outer, channels.inner) = (outer, inner)
            }
        }
        append(
            nt_step_channels, store.keep(channels), inputs: [source], outputs: [target],
            parts: parts(work: x.count, grain: Self.shareElements, limit: threads),
            description: describe([node], kernel: "channels \(kernelName)"))
    }
}
