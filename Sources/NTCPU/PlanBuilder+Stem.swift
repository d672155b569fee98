import CNTKernels
import NTGraph
import NTRuntime
import NTTensor

/// A network's first convolution, alone or in one step with what reads it.
extension PlanBuilder {
    /// Whether a convolution has the shape of a first one: few input channels.
    func hasStemShape(_ index: Int) -> Bool {
        guard let op = graph.nodes[index].op as? Convolution else { return false }
        let (x, w) = (shape(graph.nodes[index].inputs[0]), shape(graph.nodes[index].inputs[1]))
        return op.groups == 1 && !op.hasResidual && x[1] <= 4 && x[2] * x[3] > 1 && x[1] * w[2] <= Int(NT_STEM_MAX_TAPS)
            && op.dilations.width == 1 && op.padding.left < w[3]
    }

    /// Whether it is to be computed as one, its input being in logical order.
    mutating func isStem(_ index: Int) throws -> Bool {
        let input = graph.nodes[index].inputs[0]
        guard hasStemShape(index), placements[input.index]?.layout.isPairs != true else { return false }
        return try placement(input).rowMajorView(shape(input)) != nil
    }

    /// The convolution for output pixels `stride` slots apart, and its cycles.
    func stem(_ op: Convolution, _ node: Node, stride: Int, element: Int32) throws -> (sizes: nt_stem, cycles: Int) {
        let (x, w, y) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]))
        var stem = nt_stem()
        stem.window = Self.window(op, x, w, y)
        (stem.batch, stem.channels, stem.outputs) = (x[0], x[1], w[0])
        (stem.y_stride, stem.y_element) = (stride, element)
        // Windows two columns apart begin at whole slots.
        let multiplied = op.strides.width == 2 ? self.element : Int32(NT_ELEMENT_FLOAT32)
        let interleaves = nt_stem_interleaves(multiplied) != 0
        let (rows, width) = interleaves ? (w[2], w[3] * x[1]) : (x[1] * w[2], w[3])
        let depth = nt_slots(multiplied, width)
        stem.kernel = nt_gemm_choose_steps(multiplied, y[3], w[0], rows, depth, isa)
        let packing = GEMMPacking(kernel: stem.kernel, outputs: w[0], taps: rows, depth: width, tapStride: width)
        stem.packed = try interleaves ? packedInterleaved(node.inputs[1], packing, stem.window) : packed(node.inputs[1], packing)
        stem.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: w[0], stride: nt_gemm_bias_count(stem.kernel, w[0]), of: node, for: stem.kernel)
        stem.activation = activation(op.activation)
        stem.strip_rows = nt_stem_strip_rows(&stem, nt_cache_bytes(1))
        return (stem, Int(min(Double(x[0]) * Double(y[2]) * nt_gemm_cost_steps(stem.kernel, y[3], w[0], rows, depth), 1e15)))
    }

    /// A first convolution's weights for pixels whose channels lie side by side.
    private func packedInterleaved(_ id: ValueID, _ packing: GEMMPacking, _ window: nt_window) throws -> UnsafePointer<Float> {
        let (weights, count) = (try constant(id), packing.groupCount)
        return try store.packed(weights, recipe: "interleaved " + packing.recipe, byteCount: 4 * count) { reader, target in
            var (window, ordered) = (window, [Float](repeating: 0, count: weights.type.shape.count))
            nt_stem_interleave(&window, weights.type.shape[1], weights.type.shape[0], try reader.floats(), &ordered)
            ordered.withUnsafeBufferPointer { elements in
                guard let start = elements.baseAddress else { return }
                packing.pack(target.bindMemory(to: Float.self, capacity: count)) { start + $0.lowerBound }
            }
        }.assumingMemoryBound(to: Float.self)
    }

    mutating func emitStem(_ op: Convolution, _ node: Node) throws {
        let y = shape(node.outputs[0])
        let source = try asRowMajor(node.inputs[0])
        let target = wantsPairs(node.outputs[0]) ? placePairs(node.outputs[0]) : place(node.outputs[0], asPixels: true)
        let (stem, cycles) = try stem(op, node, stride: target.pixelStride, element: target.element)
        append(
            nt_step_stem, store.keep(stem), inputs: [source], outputs: [target],
            parts: parts(work: cycles, grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            scratchCount: withUnsafePointer(to: stem, nt_stem_scratch_count),
            description: describe([node], kernel: "stem \(stem.window.kernel_height)x\(stem.window.kernel_width) " + stem.kernelName))
    }

    // MARK: With the pool that reads it

    /// Finds first convolutions that a pool alone reads.
    mutating func findStemPools() {
        for index in graph.nodes.indices {
            guard let pool = graph.nodes[index].op as? Pool, let stem = soleProducer(of: graph.nodes[index].inputs[0]), hasStemShape(stem),
                !absorbed.contains(stem), pool.kernel.height * pool.kernel.width <= Self.maximumFusedTaps
            else { continue }
            pooledStems[index] = stem
            absorbed.insert(stem)
        }
    }

    /// Larger windows would have a ring of many rows.
    private static let maximumFusedTaps = 16

    /// Emits a pool and the first convolution before it.
    mutating func emitStemPool(_ index: Int, _ stemIndex: Int) throws {
        let (first, node) = (graph.nodes[stemIndex], graph.nodes[index])
        guard let convolution = first.op as? Convolution, let op = node.op as? Pool else { return }
        guard try isStem(stemIndex) else {
            try emitConvolution(stemIndex)
            return try emitPool(op, node)
        }
        let source = try asRowMajor(first.inputs[0])
        let inPairs = reserved[node.outputs[0]]?.layout.isPairs ?? wantsPairs(first.outputs[0])
        let target = inPairs ? placePairs(node.outputs[0]) : place(node.outputs[0], asPixels: true)
        let stride = Self.pixelStride([1, nt_slots(target.element, shape(first.outputs[0])[1]), 1, 1])
        var fused = nt_stem_pool()
        let cycles: Int
        (fused.stem, cycles) = try stem(convolution, first, stride: stride, element: target.element)
        fused.pool = poolImage(op, node, xStride: stride, yStride: target.pixelStride, inPairs: inPairs)
        let (name, y) = (fused.stem.kernelName, shape(node.outputs[0]))
        append(
            nt_step_stem_pool, store.keep(fused), inputs: [source], outputs: [target],
            parts: parts(work: cycles, grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            scratchCount: nt_stem_pool_scratch_count(&fused),
            description: describe([first, node], kernel: "stem \(fused.stem.window.kernel_height)x\(fused.stem.window.kernel_width)+pool " + name))
    }
}

extension nt_stem {
    fileprivate var kernelName: String { kernel.map { String(cString: $0.pointee.name) } ?? "" }
}
