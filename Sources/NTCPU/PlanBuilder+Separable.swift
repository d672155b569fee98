import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Nodes that one fused step computes: depthwise and the pointwise that reads it, and the pointwise or the network's first convolution
/// before it when it has no other reader.
struct SeparableChain {
    var expand: Int?
    var stem: Int?
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
            op.hasBias ? node.inputs[2] : nil, groups: 1, perGroup: w[0], stride: nt_gemm_bias_count(stage.kernel, w[0]))
        stage.activation = activation(op.activation)
        return stage
    }

    mutating func emitSeparable(_ found: SeparableChain) throws {
        var chain = found
        if let index = chain.stem, try !isStem(index) {
            try emitConvolution(index)
            chain.stem = nil
        }
        let (middle, last) = (graph.nodes[chain.depthwise], graph.nodes[chain.project])
        guard let depthwise = middle.op as? Convolution, let project = last.op as? Convolution else { return }
        let first = (chain.expand ?? chain.stem).map { graph.nodes[$0] }
        let input = (first ?? middle).inputs[0]
        let inPairs = usesPairs(chain)
        let element = inPairs ? element : Int32(NT_ELEMENT_FLOAT32)
        let source = try chain.stem != nil ? asRowMajor(input) : inPairs ? asPairs(input) : asPixels(input)
        let (residual, target) = try convolutionTarget(project, last, from: input, inPairs: inPairs)
        let (x, y) = (shape(middle.inputs[0]), shape(last.outputs[0]))
        var fused = nt_separable()
        fused.x_stride = chain.stem == nil ? source.pixelStride : 0
        fused.depthwise = try depthwiseImage(depthwise, middle, xStride: fused.x_stride, yStride: 0, inPairs: inPairs)
        if let first, let op = first.op as? Convolution {
            if chain.stem != nil {
                fused.stem = store.keep(try stem(op, first, stride: nt_separable_wide_stride(&fused), element: element).sizes)
            } else {
                fused.has_expansion = 1
                fused.expand = try pointwise(first, op, pixels: x[0] * x[2] * x[3], element: element)
            }
        }
        let w = shape(last.inputs[1])
        let ringRow = first == nil ? 0 : 4 * fused.depthwise.window.stride_y * x[3] * x[1]
        let strassen = strassen(depth: w[1], outputs: w[0], height: y[2], width: y[3], addsResidual: project.hasResidual, rowBytes: ringRow)
        if let strassen {
            (fused.project.channels, fused.project.outputs) = (w[1], w[0])
            fused.project.activation = activation(project.activation)
            fused.project.strassen = store.keep(try packedStrassen(strassen.sizes, project, last))
        } else {
            fused.project = try pointwise(last, project, pixels: y[0] * y[2] * y[3], element: element)
        }
        fused.y_element = target.element
        fused.y_stride = target.pixelStride
        fused.residual_stride = residual?.pixelStride ?? 0
        fused.strip_rows = strassen?.rows ?? nt_separable_strip_rows(&fused, nt_cache_bytes(2) / 2)
        let kernel = strassen?.sizes.gemm ?? fused.project.kernel
        let cycles = nt_gemm_cost(kernel, y[0] * y[2] * y[3], fused.project.outputs, fused.project.channels)
        let name = (strassen == nil ? "" : "strassen ") + (kernel.map { String(cString: $0.pointee.name) } ?? "")
        var description = describe(
            [first, middle, last].compactMap { $0 },
            kernel: (chain.stem != nil ? "stem+depthwise+pointwise " : first == nil ? "depthwise+pointwise " : "expand+depthwise+project ")
                + name)
        if strassen != nil {
            // The last stage alone.
            let flops = last.op.flops(inputs: graph.types(last.inputs), outputs: graph.types(last.outputs))
            description.performedFlops -= Int(Double(flops) * (1 - Self.strassenShare))
        }
        append(
            nt_step_separable, store.keep(fused), inputs: [source, residual], outputs: [target],
            parts: parts(work: Int(min(cycles, 1e15)), grain: Int(Self.shareCycles), limit: y[0] * y[2]),
            scratchCount: nt_separable_scratch_count(&fused), description: description)
    }
}
