import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Places, layouts, and the making of steps.
extension PlanBuilder {
    func shape(_ id: ValueID) -> Shape { graph[id].type.shape }

    mutating func addBuffer(_ kind: PlannedBuffer.Kind) -> Int {
        buffers.append(PlannedBuffer(kind: kind))
        return buffers.count - 1
    }

    /// Where a value lies in float32, converted when it lies in pairs.
    mutating func placement(_ id: ValueID) throws -> Placement {
        if let place = placements[id.index] { return place.layout.isPairs ? try floatCopy(id, of: place) : place }
        guard let constant = graph.constant(id) else {
            throw GraphError("value '\(graph[id].name)' is read before it is computed")
        }
        let place = Placement(buffer: addBuffer(.constant(try constant.asFloat32())), layout: .rowMajor)
        placements[id.index] = place
        return place
    }

    /// Floats from pixel to pixel for images of this shape. Strides that are multiples of 2 KiB would put the pixels that a tile reads
    /// side by side into the same few sets of the first-level cache.
    static func pixelStride(_ shape: Shape) -> Int {
        shape[2] * shape[3] > 1 && shape[1] % 512 == 0 ? shape[1] + 16 : shape[1]
    }

    /// Gives a value its place: the reserved one, the caller's memory for an output in logical order, or a buffer of the arena.
    mutating func place(_ id: ValueID, asPixels: Bool) -> Placement {
        if let place = reserved[id] {
            placements[id.index] = place
            return place
        }
        let shape = shape(id)
        let isDense = asPixels && (shape[2] * shape[3] == 1 || shape[1] == 1)
        let layout: Layout = asPixels ? .pixels(stride: isDense ? shape[1] : Self.pixelStride(shape)) : .rowMajor
        var kind = PlannedBuffer.Kind.arena(count: shape.count)
        if case .pixels(let stride) = layout { kind = .arena(count: shape.count / max(1, shape[1]) * stride) }
        if !asPixels || isDense, let index = graph.outputs.firstIndex(of: id) { kind = .output(index) }
        let place = Placement(buffer: addBuffer(kind), layout: layout)
        placements[id.index] = place
        return place
    }

    /// Makes a value lie where `place` says: a view of another's memory.
    mutating func alias(_ id: ValueID, _ place: Placement) {
        buffers[place.buffer].isShared = true
        placements[id.index] = place
    }

    /// Whether a node may overwrite this input: no one else reads it and it has its buffer to itself.
    func isExpendable(_ id: ValueID) -> Bool {
        guard graph.constant(id) == nil, consumers[id.index].count == 1, !graph.outputs.contains(id), reserved[id] == nil,
            let place = placements[id.index], !buffers[place.buffer].isShared, case .arena = buffers[place.buffer].kind
        else { return false }
        return true
    }

    /// The place for an output that may take over `input`'s: the same memory when that is possible, else one of its own.
    mutating func place(_ id: ValueID, over input: ValueID, asPixels: Bool) throws -> Placement {
        let place = try placement(input)
        if isExpendable(input), reserved[id] == nil, !graph.outputs.contains(id), shape(id) == shape(input),
            (place.layout != .rowMajor) == asPixels
        {
            placements[id.index] = place
            return place
        }
        return self.place(id, asPixels: asPixels)
    }

    /// A value as pixels, converted when it is not.
    mutating func asPixels(_ id: ValueID) throws -> Placement {
        let place = try placement(id)
        let shape = shape(id)
        if let view = place.pixelView(shape) { return view }
        if let copy = converted[id] { return copy }
        let stride = Self.pixelStride(shape)
        let copy = Placement(
            buffer: addBuffer(.arena(count: shape.count / max(1, shape[1]) * stride)), layout: .pixels(stride: stride))
        emitCopy(shape, from: place, place.strides(shape), to: copy, copy.strides(shape), names: ([graph[id].name], ["ToPixels"]))
        converted[id] = copy
        return copy
    }

    /// A value in logical order, converted when it is not.
    mutating func asRowMajor(_ id: ValueID) throws -> Placement {
        let place = try placement(id)
        let shape = shape(id)
        if let view = place.rowMajorView(shape) { return view }
        if let copy = converted[id] { return copy }
        let copy = Placement(buffer: addBuffer(.arena(count: shape.count)), layout: .rowMajor)
        emitCopy(shape, from: place, place.strides(shape), to: copy, shape.strides, names: ([graph[id].name], ["ToRowMajor"]))
        converted[id] = copy
        return copy
    }

    /// Appends a step. `parameters` must be what `run` expects.
    mutating func append(
        _ run: @escaping nt_step_fn, _ parameters: UnsafeRawPointer?, inputs: [Placement?], outputs: [Placement], parts: Int = 1,
        scratchCount: Int = 0, description: StepDescription
    ) {
        var step = nt_step()
        step.run = run
        step.parameters = parameters
        step.parts = max(1, parts)
        let none = nt_place(buffer: -1, offset: 0)
        var places = [nt_place](repeating: none, count: 6)
        for (index, place) in inputs.enumerated() {
            if let place { places[index] = use(place) }
        }
        for (index, place) in outputs.enumerated() { places[4 + index] = use(place) }
        step.inputs = (places[0], places[1], places[2], places[3])
        step.outputs = (places[4], places[5])
        steps.append(PlannedStep(step: step, description: description, scratchCount: scratchCount))
    }

    private mutating func use(_ place: Placement) -> nt_place {
        buffers[place.buffer].firstStep = min(buffers[place.buffer].firstStep, steps.count)
        buffers[place.buffer].lastStep = max(buffers[place.buffer].lastStep, steps.count)
        return nt_place(buffer: Int32(place.buffer), offset: place.offset)
    }

    /// What a step that computes `nodes` is called. A step of matrix products is called by their kernel last; `share` of its operators' multiply-adds are
    /// done.
    func describe(_ nodes: [Node], kernel: String, share: Double = 1) -> StepDescription {
        var (flops, bytes) = (0, 0)
        for node in nodes {
            let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
            flops += node.op.flops(inputs: inputs, outputs: outputs)
            for id in node.inputs where graph.constant(id) != nil { bytes += graph[id].type.byteCount }
        }
        let produced = Set(nodes.dropLast().flatMap(\.outputs))
        let read = Set(nodes.flatMap(\.inputs)).subtracting(produced).filter { graph.constant($0) == nil }
        bytes += read.reduce(0) { $0 + graph[$1].type.byteCount }
        bytes += (nodes.last?.outputs ?? []).reduce(0) { $0 + graph[$1].type.byteCount }
        var step = StepDescription(
            layers: nodes.map(\.name), operators: nodes.map(\.op.kind), kernel: kernel, flops: flops, byteCount: bytes,
            output: nodes.last?.outputs.first.map { "\(shape($0))" } ?? "")
        step.performedFlops = Int(Double(flops) * share)
        step.arithmetic = Self.arithmetic(ofProductsBy: kernel)
        return step
    }

    private static func arithmetic(ofProductsBy kernel: String) -> Arithmetic {
        let product = (0..<nt_gemm_kernel_count()).lazy.compactMap { nt_gemm_kernel_at($0)?.pointee }.first {
            kernel.hasSuffix(String(cString: $0.name))
        }
        return product.map { CPUBackend.arithmetic($0.element) } ?? .float32
    }

    /// Appends a copy of `shape`'s elements between strided layouts; `from` and `to` point at the first element.
    mutating func emitCopy(
        _ shape: Shape, from: Placement, _ fromStrides: [Int], to: Placement, _ toStrides: [Int],
        names: (layers: [String], operators: [String])
    ) {
        var copy = nt_copy()
        copy.rank = Int32(shape.rank)
        CArray.assign(shape.dims, to: &copy.dims)
        CArray.assign(fromStrides, to: &copy.from)
        CArray.assign(toStrides, to: &copy.to)
        nt_copy_simplify(&copy)
        append(
            nt_step_copy, store.keep(copy), inputs: [from], outputs: [to],
            description: StepDescription(
                layers: names.layers, operators: names.operators, kernel: "copy", flops: 0, byteCount: 8 * shape.count,
                output: "\(shape)"))
    }

    /// Threads for `work` units when each thread should have at least `grain` of them.
    func parts(work: Int, grain: Int, limit: Int) -> Int { max(1, min(threads, limit, work / max(1, grain))) }

    var elementwise: UnsafePointer<nt_elementwise_kernel>? { nt_elementwise_choose(isa) }

    /// An activation as the kernels want it.
    func activation(_ function: UnaryFunction) -> nt_activation {
        if let bounds = function.clampBounds {
            return nt_activation(
                lo: bounds.lower, hi: bounds.upper, function: -1, alpha: 0, beta: 0, elementwise: elementwise)
        }
        let code = KernelFunction(function)
        return nt_activation(
            lo: -.infinity, hi: .infinity, function: code.function, alpha: code.alpha, beta: code.beta, elementwise: elementwise)
    }
}

/// Fixed C arrays, which Swift sees as tuples.
enum CArray {
    /// Writes whole numbers to the front of a C array of ptrdiff_t or size_t.
    static func assign<Tuple>(_ values: [Int], to tuple: inout Tuple) {
        withUnsafeMutableBytes(of: &tuple) { bytes in
            let target = bytes.bindMemory(to: Int.self)
            for (index, value) in values.enumerated() where index < target.count { target[index] = value }
        }
    }
}
