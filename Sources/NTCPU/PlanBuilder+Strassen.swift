import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Pointwise products by Strassen's method, where the precision allows it and it is estimated to be faster.
extension PlanBuilder {
    /// Multiply-adds that are done, of those of the plain product: seven products for eight.
    static let strassenShare = 7.0 / 8

    /// The product's sizes and how many rows of the image are a block, when the method is to be used for images of `height` x `width`
    /// pixels. `rowBytes` is what a row of the block takes in cache besides the product's own memory.
    ///
    /// Neither the choice nor the block depends on threads or batch, and so no element's bits do.
    func strassen(depth: Int, outputs: Int, height: Int, width: Int, addsResidual: Bool, rowBytes: Int = 0) -> (sizes: nt_strassen, rows: Int)? {
        guard usesWinograd, !usesPairs, depth % 2 == 0, outputs % 2 == 0, depth >= 32, outputs >= 32, height * width >= 16 else {
            return nil
        }
        guard let plain = nt_gemm_choose(height * width, outputs, depth, isa) else { return nil }
        let plainCost = nt_gemm_cost(plain, height * width, outputs, depth)
        // The product of a small image is fused with what comes before at one thread and not at several: it has one block. That of a larger one has several
        // behind an expansion, which threads that shared one block by columns would all compute.
        let candidates = height * width < Self.fusedPixels ? height...height : 1...max(1, rowBytes > 0 ? height - 1 : height)
        var best: (sizes: nt_strassen, rows: Int)?
        var bestScore = Double.infinity
        for rows in candidates {
            var sizes = nt_strassen()
            (sizes.depth, sizes.outputs, sizes.block_rows) = (depth, outputs, rows * width)
            sizes.adds_residual = addsResidual ? 1 : 0
            sizes.gemm = nt_gemm_choose((rows * width + 1) / 2, outputs / 2, depth / 2, isa)
            sizes.kernel = nt_strassen_choose(isa)
            let bytes = nt_strassen_block_bytes(&sizes) + rows * rowBytes
            guard bytes <= nt_cache_bytes(2) / 8 * (rows == height ? 10 : 7) else { continue }
            let cost = nt_strassen_cost(&sizes, height * width)
            guard cost < 0.95 * plainCost else { continue }
            // Two threads take whole blocks, so that one may have more rows than the other. A single block they share by columns, and
            // both form its sums: some 2 % of the time.
            let blocks = (height + rows - 1) / rows
            let share = min(height, (blocks + 1) / 2 * rows)
            let score = cost * (blocks == 1 ? 1.02 : 2 * Double(share) / Double(height))
            if score < bestScore { (best, bestScore) = ((sizes, rows), score) }
        }
        return best
    }

    /// The product with its weights and bias.
    func packedStrassen(_ sizes: nt_strassen, _ op: Convolution, _ node: Node) throws -> nt_strassen {
        var product = sizes
        let (gemm, depth, outputs) = (sizes.gemm, sizes.depth, sizes.outputs)
        let count = nt_strassen_packed_count(gemm, depth, outputs)
        let name = gemm.map { String(cString: $0.pointee.name) } ?? ""
        product.packed = try store.packed(
            try constant(node.inputs[1]), recipe: "strassen gemm \(name) depth \(depth) outputs \(outputs)", byteCount: 4 * count
        ) { reader, target in
            var scratch = [Float](repeating: 0, count: outputs / 2 * (depth / 2))
            nt_strassen_pack(gemm, depth, outputs, try reader.floats(), &scratch, target.bindMemory(to: Float.self, capacity: count))
        }.assumingMemoryBound(to: Float.self)
        product.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 2, perGroup: outputs / 2, stride: nt_strassen_bias_stride(outputs))
        return product
    }

    /// Emits a convolution of 1 x 1 by the method; false when it is not to be used.
    mutating func emitStrassen(_ op: Convolution, _ node: Node, _ w: Shape, _ y: Shape) throws -> Bool {
        guard op.groups == 1, op.strides == .one, op.padding.isZero, w[2] == 1, w[3] == 1,
            let (sizes, _) = strassen(depth: w[1], outputs: w[0], height: y[2], width: y[3], addsResidual: op.hasResidual)
        else { return false }
        let source = try asPixels(node.inputs[0])
        let (residual, target) = try convolutionTarget(op, node, from: node.inputs[0], inPairs: false)
        var conv = nt_strassen_conv()
        conv.product = try packedStrassen(sizes, op, node)
        (conv.batch, conv.pixels) = (y[0], y[2] * y[3])
        (conv.x_stride, conv.y_stride, conv.residual_stride) = (source.pixelStride, target.pixelStride, residual?.pixelStride ?? 0)
        conv.activation = activation(op.activation)
        let cycles = nt_strassen_cost(&conv.product, conv.pixels) * Double(conv.batch)
        let kernel = conv.product.gemm.map { String(cString: $0.pointee.name) } ?? ""
        append(
            nt_step_strassen, store.keep(conv), inputs: [source, residual], outputs: [target],
            parts: parts(work: Int(min(cycles, 1e15)), grain: Int(Self.shareCycles), limit: threads),
            scratchCount: nt_strassen_scratch_count(&conv.product),
            description: describe([node], kernel: "strassen 1x1 " + kernel, share: Self.strassenShare))
        return true
    }
}
