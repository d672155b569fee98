import NTGraph
import NTRuntime
import NTTensor

/// Turns a partition's nodes into launches: gives each value a window on a storage, picks kernels and layouts, packs weights.
///
/// Rank-4 values are kept N H W C where a kernel makes them; movement operators are windows until a kernel needs a copy.
final class PartitionCompiler {
    let graph: Graph
    let context: DeviceContext
    let style: DeviceStyle
    /// What activations and weights of convolutions are stored in.
    let storedType: ElementType
    let tuning: TuningTable
    /// Multiply-adds from which a depthwise convolution runs in one kernel with the 1x1 convolution that reads it; nil for never.
    let leastSeparableWork: Int?

    /// Inputs that are to lie as the results of layers do, in the order and the type that these store.
    private let storedInputs: Set<ValueID>
    /// The tiles of the convolutions so far.
    private(set) var tiles: [ConvolutionShape: ConvolutionTile] = [:]

    private(set) var storages: [Storage] = []
    private(set) var launches: [Launch] = []
    private(set) var steps: [StepDescription] = []
    private var tensors: [ValueID: DeviceTensor] = [:]
    private var zeroStorage: [ElementType: Int] = [:]
    /// Layers whose indices are checked on the device.
    private(set) var checkedLayers: [String] = []
    private(set) var statusStorage: Int?
    /// The node being compiled.
    private(set) var node: Node
    /// Where constants lie; nil when each has a buffer of its own.
    private var constantPool: ConstantPool?

    init(
        _ graph: Graph, context: DeviceContext, style: DeviceStyle, storedType: ElementType, tuning: TuningTable, leastSeparableWork: Int?,
        storedInputs: Set<ValueID> = []
    ) {
        if style.family == .wideCores {
            let values = graph.values.reduce(0) { SaturatingArithmetic.sum($0, $1.constant?.count ?? 0) }
            constantPool = ConstantPool(context, expected: SaturatingArithmetic.product(values, storedType.byteCount, 9) / 8)
        }
        (self.graph, self.context, self.style, self.storedType) = (graph, context, style, storedType)
        (self.tuning, self.leastSeparableWork, self.storedInputs) = (tuning, leastSeparableWork, storedInputs)
        node = Node(name: graph.name, op: Unary(.identity), inputs: [], outputs: [])
    }

    /// Storages that receive the graph's inputs, dense row-major float.
    private(set) var inputStorages: [Int] = []
    /// Storages that hold the graph's outputs at the end, dense row-major float.
    private(set) var outputStorages: [Int] = []

    /// Compiles every node. Throws with the layer's name when a value does not fit the device.
    func compile() throws {
        for id in graph.inputs {
            let dims = graph[id].type.shape.dims
            let storage = try newStorage(byteCount: graph[id].type.byteCount, what: "input '\(graph[id].name)'")
            inputStorages.append(storage)
            tensors[id] = DeviceTensor(storage: storage, dims: dims, order: DeviceTensor.rowMajor(dims.count), type: .float)
        }
        for id in graph.inputs where storedInputs.contains(id) {
            steps.append(StepDescription(layers: [graph[id].name], operators: [], kernel: "", flops: 0, byteCount: 0, output: ""))
            let plain = try tensor(id)
            let order = plain.rank == 4 ? DeviceTensor.channelsLast(4) : DeviceTensor.rowMajor(plain.rank)
            tensors[id] = try dense(plain, order: order, type: storedType)
        }
        var index = 0
        while index < graph.nodes.count {
            let node = graph.nodes[index]
            enter(node)
            steps.append(description(of: node))
            if let pair = separablePair(at: index) {
                try compile(pair)
                index += 2
                continue
            }
            index += 1
            let before = launches.count
            try emit(node)
            if launches.count == before {
                steps[steps.count - 1].kernels = ["view"]
                steps[steps.count - 1].choice = "its operand seen in another way; nothing is computed"
            } else if steps[steps.count - 1].choice.isEmpty {
                explain("shaped for \(style.summary)")
            }
            steps[steps.count - 1].byteCount = movedByteCount(node)
        }
        for id in graph.outputs {
            let result = try dense(try tensor(id), order: DeviceTensor.rowMajor(graph[id].type.shape.rank), type: .float)
            outputStorages.append(result.storage)
        }
    }

    /// Compiles a pair into the current step, which describes the first of the two.
    private func compile(_ pair: SeparablePair) throws {
        var step = description(of: pair.pointwise)
        let first = steps.removeLast()
        (step.layers, step.operators) = (first.layers + step.layers, first.operators + step.operators)
        step.flops += first.flops
        steps.append(step)
        try emitSeparable(pair)
        // What lies between is neither written nor read.
        let between = graph[pair.depthwise.outputs[0]].type.shape.count * storedType.byteCount
        steps[steps.count - 1].byteCount = movedByteCount(pair.depthwise) + movedByteCount(pair.pointwise) - 2 * between
    }

    /// The node whose values `input`, `constant` and `bind` mean from here on.
    func enter(_ node: Node) { self.node = node }

    private func description(of node: Node) -> StepDescription {
        let (inputs, outputs) = (graph.types(node.inputs), graph.types(node.outputs))
        return StepDescription(
            layers: [node.name], operators: [node.op.kind], kernel: "", flops: node.op.flops(inputs: inputs, outputs: outputs),
            byteCount: (inputs + outputs).reduce(0) { $0 + $1.byteCount },
            output: outputs.first.map { "\($0.shape)" } ?? "")
    }

    /// Bytes that a compiled node reads and writes at least, in the types that the device stores.
    private func movedByteCount(_ node: Node) -> Int {
        (node.inputs + node.outputs).reduce(0) { sum, id in
            sum + graph[id].type.shape.count * (tensors[id]?.type ?? storedType).byteCount
        }
    }

    // MARK: Values

    /// The window of a value; a constant is uploaded when it is first asked for.
    func tensor(_ id: ValueID) throws -> DeviceTensor {
        if let known = tensors[id] { return known }
        guard let constant = graph.constant(id) else {
            throw GraphError(layer: node.name, "value '\(graph[id].name)' is read before it is computed")
        }
        let result = try upload(constant.floats, dims: constant.shape.dims)
        tensors[id] = result
        return result
    }

    func input(_ index: Int) throws -> DeviceTensor { try tensor(node.inputs[index]) }
    func inputShape(_ index: Int) -> Shape { graph[node.inputs[index]].type.shape }
    func outputShape(_ index: Int = 0) -> Shape { graph[node.outputs[index]].type.shape }
    /// The constant behind an input; throws when there is none.
    func constant(_ index: Int) throws -> Tensor {
        guard let constant = graph.constant(node.inputs[index]) else {
            throw GraphError(layer: node.name, "\(node.op.kind): input \(index) is not constant")
        }
        return constant
    }

    func bind(_ tensor: DeviceTensor, output index: Int = 0) { tensors[node.outputs[index]] = tensor }

    /// A new dense tensor in the arena.
    func makeTensor(_ dims: [Int], order: [Int], type: ElementType) throws -> DeviceTensor {
        let storage = try newStorage(
            byteCount: dims.reduce(type.byteCount, *), what: "a value of shape \(Shape(dims)) in layer '\(node.name)'")
        return DeviceTensor(storage: storage, dims: dims, order: order, type: type)
    }

    /// The tensor itself when it lies densely in this order and type, else a copy that does.
    func dense(_ tensor: DeviceTensor, order: [Int], type: ElementType? = nil) throws -> DeviceTensor {
        let type = type ?? tensor.type
        if tensor.type == type, tensor.isDense(order: order) { return tensor }
        let copy = try makeTensor(tensor.dims, order: order, type: type)
        try emitPointwise([tensor], into: copy)
        return copy
    }

    // MARK: Storages

    private func newStorage(byteCount: Int, what: String) throws(OpenCLError) -> Int {
        let limit = min(context.device.maximumAllocationBytes, Int(Int32.max) * 4)
        guard byteCount <= limit else {
            throw OpenCLError.tooLarge(what: what, byteCount: byteCount, limit: limit, device: context.device.name)
        }
        storages.append(Storage(kind: .arena, byteCount: byteCount))
        return storages.count - 1
    }

    /// A constant storage of these bytes.
    func constantStorage(_ bytes: UnsafeRawBufferPointer) throws(OpenCLError) -> Int {
        let buffer: DeviceBuffer
        if let pooled = try constantPool?.place(bytes) {
            buffer = pooled
        } else {
            buffer = try DeviceBuffer(context, byteCount: bytes.count, contents: bytes, readOnly: true)
        }
        storages.append(Storage(kind: .constant(buffer), byteCount: buffer.byteCount))
        return storages.count - 1
    }

    func constantStorage(_ values: [Int32]) throws(OpenCLError) -> Int {
        let values = values.isEmpty ? [0] : values
        return try constantStorage(bytes: values)
    }

    func constantStorage(_ values: [Float], type: ElementType = .float) throws(OpenCLError) -> Int {
        let values = values.isEmpty ? [0] : values
        guard type == .half else { return try constantStorage(bytes: values) }
        return try constantStorage(bytes: values.map { HalfPrecision.half(from: $0) })
    }

    private func constantStorage<T>(bytes values: [T]) throws(OpenCLError) -> Int {
        let result: Result<Int, OpenCLError> = values.withUnsafeBytes { bytes in
            do throws(OpenCLError) { return .success(try constantStorage(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Row-major float constants as a tensor.
    private func upload(_ values: UnsafeBufferPointer<Float>, dims: [Int]) throws -> DeviceTensor {
        let storage = try constantStorage(UnsafeRawBufferPointer(values))
        return DeviceTensor(storage: storage, dims: dims, order: DeviceTensor.rowMajor(dims.count), type: .float)
    }

    /// `count` zeros of a type.
    func zeros(_ count: Int, type: ElementType) throws(OpenCLError) -> Int {
        if let known = zeroStorage[type], storages[known].byteCount >= count * type.byteCount { return known }
        let storage = try constantStorage([Float](repeating: 0, count: max(count, 1024)), type: type)
        zeroStorage[type] = storage
        return storage
    }

    /// The storage that the layer's kernel marks when it meets an index out of range.
    func indexStatus() throws(OpenCLError) -> Int {
        checkedLayers.append(node.name)
        if let known = statusStorage { return known }
        storages.append(Storage(kind: .status, byteCount: 64))
        statusStorage = storages.count - 1
        return storages.count - 1
    }

    // MARK: Launches

    /// Adds a launch to the current step. Ranges of no work-items are left out.
    func launch(
        _ source: KernelSource, _ entry: String, macros: [String: String], _ arguments: [KernelArgument],
        range: (global: [Int], local: [Int]), reads: [DeviceTensor], writes: [DeviceTensor], replaceable: [DeviceTensor] = [],
        label: String
    ) {
        launch(
            ProgramKey(source: source, macros: macros), entry, arguments, range: range, reads: reads, writes: writes, replaceable: replaceable,
            label: label)
    }

    func launch(
        _ program: ProgramKey, _ entry: String, _ arguments: [KernelArgument], range: (global: [Int], local: [Int]), reads: [DeviceTensor],
        writes: [DeviceTensor], replaceable: [DeviceTensor] = [], label: String
    ) {
        guard range.global.allSatisfy({ $0 > 0 }) else { return }
        let step = steps.count - 1
        launches.append(
            Launch(
                program: program, entry: entry, arguments: arguments, global: range.global,
                local: range.local, step: step, reads: reads.map(\.storage), writes: writes.map(\.storage),
                replaceable: replaceable.map(\.storage)))
        guard step >= 0 else { return }
        steps[step].kernels.append(label)
    }

    /// Notes the tile that a convolution runs with.
    func note(_ tile: ConvolutionTile, for shape: ConvolutionShape) { tiles[shape] = tile }

    /// Says why the current step's kernels were chosen.
    func explain(_ choice: String) {
        if let last = steps.indices.last { steps[last].choice = choice }
    }

    func range(items: Int) -> (global: [Int], local: [Int]) { style.range(items: items) }
    func range(_ items: [Int]) -> (global: [Int], local: [Int]) { style.range(items) }
}
