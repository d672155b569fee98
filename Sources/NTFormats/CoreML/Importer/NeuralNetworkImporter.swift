import NTGraph
import NTTensor

/// Builds a graph from a neural network: walks its layers in file order and adds each one's operators.
///
/// Layers are grouped in extensions by family. While a layer is added, `current` is that layer; helpers read its parameters and name it
/// in errors.
struct NeuralNetworkImporter {
    typealias Layer = NeuralNetworkSpec.Layer

    let asset: ModelAsset
    let network: NeuralNetworkSpec
    /// Images of one run, see `ModelAsset.makeGraph`.
    let batch: Int
    var builder: GraphBuilder
    /// The blobs made so far.
    var blobs: [String: Blob] = [:]
    var current: Layer
    /// Elements of the constants that were made up rather than read from the file.
    fileprivate var madeCount = 0

    /// The most blobs that a network may define.
    private static let maximumBlobCount = 1 << 18
    /// The most elements of made-up constants, so that a small file cannot ask for much memory.
    fileprivate static let maximumMadeCount = 1 << 26

    init(_ asset: ModelAsset, network: NeuralNetworkSpec, batch: Int) throws {
        (self.asset, self.network, self.batch) = (asset, network, batch)
        builder = GraphBuilder(name: asset.description.metadata.shortDescription)
        current = try Layer(ProtobufMessage(ByteSlice(ByteStorage(copying: []))))
    }

    /// The whole graph. Throws `FormatError` naming the layer.
    mutating func makeGraph(inputShapes: [String: [Int]]) throws -> Graph {
        guard !network.layers.isEmpty else { throw FormatError(.invalidModel, "the network has no layers") }
        try addInputs(shapes: inputShapes)
        let producers = Dictionary(
            network.layers.flatMap { layer in layer.outputs.map { ($0, layer.name) } }, uniquingKeysWith: { first, _ in first })
        for layer in network.layers {
            current = layer
            try named { importer in
                for name in layer.inputs where importer.blobs[name] == nil {
                    throw importer.undefined(name, producer: producers[name])
                }
                try importer.addLayer()
                for name in layer.outputs where importer.blobs[name] == nil {
                    throw importer.failure("its output '\(FormatError.shortened(name))' is not computed")
                }
            }
        }
        try addOutputs()
        return builder.graph
    }

    /// The graph's inputs for the default shapes.
    mutating func makeInputs() throws -> [Value] {
        try addInputs(shapes: [:])
        return builder.graph.inputs.map { builder.graph[$0] }
    }

    private func undefined(_ name: String, producer: String?) -> FormatError {
        let name = FormatError.shortened(name)
        guard let producer else { return failure("it reads '\(name)', which is no input and which no layer computes") }
        return failure(
            "it reads '\(name)' before layer '\(FormatError.shortened(producer))' computes it: the layers form a cycle or stand in the wrong order")
    }

    /// Runs `body` and gives its errors the current layer's name and kind.
    private mutating func named(_ body: (inout NeuralNetworkImporter) throws -> Void) throws {
        do {
            try body(&self)
        } catch let error as FormatError {
            guard error.layer == nil else { throw error }
            throw FormatError(error.kind, layer: current.name, "\(current.kindName): \(error.reason)")
        } catch let error as GraphError {
            throw FormatError(.invalidModel, layer: current.name, "\(current.kindName): \(error.reason)")
        } catch let error as TensorError {
            throw FormatError(.invalidModel, layer: current.name, "\(current.kindName): \(error.description)")
        } catch let error as OperatorError {
            throw FormatError(.invalidModel, layer: current.name, "\(current.kindName): \(error.description)")
        }
    }
}

// Reading the current layer.
extension NeuralNetworkImporter {
    /// The current layer's parameters.
    var parameters: ProtobufMessage { current.parameters }

    func failure(_ reason: String) -> FormatError { FormatError(.invalidModel, reason) }
    func unsupported(_ reason: String) -> FormatError { FormatError(.unsupported, reason) }

    func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
        if !condition { throw failure(reason()) }
    }

    /// The current layer's inputs; throws unless their number is in `range`.
    func inputs(_ range: ClosedRange<Int>) throws -> [Blob] {
        let names = current.inputs
        let expected = range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        try require(range.contains(names.count), "expected \(expected) inputs, found \(names.count)")
        return try names.map { name in
            guard let blob = blobs[name] else { throw failure("'\(FormatError.shortened(name))' is not defined") }
            return blob
        }
    }

    /// The current layer's only input.
    func input() throws -> Blob { try inputs(1...1)[0] }

    /// Names the current layer's `index`-th output. Throws when the layer lacks it, or when another layer has made that blob already.
    mutating func define(_ blob: Blob, output index: Int = 0) throws {
        try require(index < current.outputs.count, "expected \(index + 1) outputs or more, found \(current.outputs.count)")
        let name = current.outputs[index]
        try require(
            blobs[name] == nil || current.kind == .copy, "its output '\(FormatError.shortened(name))' is defined already")
        try require(blobs.count < Self.maximumBlobCount, "the network defines more than \(Self.maximumBlobCount) blobs")
        blobs[name] = blob
    }

    /// Repeated sizes of the layer's parameters, `count` of them, each within `range`; `standard` when the field is empty.
    func sizes(
        _ field: Int, _ name: String, of message: ProtobufMessage? = nil, count: Int = 2, standard: Int,
        range: ClosedRange<Int> = 1...Window.maximumExtent
    ) throws -> [Int] {
        let values = try (message ?? parameters).ints(field, limit: 64)
        if values.isEmpty { return [Int](repeating: standard, count: count) }
        try require(values.count == count, "expected \(count) values of \(name), found \(values.count)")
        try require(values.allSatisfy(range.contains), "\(name) \(values) lies outside \(range)")
        return values
    }

    /// Two sizes as height and width.
    func size2D(_ field: Int, _ name: String, of message: ProtobufMessage? = nil, standard: Int) throws -> Size2D {
        let values = try sizes(field, name, of: message, standard: standard)
        return Size2D(values[0], values[1])
    }

    /// `BorderAmounts`: height first, zero when absent.
    func border(_ message: ProtobufMessage?, _ name: String) throws -> Padding2D {
        let edges = try message?.messages(10, limit: 8) ?? []
        if edges.isEmpty { return .zero }
        try require(edges.count == 2, "expected 2 \(name), found \(edges.count)")
        let values = try edges.flatMap { [try $0.int(1), try $0.int(2)] }
        try require(values.allSatisfy((0...Window.maximumExtent).contains), "\(name) \(values) is out of range")
        return Padding2D(top: values[0], left: values[2], bottom: values[1], right: values[3])
    }

    /// A float that stands for `standard` when it is unset or 0.
    func float(_ field: Int, zeroMeans standard: Float) throws -> Float {
        let value = try parameters.float(field)
        return value == 0 ? standard : value
    }

    /// Weights of the layer's parameters as a tensor; `channelAxis` is what per-channel quantisation runs along.
    func weights(
        _ field: Int, _ name: String, _ dims: [Int], of message: ProtobufMessage? = nil, channelAxis: Int = 0
    ) throws -> Tensor {
        let shape = try Shape(checking: dims)
        guard let found = try (message ?? parameters).message(field) else {
            throw failure("expected \(shape.count) \(name) (\(shape)), found none")
        }
        do {
            return try WeightParams(found).tensor(shape, channelAxis: channelAxis)
        } catch let error as FormatError {
            throw FormatError(error.kind, "\(name): \(error.reason)")
        }
    }

    /// Weights as floats.
    func weightValues(_ field: Int, _ name: String, count: Int, of message: ProtobufMessage? = nil) throws -> [Float] {
        try weights(field, name, [count], of: message).floatArray()
    }

    /// A size that a field states, which the input must agree with; 0 means unstated.
    func check(_ field: Int, _ name: String, against found: Int) throws {
        let stated = try parameters.int(field)
        try require(stated == 0 || stated == found, "expected \(name) \(stated), found \(found)")
    }
}

// Adding to the graph.
extension NeuralNetworkImporter {
    /// Adds a node of one output for the current layer.
    mutating func add(_ op: any Operator, _ inputs: ValueID...) throws -> ValueID {
        guard let output = try builder.apply(op, inputs, layer: current.name).first else { throw failure("\(op.kind) has no output") }
        return output
    }

    mutating func constant(_ tensor: Tensor) throws -> ValueID { try builder.constant(tensor, name: current.name) }

    mutating func constant(_ values: [Float], _ dims: [Int]) throws -> ValueID {
        madeCount += values.count
        try require(madeCount <= Self.maximumMadeCount, "the network's constants have more than \(Self.maximumMadeCount) elements")
        return try constant(try Tensor(try Shape(checking: dims), values))
    }

    mutating func scalar(_ value: Float) throws -> ValueID { try constant([value], []) }

    mutating func reshape(_ id: ValueID, _ dims: [Int]) throws -> ValueID {
        if builder.shape(id).dims == dims { return id }
        return try add(Reshape(try Shape(checking: dims)), id)
    }

    /// The blob's value under its own shape.
    mutating func exact(_ blob: Blob) throws -> ValueID { try reshape(blob.id, blob.dims) }

    /// The blob's value as N C H W, all leading extents taken as N. Throws when its rank is below 3.
    mutating func image(_ blob: Blob) throws -> ValueID {
        try require(blob.rank >= 3, "expected an input of rank 3 or more, found shape \(blob.dims)")
        return try reshape(blob.id, [blob.leadCount] + blob.dims.suffix(3))
    }

    /// The result of an operation on `image(blob)`: its N is the blob's leading extents.
    /// Mutating, so that an argument that adds nodes is evaluated before the builder is read.
    mutating func imageResult(_ id: ValueID, like blob: Blob) -> Blob {
        Blob(id: id, dims: blob.dims.dropLast(3) + builder.shape(id).dims[1...])
    }

    /// The blob's value with its channels (axis -3) on axis 1: as N C when it has no pixels and is kept so, else as N C H W.
    mutating func channels(_ blob: Blob) throws -> ValueID {
        if blob.rank >= 3, blob.extent(fromBack: -1) == 1, blob.extent(fromBack: -2) == 1,
            builder.shape(blob.id).dims == [blob.leadCount, blob.extent(fromBack: -3)]
        {
            return blob.id
        }
        return try image(blob)
    }

    /// Whether both are kept alike: the same leading extents and images of rank 3 or more.
    func areImagesOfOneLead(_ blobs: [Blob]) -> Bool {
        guard let first = blobs.first, first.rank >= 4 else { return false }
        return blobs.allSatisfy { $0.rank == first.rank && $0.dims.dropLast(3) == first.dims.dropLast(3) }
    }

    /// Values that broadcast as the blobs' shapes do, and a function that gives a result its blob.
    mutating func broadcastable(_ blobs: [Blob]) throws -> [ValueID] {
        if let first = blobs.first,
            blobs.allSatisfy({ $0.dims == first.dims && builder.shape($0.id) == builder.shape(first.id) })
        {
            return blobs.map(\.id)
        }
        if areImagesOfOneLead(blobs) { return try blobs.map { try image($0) } }
        return try blobs.map { try exact($0) }
    }

    /// The shape that the blobs' shapes broadcast to.
    func broadcastDims(_ blobs: [Blob]) throws -> [Int] {
        var shape = Shape(blobs.first?.dims ?? [])
        for blob in blobs.dropFirst() {
            guard let next = Shape.broadcast(shape, Shape(blob.dims)) else {
                throw failure("shapes \(blobs.map(\.dims)) do not broadcast")
            }
            shape = next
        }
        return shape.dims
    }

    /// The values of a blob that is known beforehand; throws naming what needs it otherwise.
    func known(_ blob: Blob, _ what: String) throws -> [Float] {
        guard let tensor = builder.constantValue(blob.id) else {
            throw unsupported("\(what) depends on the network's inputs; only what is known beforehand can be run")
        }
        return tensor.floatArray()
    }

    /// Whole numbers of a blob that is known beforehand.
    func knownInts(_ blob: Blob, _ what: String) throws -> [Int] {
        try known(blob, what).map { value in
            guard let number = Int(exactly: value.rounded(.towardZero)) else { throw failure("\(what) \(value) is no whole number") }
            return number
        }
    }
}
