import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// Operators that move elements: views where memory allows, strided copies elsewhere.
extension PlanBuilder {
    mutating func emitReshape(_ node: Node) throws { alias(node.outputs[0], try asRowMajor(node.inputs[0])) }

    /// Copies `shape` elements of the input, seen under `strides` from `offset` on, into the node's output in logical order.
    private mutating func emitGathering(
        _ node: Node, from source: Placement, offset: Int, strides: [Int], seenAs shape: Shape, output: Int = 0
    ) {
        var source = source
        source.offset += offset
        let target = place(node.outputs[output], asPixels: false)
        emitCopy(shape, from: source, strides, to: target, shape.strides, names: ([node.name], [node.op.kind]))
    }

    mutating func emitTranspose(_ op: Transpose, _ node: Node) throws {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let source = try placement(node.inputs[0])
        let strides = op.permutation.map { source.strides(x)[$0] }
        if strides == y.strides {
            alias(node.outputs[0], Placement(buffer: source.buffer, offset: source.offset, layout: .rowMajor))
        } else if source.layout == .rowMajor, op.permutation == [0, 3, 1, 2] {
            // N H W C in logical order is what pixels are.
            alias(node.outputs[0], Placement(buffer: source.buffer, offset: source.offset, layout: .pixels(stride: y[1])))
        } else {
            emitGathering(node, from: source, offset: 0, strides: strides, seenAs: y)
        }
    }

    mutating func emitConcat(_ op: Concat, _ node: Node) throws {
        let y = shape(node.outputs[0])
        let axis = try OperatorError.normalizedAxis(op.axis, rank: y.rank)
        if let joint = reserved[node.outputs[0]], joint.layout.isPairs {
            try emitConcatOfPairs(node, into: joint)
            return
        }
        let places = try node.inputs.map { try placement($0) }
        let pixels = try y.rank == 4 && node.inputs.contains { try placement($0).rowMajorView(shape($0)) == nil }
        let target = place(node.outputs[0], asPixels: reserved[node.outputs[0]] != nil || pixels)
        let strides = target.strides(y)
        var start = 0
        for (id, place) in zip(node.inputs, places) {
            var piece = target
            piece.offset += start * strides[axis]
            // A piece that was computed in its place lies there already.
            if reserved[id] == nil || place.buffer != piece.buffer || place.offset != piece.offset {
                emitCopy(
                    shape(id), from: place, place.strides(shape(id)), to: piece, strides, names: ([node.name], [node.op.kind]))
            }
            start += shape(id)[axis]
        }
    }

    /// Gives the pieces of channel concatenations their places in the joint image beforehand, where their producers can write there.
    mutating func reserveConcatenations() {
        for index in graph.nodes.indices.reversed() {
            let node = graph.nodes[index]
            guard let op = node.op as? Concat, shape(node.outputs[0]).rank == 4, op.axis == 1 || op.axis == -3 else { continue }
            let y = shape(node.outputs[0])
            let inPairs = joinsPairs(node)
            let pieces = node.inputs.filter { canWriteAnywhere($0, into: node) && (!inPairs || canWritePairs($0)) }
            guard !pieces.isEmpty, !graph.outputs.contains(node.outputs[0]) || reserved[node.outputs[0]] != nil else { continue }
            let joint: Placement
            if let place = reserved[node.outputs[0]] {
                joint = place
            } else {
                joint = newImage(y, inPairs: inPairs)
                reserved[node.outputs[0]] = joint
            }
            buffers[joint.buffer].isShared = true
            var start = 0
            for id in node.inputs {
                if pieces.contains(id) {
                    reserved[id] = Placement(
                        buffer: joint.buffer, offset: joint.offset + nt_slots(joint.element, start), layout: joint.layout)
                }
                start += shape(id)[1]
            }
        }
    }

    private func canWriteAnywhere(_ id: ValueID, into node: Node) -> Bool {
        guard let producer = producers[id.index], reserved[id] == nil, !graph.outputs.contains(id),
            node.inputs.filter({ $0 == id }).count == 1
        else { return false }
        switch graph.nodes[producer].op {
        case is Convolution, is ConvolutionTranspose, is Pool, is Unary, is ChannelAffine, is PReLU: return true
        case let op as Concat: return op.axis == 1 || op.axis == -3
        default: return false
        }
    }

    mutating func emitSplit(_ op: Split, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let source = try placement(node.inputs[0])
        let strides = source.strides(x)
        var start = 0
        for (index, id) in node.outputs.enumerated() {
            emitPiece(node, id, index, from: source, x, strides: strides, offset: start * strides[axis])
            start += shape(id)[axis]
        }
    }

    /// A part of the input with the input's strides: a view when its layout can say so, else a copy.
    private mutating func emitPiece(
        _ node: Node, _ id: ValueID, _ index: Int, from source: Placement, _ x: Shape, strides: [Int], offset: Int
    ) {
        let piece = shape(id)
        var view = source
        view.offset += offset
        if case .pixels = source.layout, piece[0] == 1 || piece[2] == x[2], piece[3] == x[3], isWholeRows(piece, x) {
            alias(id, view)
        } else if source.layout == .rowMajor, zip(piece.strides, zip(strides, piece.dims)).allSatisfy({ $0 == $1.0 || $1.1 == 1 }) {
            alias(id, view)
        } else {
            emitGathering(node, from: source, offset: offset, strides: strides, seenAs: piece, output: index)
        }
    }

    /// Whether a part of an image is made of whole rows, so that pixels and rows keep their distances.
    private func isWholeRows(_ piece: Shape, _ x: Shape) -> Bool { piece[3] == x[3] && (piece[2] == x[2] || piece[0] == 1) }

    mutating func emitSlice(_ op: Slice, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try placement(node.inputs[0])
        let own = source.strides(x)
        let offset = zip(op.begins, own).reduce(0) { $0 + $1.0 * $1.1 }
        if op.strides.allSatisfy({ $0 == 1 }) {
            emitPiece(node, node.outputs[0], 0, from: source, x, strides: own, offset: offset)
        } else {
            emitGathering(
                node, from: source, offset: offset, strides: zip(op.strides, own).map { $0 * $1 }, seenAs: shape(node.outputs[0]))
        }
    }

    mutating func emitTile(_ op: Tile, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try placement(node.inputs[0])
        // Each axis is seen as (repeat, extent), the repeat standing still in the input.
        emitGathering(
            node, from: source, offset: 0, strides: source.strides(x).flatMap { [0, $0] },
            seenAs: Shape(zip(op.repeats, x.dims).flatMap { [$0, $1] }))
    }

    mutating func emitBroadcastTo(_ node: Node) throws {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let source = try placement(node.inputs[0])
        let own = source.strides(x)
        let lead = y.rank - x.rank
        let strides = (0..<y.rank).map { $0 < lead || x[$0 - lead] == 1 ? 0 : own[$0 - lead] }
        emitGathering(node, from: source, offset: 0, strides: strides, seenAs: y)
    }

    mutating func emitReverse(_ op: Reverse, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let source = try placement(node.inputs[0])
        var strides = source.strides(x)
        var offset = 0
        for axis in try Set(op.axes.map { try OperatorError.normalizedAxis($0, rank: x.rank) }) {
            offset += (x[axis] - 1) * strides[axis]
            strides[axis].negate()
        }
        emitGathering(node, from: source, offset: offset, strides: strides, seenAs: x)
    }

    mutating func emitRearrange(_ op: RearrangeBlocks, _ node: Node) throws {
        let (expanded, permutation) = op.decomposition(of: shape(node.inputs[0]))
        let source = try asRowMajor(node.inputs[0])
        let strides = expanded.strides
        emitGathering(
            node, from: source, offset: 0, strides: permutation.map { strides[$0] },
            seenAs: Shape(permutation.map { expanded[$0] }))
    }

    mutating func emitGather(_ op: Gather, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
        let (outer, extent, inner) = StridedLoop.split(x, axis: axis)
        let sources = [try asRowMajor(node.inputs[0]), try asRowMajor(node.inputs[1])]
        let target = place(node.outputs[0], asPixels: false)
        let gather = nt_gather(outer: outer, extent: extent, inner: inner, count: shape(node.inputs[1]).count)
        append(
            nt_step_gather, store.keep(gather), inputs: sources, outputs: [target], description: describe([node], kernel: "gather"))
    }

    mutating func emitPad(_ op: Pad, _ node: Node) throws {
        let (x, y) = (shape(node.inputs[0]), shape(node.outputs[0]))
        let source = try placement(node.inputs[0])
        let strides = source.strides(x)
        let target = place(node.outputs[0], asPixels: false)
        var pad = nt_pad()
        pad.rank = Int32(x.rank)
        CArray.assign(y.dims, to: &pad.dims)
        if case .constant(let value) = op.mode { pad.filler = value }
        let tables = (0..<x.rank).map { axis in
            store.keep(array: Self.sources(op, axis: axis, input: x[axis], output: y[axis], stride: strides[axis]))
        }
        withUnsafeMutableBytes(of: &pad.sources) { bytes in
            let target = bytes.bindMemory(to: UnsafePointer<Int>?.self)
            for (axis, table) in tables.enumerated() { target[axis] = table }
        }
        append(nt_step_pad, store.keep(pad), inputs: [source], outputs: [target], description: describe([node], kernel: "pad"))
    }

    /// For each output place along an axis the input offset it reads, -1 for the constant.
    private static func sources(_ op: Pad, axis: Int, input: Int, output: Int, stride: Int) -> [Int] {
        (0..<output).map { place in
            let index = place - op.before[axis]
            if index >= 0 && index < input { return index * stride }
            switch op.mode {
            case .constant: return -1
            case .reflection: return (index < 0 ? -index : 2 * (input - 1) - index) * stride
            case .replication: return (index < 0 ? 0 : input - 1) * stride
            }
        }
    }

    mutating func emitResize(_ op: Resize, _ node: Node) throws {
        let x = shape(node.inputs[0])
        let (height, width) = (x[x.rank - 2], x[x.rank - 1])
        let place = try placement(node.inputs[0])
        var resize = nt_tensor_resize()
        (resize.height, resize.width) = (op.size.height, op.size.width)
        resize.is_nearest = op.mode == .nearest ? 1 : 0
        let source: Placement
        let target: Placement
        let pixel: Int
        if place.rowMajorView(x) == nil {
            source = place
            target = self.place(node.outputs[0], asPixels: true)
            pixel = source.pixelStride
            (resize.outer, resize.channels, resize.y_stride) = (x[0], x[1], target.pixelStride)
        } else {
            source = try asRowMajor(node.inputs[0])
            target = self.place(node.outputs[0], asPixels: false)
            pixel = 1
            (resize.outer, resize.channels, resize.y_stride) = (x.count / (height * width), 1, 1)
        }
        resize.x_outer_stride = height * width * pixel
        resize.rows = store.keep(array: Self.taps(op, input: height, output: op.size.height, vertical: true, stride: width * pixel))
        resize.columns = store.keep(array: Self.taps(op, input: width, output: op.size.width, vertical: false, stride: pixel))
        append(
            nt_step_resize, store.keep(resize), inputs: [source], outputs: [target],
            parts: parts(work: shape(node.outputs[0]).count, grain: Self.shareElements, limit: resize.outer * resize.height),
            description: describe([node], kernel: "resize"))
    }

    private static func taps(_ op: Resize, input: Int, output: Int, vertical: Bool, stride: Int) -> [nt_resize_tap] {
        op.taps(input: input, output: output, vertical: vertical).map {
            nt_resize_tap(low: $0.low * stride, high: $0.high * stride, weight: Float($0.weight))
        }
    }
}
