import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Nodes that one fused step computes: depthwise and the pointwise that reads it, and the pointwise, the network's first convolution or
/// the chain before it when it has no other reader.
struct SeparableChain {
    var expand: Int?
    var stem: Int?
    /// The last node of the chain before.
    var before: Int?
    var depthwise: Int
    var project: Int
}

extension PlanBuilder {
    /// Output pixels from which on a chain is worth fusing for several threads.
    static let fusedPixels = 100

    /// Finds the chains that are worth a fused step. Which nodes belong together does not depend on which of the chains are.
    mutating func findChains() {
        var claimed: Set<Int> = []
        for index in graph.nodes.indices {
            guard let op = graph.nodes[index].op as? Convolution, isPointwise(index),
                let depthwise = soleProducer(of: graph.nodes[index].inputs[0]), isDepthwise(depthwise),
                op.residualIndex.map({ graph.nodes[index].inputs[$0] != graph.nodes[index].inputs[0] }) ?? true
            else { continue }
            var chain = SeparableChain(expand: nil, stem: nil, depthwise: depthwise, project: index)
            if let before = soleProducer(of: graph.nodes[depthwise].inputs[0]), !absorbed.contains(before), !claimed.contains(before) {
                if hasStemShape(before) {
                    chain.stem = before
                } else if isPointwise(before), (graph.nodes[before].op as? Convolution)?.hasResidual == false {
                    chain.expand = before
                }
            }
            let nodes = [chain.expand ?? chain.stem, depthwise, index].compactMap { $0 }
            claimed.formUnion(nodes)
            guard isWorthFusing(chain) else { continue }
            chains[index] = chain
            absorbed.formUnion(nodes.dropLast())
            for node in nodes { chainOfNode[node] = index }
        }
    }

    private func isPointwise(_ index: Int) -> Bool {
        guard let op = graph.nodes[index].op as? Convolution else { return false }
        let w = shape(graph.nodes[index].inputs[1])
        return op.groups == 1 && op.strides == .one && op.padding.isZero && w[2] == 1 && w[3] == 1
    }

    private func isDepthwise(_ index: Int) -> Bool {
        guard let op = graph.nodes[index].op as? Convolution else { return false }
        return Self.isDepthwise(op, shape(graph.nodes[index].inputs[0]), shape(graph.nodes[index].inputs[1]))
    }

    /// The node that computes a value which one place alone reads.
    func soleProducer(of id: ValueID) -> Int? {
        guard consumers[id.index].count == 1, !graph.outputs.contains(id) else { return nil }
        return producers[id.index]
    }

    /// Small images with large weights do better stage by stage: with several threads the weights, not the rows, are what can be shared out. Stages
    /// that alone would compute in another element are fused whatever the threads, so that these do not change results.
    private func isWorthFusing(_ chain: SeparableChain) -> Bool {
        let y = shape(graph.nodes[chain.project].outputs[0])
        return y[0] * y[2] * y[3] >= Self.fusedPixels || threads == 1 || !computesAlikeApart(chain)
    }

    private func pointwise(_ node: Node, _ op: Convolution, pixels: Int, element: Int32) throws -> nt_pointwise {
        let w = shape(node.inputs[1])
        var stage = nt_pointwise()
        (stage.channels, stage.outputs) = (nt_slots(element, w[1]), w[0])
        stage.kernel = nt_gemm_choose_element(element, pixels, w[0], stage.channels, isa)
        stage.packed = try packed(node.inputs[1], GEMMPacking(kernel: stage.kernel, outputs: w[0], depth: w[1]))
        stage.bias = try packBias(
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: w[0], stride: nt_gemm_bias_count(stage.kernel, w[0]), of: node, for: stage.kernel)
        stage.activation = activation(op.activation)
        return stage
    }

    // MARK: Chains of chains

    /// Joins chains whose images between them are too large for the cache that a core has to itself: one that reads another's rows as they are made
    /// takes them from there.
    mutating func joinChains() {
        var lengths: [Int: Int] = [:]
        for index in graph.nodes.indices {
            guard let chain = chains[index], chain.expand == nil, chain.stem == nil,
                let before = soleProducer(of: graph.nodes[chain.depthwise].inputs[0]), let earlier = chains[before],
                canJoin(earlier, chain), lengths[before, default: 1] < Int(NT_SEPARABLE_MAX_CHAINS)
            else { continue }
            chains[index]?.before = before
            absorbed.insert(before)
            lengths[index] = lengths[before, default: 1] + 1
        }
    }

    private func canJoin(_ earlier: SeparableChain, _ chain: SeparableChain) -> Bool {
        guard let op = graph.nodes[earlier.project].op as? Convolution, !op.hasResidual, usesPairs(earlier) == usesPairs(chain),
            strassen(earlier) == nil, strassen(chain) == nil
        else { return false }
        let (x, y) = (shape(graph.nodes[chain.depthwise].inputs[0]), shape(graph.nodes[chain.project].outputs[0]))
        let bytes = 4 * x[2] * x[3] * nt_slots(usesPairs(chain) ? element : Int32(NT_ELEMENT_FLOAT32), x[1])
        return bytes >= nt_cache_bytes(2) / 2 && y[2] >= Self.leastJoinedRows * threads
    }

    /// Rows of a share below which too many of the earlier rows are computed twice.
    private static let leastJoinedRows = 12
    /// Rows of a joined chain's strips: as many as the depthwise kernels compute together.
    private static let joinedRows = 2

    /// How Strassen's method computes a chain's last stage, if it is to.
    private func strassen(_ chain: SeparableChain) -> (sizes: nt_strassen, rows: Int)? {
        let (middle, last) = (graph.nodes[chain.depthwise], graph.nodes[chain.project])
        guard let depthwise = middle.op as? Convolution, let project = last.op as? Convolution else { return nil }
        let (x, y, w) = (shape(middle.inputs[0]), shape(last.outputs[0]), shape(last.inputs[1]))
        let ringRow = chain.expand == nil && chain.stem == nil ? 0 : 4 * depthwise.strides.height * x[3] * x[1]
        return strassen(depth: w[1], outputs: w[0], height: y[2], width: y[3], addsResidual: project.hasResidual, rowBytes: ringRow)
    }

    // MARK: Steps

    /// A chain as a step, but for what it writes.
    private struct FusedChain {
        var sizes = nt_separable()
        var source: Placement
        var nodes: [Node]
        var kernel: String
        var cycles = 0.0
        var strassenNode: Node?
    }

    mutating func emitSeparable(_ chain: SeparableChain) throws {
        let last = graph.nodes[chain.project]
        guard let project = last.op as? Convolution else { return }
        var fused = try fuse(chain)
        let (residual, target) = try convolutionTarget(project, last, from: fused.nodes[0].inputs[0], inPairs: usesPairs(chain))
        fused.sizes.y_element = target.element
        fused.sizes.y_stride = target.pixelStride
        fused.sizes.residual_stride = residual?.pixelStride ?? 0
        let y = shape(last.outputs[0])
        var description = describe(fused.nodes, kernel: fused.kernel)
        if let node = fused.strassenNode {
            // The last stage alone.
            let flops = node.op.flops(inputs: graph.types(node.inputs), outputs: graph.types(node.outputs))
            description.performedFlops -= Int(Double(flops) * (1 - Self.strassenShare))
        }
        append(
            nt_step_separable, store.keep(fused.sizes), inputs: [fused.source, residual], outputs: [target],
            parts: parts(work: Int(min(fused.cycles, 1e15)), grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            scratchCount: nt_separable_scratch_count(&fused.sizes), description: description)
    }

    private mutating func fuse(_ found: SeparableChain) throws -> FusedChain {
        var chain = found
        if let index = chain.stem, try !isStem(index) {
            try emitConvolution(index)
            chain.stem = nil
        }
        let (middle, last) = (graph.nodes[chain.depthwise], graph.nodes[chain.project])
        guard let depthwise = middle.op as? Convolution, let project = last.op as? Convolution else {
            throw GraphError(layer: last.name, "expected convolutions in a chain")
        }
        let first = (chain.expand ?? chain.stem).map { graph.nodes[$0] }
        let inPairs = usesPairs(chain)
        let element = inPairs ? element : Int32(NT_ELEMENT_FLOAT32)
        let earlier = try chain.before.flatMap { chains[$0] }.map { try fuse($0) }
        let input = (first ?? middle).inputs[0]
        let source = try earlier?.source ?? (chain.stem != nil ? asRowMajor(input) : inPairs ? asPairs(input) : asPixels(input))
        let (x, y) = (shape(middle.inputs[0]), shape(last.outputs[0]))
        let stages = chain.stem != nil ? "stem+depthwise+pointwise" : first == nil ? "depthwise+pointwise" : "expand+depthwise+project"
        var fused = FusedChain(source: source, nodes: (earlier?.nodes ?? []) + [first, middle, last].compactMap { $0 }, kernel: "")
        fused.sizes.x_stride = chain.stem == nil && earlier == nil ? source.pixelStride : 0
        fused.sizes.depthwise = try depthwiseImage(depthwise, middle, xStride: fused.sizes.x_stride, yStride: 0, inPairs: inPairs)
        let stride = nt_separable_wide_stride(&fused.sizes)
        if var before = earlier?.sizes {
            (before.y_stride, before.y_element, before.strip_rows) = (stride, element, min(Self.joinedRows, x[2]))
            fused.sizes.before = store.keep(before)
        } else if let first, let op = first.op as? Convolution {
            if chain.stem != nil {
                fused.sizes.stem = store.keep(try stem(op, first, stride: stride, element: element).sizes)
            } else {
                fused.sizes.has_expansion = 1
                fused.sizes.expand = try pointwise(first, op, pixels: x[0] * x[2] * x[3], element: element)
            }
        }
        let strassen = strassen(chain)
        if let strassen {
            let w = shape(last.inputs[1])
            (fused.sizes.project.channels, fused.sizes.project.outputs) = (w[1], w[0])
            fused.sizes.project.activation = activation(project.activation)
            fused.sizes.project.strassen = store.keep(try packedStrassen(strassen.sizes, project, last))
            fused.strassenNode = last
        } else {
            fused.sizes.project = try pointwise(last, project, pixels: y[0] * y[2] * y[3], element: element)
        }
        fused.sizes.strip_rows =
            strassen?.rows ?? (earlier != nil ? min(Self.joinedRows, y[2]) : nt_separable_strip_rows(&fused.sizes, nt_cache_bytes(2) / 2))
        let kernel = strassen?.sizes.gemm ?? fused.sizes.project.kernel
        fused.cycles = (earlier?.cycles ?? 0) + nt_gemm_cost(kernel, y[0] * y[2] * y[3], fused.sizes.project.outputs, fused.sizes.project.channels)
        let name = (strassen == nil ? "" : "strassen ") + (kernel.map { String(cString: $0.pointee.name) } ?? "")
        fused.kernel = (earlier.map { $0.kernel + ", " } ?? "") + stages + " " + name
        return fused
    }
}
