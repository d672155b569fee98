import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Dense layers, products of matrices, transposed convolutions.
extension PlanBuilder {
    mutating func emitDense(_ op: Dense, _ node: Node) throws {
        let (w, y) = (shape(node.inputs[1]), shape(node.outputs[0]))
        let rows = y.count / max(1, w[0])
        let source = usesPairs ? try rowsAsPairs(node.inputs[0], rows: rows, count: w[1]) : try asRowMajor(node.inputs[0])
        let target = place(node.outputs[0], asPixels: false)
        var conv = nt_conv()
        conv.window = Self.singlePixel
        (conv.batch, conv.groups, conv.channels, conv.outputs) = (rows, 1, nt_slots(source.element, w[1]), w[0])
        (conv.x_stride, conv.y_stride) = (conv.channels, w[0])
        conv.kernel = nt_gemm_choose_element(source.element, rows, w[0], conv.channels, isa)
        conv.packed = try packed(node.inputs[1], GEMMPacking(kernel: conv.kernel, outputs: w[0], depth: w[1]))
        conv.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: w[0], stride: nt_gemm_bias_count(conv.kernel, w[0]), of: node, for: conv.kernel)
        conv.zeros = try store.zeros(conv.channels)
        conv.activation = activation(op.activation)
        conv.block_rows = nt_conv_block_rows(&conv, nt_cache_bytes(2))
        append(
            nt_step_conv, store.keep(conv), inputs: [source], outputs: [target],
            parts: nt_conv_parts(&conv, threads, Self.shareCycles),
            description: describe([node], kernel: "dense " + String(cString: conv.kernel.pointee.name)))
    }

    static let singlePixel = nt_window(
        in_height: 1, in_width: 1, out_height: 1, out_width: 1, kernel_height: 1, kernel_width: 1, stride_y: 1, stride_x: 1,
        dilation_y: 1, dilation_x: 1, pad_top: 0, pad_left: 0)

    mutating func emitMatMul(_ op: MatMul, _ node: Node) throws {
        let (a, b, y) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]))
        let (left, right) = (try asRowMajor(node.inputs[0]), try asRowMajor(node.inputs[1]))
        let target = place(node.outputs[0], asPixels: false)
        let batch = Shape(Array(y.dims.dropLast(2)))
        let (m, n) = (y[y.rank - 2], y[y.rank - 1])
        let k = op.transposeA ? a[a.rank - 2] : a[a.rank - 1]
        var product = nt_matmul()
        (product.batch, product.m, product.n, product.k) = (batch.count, m, n, k)
        (product.transposes_a, product.transposes_b) = (op.transposeA ? 1 : 0, op.transposeB ? 1 : 0)
        product.a_offsets = store.keep(array: Self.batchOffsets(a, batch, size: m * k))
        product.b_offsets = store.keep(array: Self.batchOffsets(b, batch, size: n * k))
        product.kernel = nt_gemm_choose(m, n, k, isa)
        append(
            nt_step_matmul, store.keep(product), inputs: [left, right], outputs: [target],
            parts: parts(work: batch.count * m * n * k / 16, grain: Int(Self.shareCycles), limit: batch.count),
            scratchCount: nt_matmul_scratch_count(&product),
            description: describe([node], kernel: "matmul " + String(cString: product.kernel.pointee.name)))
    }

    /// Where each matrix of a broadcast batch begins.
    private static func batchOffsets(_ shape: Shape, _ batch: Shape, size: Int) -> [Int] {
        let strides = Shape(Array(shape.dims.dropLast(2))).broadcastStrides(to: batch)
        var offsets = [Int](repeating: 0, count: batch.count)
        StridedLoop.forEach(batch, strides: strides) { offsets[$0] = $1 * size }
        return offsets
    }

    /// A transposed convolution as a convolution of the input with zeros between its pixels: weights turned by half a circle.
    mutating func emitTransposed(_ op: ConvolutionTranspose, _ node: Node) throws {
        let (x, w, y) = (shape(node.inputs[0]), shape(node.inputs[1]), shape(node.outputs[0]))
        guard let geometry = TransposedGeometry(op, x: x, w: w) else { throw OperatorError("cropping beyond the kernel") }
        let source = try placement(node.inputs[0])
        let target = place(node.outputs[0], asPixels: true)
        let spread: Shape = [x[0], x[1], geometry.height, geometry.width]
        let wide = Placement(buffer: addBuffer(.arena(count: spread.count)), layout: .pixels(stride: x[1]))
        append(
            nt_step_fill, store.keep(nt_filling(count: spread.count, value: 0)), inputs: [], outputs: [wide],
            description: StepDescription(
                layers: [node.name], operators: [node.op.kind], kernel: "fill", flops: 0, byteCount: 4 * spread.count,
                output: "\(spread)"))
        var strides = wide.strides(spread)
        strides[2] *= op.strides.height
        strides[3] *= op.strides.width
        emitCopy(x, from: source, source.strides(x), to: wide, strides, names: ([node.name], [node.op.kind]))
        var conv = nt_conv()
        conv.window = geometry.window(op, w, y)
        let (depth, perGroup, taps) = (x[1] / op.groups, w[1], w[2] * w[3])
        (conv.batch, conv.groups, conv.channels, conv.outputs) = (x[0], op.groups, depth, perGroup)
        (conv.x_stride, conv.y_stride) = (x[1], target.pixelStride)
        conv.kernel = nt_gemm_choose(x[0] * y[2] * y[3], perGroup, depth * taps, isa)
        try packTransposed(&conv, node, op, taps: taps)
        conv.zeros = try store.zeros(depth * w[3])
        conv.activation = activation(op.activation)
        conv.block_rows = nt_conv_block_rows(&conv, nt_cache_bytes(2))
        append(
            nt_step_conv, store.keep(conv), inputs: [wide], outputs: [target],
            parts: nt_conv_parts(&conv, threads, Self.shareCycles),
            description: describe([node], kernel: "conv \(w[2])x\(w[3]) " + String(cString: conv.kernel.pointee.name)))
    }

    private func packTransposed(_ conv: inout nt_conv, _ node: Node, _ op: ConvolutionTranspose, taps: Int) throws {
        let (depth, perGroup) = (conv.channels, conv.outputs)
        let packing = GEMMPacking(
            kernel: conv.kernel, groups: op.groups, outputs: perGroup, taps: taps, depth: depth, tapStride: 1,
            depthStride: taps)
        let count = packing.groups * packing.groupCount
        conv.packed = try store.packed(try constant(node.inputs[1]), recipe: "turned " + packing.recipe, byteCount: 4 * count) { reader, target in
            let turned = Self.turned(try reader.floats(), groups: op.groups, depth: depth, perGroup: perGroup, taps: taps)
            turned.withUnsafeBufferPointer { weights in
                guard let base = weights.baseAddress else { return }
                packing.pack(target.bindMemory(to: Float.self, capacity: count)) { base + $0.lowerBound }
            }
        }.assumingMemoryBound(to: Float.self)
        conv.packed_stride = packing.groupCount
        conv.bias_stride = nt_gemm_bias_count(conv.kernel, perGroup)
        conv.bias = try packBias(op.hasBias ? node.inputs[2] : nil, groups: op.groups, perGroup: perGroup, stride: conv.bias_stride)
    }

    /// Weights [groups][channels][outputs][taps] as [groups][outputs][channels][taps], each window turned by half a circle.
    private static func turned(_ weights: UnsafePointer<Float>, groups: Int, depth: Int, perGroup: Int, taps: Int) -> [Float] {
        var turned = [Float](repeating: 0, count: groups * perGroup * depth * taps)
        for group in 0..<groups {
            for c in 0..<depth {
                for o in 0..<perGroup {
                    let (from, to) = (((group * depth + c) * perGroup + o) * taps, ((group * perGroup + o) * depth + c) * taps)
                    for tap in 0..<taps { turned[to + taps - 1 - tap] = weights[from + tap] }
                }
            }
        }
        return turned
    }
}

/// The extents of a transposed convolution's input once zeros stand between its pixels, and the padding around it.
struct TransposedGeometry {
    let height: Int
    let width: Int
    private let top: Int
    private let left: Int

    /// Nil when more is cropped than the kernel reaches.
    init?(_ op: ConvolutionTranspose, x: Shape, w: Shape) {
        height = (x[2] - 1) * op.strides.height + 1
        width = (x[3] - 1) * op.strides.width + 1
        top = Window.coverage(kernel: w[2], dilation: op.dilations.height) - 1 - op.cropping.top
        left = Window.coverage(kernel: w[3], dilation: op.dilations.width) - 1 - op.cropping.left
        let (full, overflow) = height.multipliedReportingOverflow(by: width)
        guard top >= 0, left >= 0, !overflow, full <= Shape.maximumCount / max(1, x[0] * x[1]) else { return nil }
    }

    func window(_ op: ConvolutionTranspose, _ w: Shape, _ y: Shape) -> nt_window {
        nt_window(
            in_height: height, in_width: width, out_height: y[2], out_width: y[3], kernel_height: w[2], kernel_width: w[3],
            stride_y: 1, stride_x: 1, dilation_y: op.dilations.height, dilation_x: op.dilations.width, pad_top: top, pad_left: left)
    }
}
