import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Convolutions 3 x 3 by Winograd's method, where the precision allows it and it is estimated to be faster.
extension PlanBuilder {
    /// More input channels than this would make the transforms' scratch large.
    private static let maximumWinogradChannels = 2048

    /// The step's sizes when the method is to be used.
    func winograd(_ op: Convolution, _ node: Node, _ x: Shape, _ w: Shape, _ y: Shape) -> nt_winograd? {
        guard usesWinograd, op.groups == 1, w[2] == 3, w[3] == 3, op.strides == .one, op.dilations == .one,
            w[1] <= Self.maximumWinogradChannels
        else { return nil }
        let inPairs = multipliesPairs(op, w)
        let element = inPairs ? element : Int32(NT_ELEMENT_FLOAT32)
        guard !inPairs || wantsPairs(node.outputs[0]) else { return nil }
        var step = nt_winograd()
        step.window = Self.window(op, x, w, y)
        (step.batch, step.channels, step.outputs) = (x[0], w[1], w[0])
        step.kernel = nt_winograd_choose(element, max(w[0], w[1]), isa)
        let side = Int(NT_WINOGRAD_TILE)
        let tiles = x[0] * ((y[2] + side - 1) / side) * ((y[3] + side - 1) / side)
        step.gemm = nt_gemm_choose(tiles, w[0], w[1], isa)
        step.block_tiles = nt_winograd_block_tiles(&step, nt_cache_bytes(2) / 4 * 3)
        let depth = nt_slots(element, w[1])
        guard let direct = nt_gemm_choose_taps(element, x[0] * y[2] * y[3], w[0], 9, depth, isa) else { return nil }
        let plain = nt_gemm_cost_taps(direct, x[0] * y[2] * y[3], w[0], 9, depth)
        return nt_winograd_cost(&step) < 0.95 * plain ? step : nil
    }

    /// The method by the kernel of its products, which are in float32, and before it by that of its transforms when images are not.
    private static func winogradName(_ step: nt_winograd) -> String {
        guard let kernel = step.kernel?.pointee, let gemm = step.gemm?.pointee else { return "winograd 3x3" }
        let transforms = Int(kernel.element) == NT_ELEMENT_FLOAT32 ? "" : String(cString: kernel.name) + ", float32 "
        return "winograd 3x3 " + transforms + String(cString: gemm.name)
    }

    mutating func emitWinograd(_ sizes: nt_winograd, _ op: Convolution, _ node: Node) throws {
        var step = sizes
        let inPairs = multipliesPairs(op, shape(node.inputs[1]))
        let source = inPairs ? try asPairs(node.inputs[0]) : try asPixels(node.inputs[0])
        let (residual, target) = try convolutionTarget(op, node, from: node.inputs[0], inPairs: inPairs)
        (step.x_stride, step.y_stride, step.residual_stride) = (source.pixelStride, target.pixelStride, residual?.pixelStride ?? 0)
        let count = nt_winograd_packed_count(step.gemm, step.channels, step.outputs)
        let (gemm, channels, outputs) = (step.gemm, step.channels, step.outputs)
        let name = gemm.map { String(cString: $0.pointee.name) } ?? ""
        step.packed = try store.packed(
            try constant(node.inputs[1]), recipe: "winograd 4x4 gemm \(name) channels \(channels) outputs \(outputs)", byteCount: 4 * count
        ) { reader, target in
            var scratch = [Float](repeating: 0, count: nt_winograd_pack_scratch_count(gemm, channels))
            nt_winograd_pack(
                gemm, channels, outputs, try reader.floats(), &scratch, target.bindMemory(to: Float.self, capacity: count))
        }.assumingMemoryBound(to: Float.self)
        step.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: outputs, stride: (outputs + 63) / 64 * 64)
        step.zeros = try store.zeros(channels)
        step.activation = activation(op.activation)
        let cycles = nt_winograd_cost(&step)
        // Products for whole tiles, borders included; the sums of the transforms are not counted.
        let (y, side) = (shape(node.outputs[0]), Int(NT_WINOGRAD_TILE))
        let tiles = ((y[2] + side - 1) / side) * ((y[3] + side - 1) / side)
        let share = Double(tiles * (side + 2) * (side + 2)) / Double(9 * max(1, y[2] * y[3]))
        append(
            nt_step_winograd, store.keep(step), inputs: [source, residual], outputs: [target],
            parts: parts(work: Int(min(cycles, 1e15)), grain: Int(Self.shareCycles), limit: threads),
            scratchCount: nt_winograd_scratch_count(&step),
            description: describe([node], kernel: Self.winogradName(step), share: share))
    }
}
