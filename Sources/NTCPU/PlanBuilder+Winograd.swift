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
        guard nt_winograd_choose(&step, element, isa, nt_cache_bytes(2) / 4 * 3) != 0 else { return nil }
        let depth = nt_slots(element, w[1])
        guard let direct = nt_gemm_choose_taps(element, x[0] * y[2] * y[3], w[0], 9, depth, isa) else { return nil }
        let plain = nt_gemm_cost_taps(direct, x[0] * y[2] * y[3], w[0], 9, depth)
        return nt_winograd_cost(&step) < 0.95 * plain ? step : nil
    }

    /// The method by the kernel of its transforms and that of its products, which are in float32 whatever the images are.
    private static func winogradName(_ step: nt_winograd) -> String {
        let kernel = step.kernel.pointee
        let inFloat32 = Int(kernel.element) == NT_ELEMENT_FLOAT32 ? "" : "float32 "
        return "winograd 3x3 " + String(cString: kernel.name) + ", " + inFloat32
            + (step.gemm.map { String(cString: $0.pointee.name) } ?? "in registers")
    }

    mutating func emitWinograd(_ sizes: nt_winograd, _ op: Convolution, _ node: Node) throws {
        var step = sizes
        let inPairs = multipliesPairs(op, shape(node.inputs[1]))
        let source = inPairs ? try asPairs(node.inputs[0]) : try asPixels(node.inputs[0])
        let (residual, target) = try convolutionTarget(op, node, from: node.inputs[0], inPairs: inPairs)
        (step.x_stride, step.y_stride, step.residual_stride) = (source.pixelStride, target.pixelStride, residual?.pixelStride ?? 0)
        let kernel = step.kernel.pointee
        var packing = nt_winograd_packing_of(&step)
        let count = nt_winograd_packed_count(&packing)
        step.packed = try store.packed(
            try constant(node.inputs[1]),
            recipe: "winograd tile \(packing.tile) panel \(packing.panel) lanes \(packing.lanes)"
                + " channels \(packing.channels) outputs \(packing.outputs)",
            byteCount: 4 * count
        ) { nt_winograd_pack(&packing, try $0.floats(), $1.bindMemory(to: Float.self, capacity: count)) }
        .assumingMemoryBound(to: Float.self)
        step.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: step.outputs, stride: (step.outputs + 63) / 64 * 64)
        step.zeros = try store.zeros(Int(NT_WINOGRAD_MAX_PATCH) * step.x_stride)
        step.activation = activation(op.activation)
        let cycles = nt_winograd_cost(&step)
        // Products for whole tiles, borders included; the sums of the transforms are not counted.
        let patch = Int(kernel.tile) + 2
        let pixels = step.batch * step.window.out_height * step.window.out_width
        let share = Double(nt_winograd_tiles(&step) * patch * patch) / Double(9 * max(1, pixels))
        append(
            nt_step_winograd, store.keep(step), inputs: [source, residual], outputs: [target],
            parts: parts(work: Int(min(cycles, 1e15)), grain: Int(Self.shareCycles), limit: threads),
            scratchCount: nt_winograd_scratch_count(&step),
            description: describe([node], kernel: Self.winogradName(step), share: share))
    }
}
