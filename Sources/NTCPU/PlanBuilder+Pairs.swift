import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Values in bfloat16 or float16, two in a slot: which ones lie so, and how they get there and back.
extension PlanBuilder {
    /// The most taps of a convolution in pairs: with more, sums would pass through memory and be rounded on the way.
    static let maximumPairTaps = 64

    /// In pairs so many channels fill half a vector. What reads and writes no more computes in float32, which is no slower there.
    static let narrowChannels = 16

    /// Whether a convolution that is not depthwise computes in pairs. Groups must begin and end at whole slots.
    func multipliesPairs(_ op: Convolution, _ w: Shape) -> Bool {
        usesPairs && w[2] * w[3] <= Self.maximumPairTaps && max(w[0], w[1] * op.groups) > Self.narrowChannels
            && (op.groups == 1 || (w[1] % 2 == 0 && (w[0] / op.groups) % 2 == 0))
    }

    /// Whether a fused chain computes in pairs.
    func usesPairs(_ chain: SeparableChain) -> Bool {
        usesPairs && max(shape(graph.nodes[chain.depthwise].inputs[0])[1], shape(graph.nodes[chain.project].outputs[0])[1]) > Self.narrowChannels
    }

    /// Whether a convolution computes in pairs, alone or in its chain.
    private func computesPairs(_ index: Int, _ op: Convolution) -> Bool {
        if let last = chainOfNode[index], let chain = chains[last] { return usesPairs(chain) }
        return computesPairsAlone(index, op)
    }

    private func computesPairsAlone(_ index: Int, _ op: Convolution) -> Bool {
        let (x, w) = (shape(graph.nodes[index].inputs[0]), shape(graph.nodes[index].inputs[1]))
        return Self.isDepthwise(op, x, w) ? usesPairs && x[1] > Self.narrowChannels : multipliesPairs(op, w)
    }

    /// Whether each stage of a chain computes alone in what the chain computes in.
    func computesAlikeApart(_ chain: SeparableChain) -> Bool {
        let inPairs = usesPairs(chain)
        return [chain.expand, chain.depthwise, chain.project].compactMap { $0 }.allSatisfy { index in
            (graph.nodes[index].op as? Convolution).map { computesPairsAlone(index, $0) == inPairs } ?? true
        }
    }

    /// Whether a node can read this input of its in pairs.
    private func readsPairs(_ index: Int, _ id: ValueID) -> Bool {
        let node = graph.nodes[index]
        switch node.op {
        case let op as Convolution:
            let isImage = node.inputs[0] == id || op.residualIndex.map { node.inputs[$0] == id } ?? false
            return isImage && computesPairs(index, op)
        case is Pool: return shape(id)[1] > Self.narrowChannels
        case let op as Reduce: return op.function == .mean || op.function == .sum
        case is Concat: return reserved[node.outputs[0]]?.layout.isPairs ?? false
        default: return false
        }
    }

    /// Whether the producer of a value should write it in pairs: a place that is so waits for it, or a reader wants it.
    func wantsPairs(_ id: ValueID) -> Bool {
        guard usesPairs, shape(id).rank == 4 else { return false }
        if let place = reserved[id] { return place.layout.isPairs }
        return !graph.outputs.contains(id) && consumers[id.index].contains { readsPairs($0, id) }
    }

    /// Whether a pool computes in pairs: its input lies so, or its output must.
    func poolsPairs(_ node: Node) -> Bool {
        if let place = reserved[node.outputs[0]] { return place.layout.isPairs }
        return placements[node.inputs[0].index]?.layout.isPairs ?? false
    }

    /// Whether the node that computes a value can write pairs.
    func canWritePairs(_ id: ValueID) -> Bool {
        guard usesPairs, let producer = producers[id.index] else { return false }
        let node = graph.nodes[producer]
        switch node.op {
        case let op as Convolution: return computesPairs(producer, op)
        case is Pool: return shape(id)[1] > Self.narrowChannels
        case is Concat: return beginAtSlots(node)
        default: return false
        }
    }

    /// Whether a concatenation of channels is made in pairs: its place must be so, or a reader wants it and its pieces allow it.
    func joinsPairs(_ node: Node) -> Bool {
        if let place = reserved[node.outputs[0]] { return place.layout.isPairs }
        guard usesPairs, beginAtSlots(node), !graph.outputs.contains(node.outputs[0]) else { return false }
        return consumers[node.outputs[0].index].contains { readsPairs($0, node.outputs[0]) } && node.inputs.contains { canWritePairs($0) }
    }

    /// Whether each piece of a concatenation of channels begins at a whole slot.
    private func beginAtSlots(_ node: Node) -> Bool { node.inputs.dropLast().allSatisfy { shape($0).rank == 4 && shape($0)[1] % 2 == 0 } }

    // MARK: Places

    /// Memory in the arena for an image.
    mutating func newImage(_ shape: Shape, inPairs: Bool) -> Placement {
        let pixels = shape[0] * shape[2] * shape[3]
        let slots = inPairs ? nt_slots(element, shape[1]) : shape[1]
        let stride = Self.pixelStride([shape[0], slots, shape[2], shape[3]])
        return Placement(
            buffer: addBuffer(.arena(count: pixels * stride)), layout: inPairs ? .pairs(element: element, stride: stride) : .pixels(stride: stride))
    }

    /// Gives an image its place in pairs: the reserved one, or a buffer of the arena.
    mutating func placePairs(_ id: ValueID) -> Placement {
        let place = reserved[id] ?? newImage(shape(id), inPairs: true)
        placements[id.index] = place
        return place
    }

    /// The same, taking over `input`'s memory when no one else wants that.
    mutating func placePairs(_ id: ValueID, over input: ValueID) -> Placement {
        guard reserved[id] == nil, isExpendable(input), shape(id) == shape(input), let place = placements[input.index],
            place.layout.isPairs
        else { return placePairs(id) }
        placements[id.index] = place
        return place
    }

    // MARK: Conversions

    /// An image in pairs, converted when it is not.
    mutating func asPairs(_ id: ValueID) throws -> Placement {
        if let place = placements[id.index], place.layout.isPairs { return place }
        if let copy = pairCopies[id] { return copy }
        let copy = convertedImage(id, from: try asPixels(id), toPairs: true)
        pairCopies[id] = copy
        return copy
    }

    /// A copy in float32 of an image in pairs, as pixels.
    mutating func floatCopy(_ id: ValueID, of place: Placement) throws -> Placement {
        if let copy = floatCopies[id] { return copy }
        let copy = convertedImage(id, from: place, toPairs: false)
        floatCopies[id] = copy
        return copy
    }

    /// A new image in the other element type.
    private mutating func convertedImage(_ id: ValueID, from source: Placement, toPairs: Bool) -> Placement {
        let x = shape(id)
        let copy = newImage(x, inPairs: toPairs)
        emitConversion(
            nt_conversion(
                rows: x[0] * x[2] * x[3], count: x[1], x_stride: source.pixelStride, y_stride: copy.pixelStride, element: element,
                to_pairs: toPairs ? 1 : 0),
            id, from: source, to: copy)
        return copy
    }

    /// `rows` rows of `count` numbers in logical order, in pairs, as pixels of an image one pixel large.
    mutating func rowsAsPairs(_ id: ValueID, rows: Int, count: Int) throws -> Placement {
        let source = try asRowMajor(id)
        let stride = nt_slots(element, count)
        let copy = Placement(buffer: addBuffer(.arena(count: rows * stride)), layout: .pairs(element: element, stride: stride))
        emitConversion(
            nt_conversion(rows: rows, count: count, x_stride: count, y_stride: stride, element: element, to_pairs: 1), id, from: source, to: copy)
        return copy
    }

    /// An image as it lies, in float32 or pairs, brought to pixels when it is in logical order.
    mutating func asStoredPixels(_ id: ValueID) throws -> Placement {
        if let place = placements[id.index], place.layout.isPairs { return place }
        return try asPixels(id)
    }

    /// Whether an image lies as pixels, in float32 or pairs.
    mutating func isStoredAsPixels(_ id: ValueID) throws -> Bool {
        if let place = placements[id.index], place.layout.isPairs { return true }
        return try placement(id).pixelView(shape(id)) != nil
    }

    private mutating func emitConversion(_ conversion: nt_conversion, _ id: ValueID, from: Placement, to: Placement) {
        let count = conversion.rows * conversion.count
        append(
            nt_step_convert, store.keep(conversion), inputs: [from], outputs: [to],
            parts: parts(work: count, grain: Self.shareElements, limit: conversion.rows),
            description: StepDescription(
                layers: [graph[id].name], operators: ["To" + (conversion.to_pairs == 1 ? CPUBackend.name(element) : "Float32")], kernel: "convert",
                flops: 0,
                byteCount: 6 * count, output: "\(shape(id))"))
    }

    /// Brings the pieces that were not computed in their places into the joint image.
    mutating func emitConcatOfPairs(_ node: Node, into joint: Placement) throws {
        placements[node.outputs[0].index] = joint
        var start = 0
        for id in node.inputs {
            var piece = joint
            piece.offset += nt_slots(joint.element, start)
            let x = shape(id)
            start += x[1]
            let source = try asPairs(id)
            if source.buffer == piece.buffer && source.offset == piece.offset { continue }
            let slots: Shape = [x[0] * x[2] * x[3], nt_slots(joint.element, x[1])]
            emitCopy(
                slots, from: source, [source.pixelStride, 1], to: piece, [piece.pixelStride, 1], names: ([node.name], [node.op.kind]))
        }
    }
}
