import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// A step as planned: the C step, what it is, and the scratch that a share of it needs.
struct PlannedStep {
    var step: nt_step
    var description: StepDescription
    var scratchCount: Int
}

/// Turns a partition's graph into steps over buffers: chooses layouts and kernels, packs weights, fuses, and places values.
///
/// Images are kept as pixels (N H W C) from the first convolution to the last; other values in logical order. Conversions are steps
/// of their own, made where a value is first wanted in the other layout and used by all who want it. In bfloat16 and float16 images are
/// pairs of channels wherever their producers and readers know them; what does not know them gets float32.
struct PlanBuilder {
    let graph: Graph
    let threads: Int
    let isa: UInt32
    /// What convolutions, pools and dense layers compute on, NT_ELEMENT_: float32, or an element of two in a slot.
    let element: Int32
    /// Whether convolutions may use Winograd's method.
    let usesWinograd: Bool
    let store: ParameterStore
    /// What rounding weights takes from sums on average.
    let estimates: ChannelEstimates
    let consumers: [[Int]]
    let producers: [Int?]
    var buffers: [PlannedBuffer] = []
    var steps: [PlannedStep] = []
    /// Where each value lies, once it has a place.
    var placements: [Placement?]
    /// Copies of values in the other layout.
    var converted: [ValueID: Placement] = [:]
    /// Copies in float32 of values that lie in pairs, and the other way round.
    var floatCopies: [ValueID: Placement] = [:]
    var pairCopies: [ValueID: Placement] = [:]
    /// Places given before the value is computed: parts of a concatenation.
    var reserved: [ValueID: Placement] = [:]
    /// Nodes that a later node computes as well.
    var absorbed: Set<Int> = []
    /// Per last node of a fused chain: the nodes it computes, in order.
    var chains: [Int: SeparableChain] = [:]
    /// Per node of a fused chain: the chain's last.
    var chainOfNode: [Int: Int] = [:]
    /// Per pool that is computed with the network's first convolution: that convolution.
    var pooledStems: [Int: Int] = [:]

    /// A builder for a graph. Precisions other than float32 hold where the processor has their instructions.
    init(_ graph: Graph, threads: Int, precision: Precision = .float32, packedWeights: (any PackedWeights)? = nil) {
        self.graph = graph
        self.threads = threads
        store = ParameterStore(packedWeights: packedWeights)
        estimates = ChannelEstimates(graph)
        isa = nt_isa_bits()
        element = CPUBackend.element(precision, isa)
        usesWinograd = precision == .float32Winograd || precision == .fast || element != Int32(NT_ELEMENT_FLOAT32)
        consumers = graph.consumers()
        producers = graph.producers()
        placements = [Placement?](repeating: nil, count: graph.values.count)
    }

    /// Whether images lie in slots of two.
    var usesPairs: Bool { element != Int32(NT_ELEMENT_FLOAT32) }

    mutating func build() throws {
        for (index, id) in graph.inputs.enumerated() {
            placements[id.index] = Placement(buffer: addBuffer(.input(index)), layout: .rowMajor)
        }
        findChains()
        joinChains()
        findStemPools()
        reserveConcatenations()
        for index in graph.nodes.indices where !absorbed.contains(index) {
            do {
                try emit(index)
            } catch let error as OperatorError {
                throw GraphError(layer: graph.nodes[index].name, "\(graph.nodes[index].op.kind): \(error.description)")
            }
        }
        for (index, id) in graph.outputs.enumerated() { try deliver(id, index) }
    }

    private mutating func emit(_ index: Int) throws {
        let node = graph.nodes[index]
        switch node.op {
        case is Convolution:
            if let chain = chains[index] { try emitSeparable(chain) } else { try emitConvolution(index) }
        case let op as ConvolutionTranspose: try emitTransposed(op, node)
        case let op as Dense: try emitDense(op, node)
        case let op as MatMul: try emitMatMul(op, node)
        case let op as Pool:
            if let stem = pooledStems[index] { try emitStemPool(index, stem) } else { try emitPool(op, node) }
        case let op as Unary: try emitUnary(op.function, node)
        case let op as Binary: try emitBinary(op, node)
        case is Select: try emitSelect(node)
        case let op as ChannelAffine: try emitChannels(axis: op.axis, activation: op.activation, node)
        case let op as PReLU: try emitChannels(axis: op.axis, activation: .identity, node)
        case let op as Softmax: try emitSoftmax(op, node)
        case let op as Reduce: try emitReduce(op, node)
        default: try emitRest(node)
        }
    }

    private mutating func emitRest(_ node: Node) throws {
        switch node.op {
        case is Reshape: try emitReshape(node)
        case let op as Transpose: try emitTranspose(op, node)
        case let op as Concat: try emitConcat(op, node)
        case let op as Split: try emitSplit(op, node)
        case let op as Slice: try emitSlice(op, node)
        case let op as Tile: try emitTile(op, node)
        case is BroadcastTo: try emitBroadcastTo(node)
        case let op as Reverse: try emitReverse(op, node)
        case let op as RearrangeBlocks: try emitRearrange(op, node)
        case let op as Gather: try emitGather(op, node)
        case let op as Pad: try emitPad(op, node)
        case let op as Resize: try emitResize(op, node)
        case let op as ArgReduce: try emitArgReduce(op, node)
        case let op as TopK: try emitTopK(op, node)
        case let op as LocalResponseNormalization: try emitLRN(op, node)
        case let op as MeanVarianceNormalization: try emitMeanVariance(op, node)
        case let op as L2Normalization: try emitL2(op, node)
        default: try emitSelection(node)
        }
    }

    /// Makes sure that an output's elements stand in the caller's memory.
    private mutating func deliver(_ id: ValueID, _ index: Int) throws {
        let shape = graph[id].type.shape
        let place = try placement(id)
        if case .output(let own) = buffers[place.buffer].kind, own == index, place.layout == .rowMajor || place.rowMajorView(shape) != nil {
            return
        }
        let target = Placement(buffer: addBuffer(.output(index)), layout: .rowMajor)
        emitCopy(
            shape, from: place, place.strides(shape), to: target, shape.strides, names: ([graph[id].name], ["Output"]))
    }
}
