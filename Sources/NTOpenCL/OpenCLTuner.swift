import NTGraph
import NTRuntime
import NTTensor

/// Measures the tiles of a graph's convolutions and dense layers on a device.
package struct OpenCLTuner {
    /// One shape's result.
    package struct Finding: Sendable {
        /// The first layer of this shape.
        package let layer: String
        package let shape: ConvolutionShape
        package let tile: ConvolutionTile
        /// Seconds with the default tile and with the best.
        package let before: Double
        package let after: Double
    }

    private let backend: OpenCLBackend

    package init(_ backend: OpenCLBackend) { self.backend = backend }

    /// Measures every distinct shape of `graph`, those with most arithmetic first, at most `secondsPerTile` for each tile, and returns the table that
    /// `backend` has with the findings added. After `seconds` in all no further tile is measured: shapes not begun by then have no finding. A tile
    /// that the device refuses is passed over. `progress` hears of each tile before it is measured: how many are done, of how many, and the layer.
    package func tune(
        _ graph: Graph, precision: Precision = .float32, secondsPerTile: Double = 0.02, seconds limit: Double = .infinity,
        progress: (_ done: Int, _ total: Int, _ layer: String) -> Void = { _, _, _ in }
    ) throws -> (table: TuningTable, findings: [Finding], shapeCount: Int) {
        let start = ContinuousClock.now
        func isOver() -> Bool { (ContinuousClock.now - start) / .seconds(1) >= limit }
        var table = backend.tuning
        var findings: [Finding] = []
        let storedType = try backend.storedType(for: precision)
        var seen: Set<ConvolutionShape> = []
        let work = graph.nodes.compactMap { node -> (Node, ConvolutionShape)? in
            guard let shape = Self.shape(of: node, in: graph, storedType: storedType), seen.insert(shape).inserted else { return nil }
            return (node, shape)
        }.sorted { $0.1.multiplyAdds > $1.1.multiplyAdds }
        let candidates = ConvolutionTile.candidates(backend.style)
        for (index, (node, shape)) in work.enumerated() where !isOver() {
            let single = try Self.graph(of: node, in: graph)
            let standard = ConvolutionTile.standard(pixels: shape.pixels, outputs: shape.outputs, style: backend.style)
            let before = try seconds(single, shape, standard, precision, secondsPerTile)
            var best = (tile: standard, seconds: before)
            for (place, tile) in candidates.enumerated() where !isOver() {
                progress(index * candidates.count + place, work.count * candidates.count, node.name)
                guard tile != standard else { continue }
                guard let time = try secondsUnlessRefused(single, shape, tile, precision, secondsPerTile) else { continue }
                // A change must pay: timings are never exact.
                if time < best.seconds * 0.97 { best = (tile, time) }
            }
            table.set(best.tile, for: shape)
            findings.append(Finding(layer: node.name, shape: shape, tile: best.tile, before: before, after: best.seconds))
        }
        progress(work.count * candidates.count, work.count * candidates.count, "")
        return (table, findings, work.count)
    }

    /// As `seconds`; nil when the device refuses the tile, for lack of registers for example. A device that is lost is an error.
    private func secondsUnlessRefused(
        _ graph: Graph, _ shape: ConvolutionShape, _ tile: ConvolutionTile, _ precision: Precision, _ limit: Double
    ) throws -> Double? {
        do {
            return try seconds(graph, shape, tile, precision, limit)
        } catch let error as OpenCLError where error.condition != .lost {
            return nil
        }
    }

    /// The shape of a node that runs as a tiled convolution, or nil.
    private static func shape(of node: Node, in graph: Graph, storedType: ElementType) -> ConvolutionShape? {
        guard PartitionCompiler.refusal(of: node, in: graph) == nil, node.inputs.count > 1 else { return nil }
        let (weights, output) = (graph[node.inputs[1]].type.shape, graph[node.outputs[0]].type.shape)
        guard output.count > 0 else { return nil }
        if let op = node.op as? Convolution {
            let isDepthwise = op.groups > 1 && weights[1] == 1 && weights[0] == op.groups
            guard !isDepthwise || op.hasResidual else { return nil }
            return ConvolutionShape(
                pixels: output[0] * output[2] * output[3], outputs: weights[0] / op.groups, channels: weights[1],
                taps: weights[2] * weights[3], groups: op.groups, storedType: storedType)
        }
        guard node.op is Dense, weights[0] > 0 else { return nil }
        return ConvolutionShape(
            pixels: output.count / weights[0], outputs: weights[0], channels: weights[1], taps: 1, groups: 1, storedType: storedType)
    }

    /// The node alone, its operands that are no constants as inputs.
    private static func graph(of node: Node, in graph: Graph) throws -> Graph {
        var builder = GraphBuilder(name: node.name)
        let operands = try node.inputs.map { id in
            if let constant = graph.constant(id) { return try builder.constant(constant) }
            return builder.input(graph[id].name, graph[id].type)
        }
        for output in try builder.apply(node.op, operands, layer: node.name) { try builder.output(output, name: "y") }
        return builder.graph
    }

    /// The shortest device time of a graph with one tile.
    private func seconds(
        _ graph: Graph, _ shape: ConvolutionShape, _ tile: ConvolutionTile, _ precision: Precision, _ limit: Double
    ) throws -> Double {
        var table = TuningTable()
        table.set(tile, for: shape)
        let plan = try ExecutionPlan(graph, backend: backend.with(tuning: table), options: CompileOptions(precision: precision))
        let state = try plan.makeState()
        let inputs = try graph.inputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount, zeroed: true) }
        let outputs = try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }
        func run(_ profile: RunProfile?) throws {
            try plan.run(
                state,
                inputs: zip(inputs, graph.inputs).map { UnsafeRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount) },
                outputs: zip(outputs, graph.outputs).map {
                    UnsafeMutableRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount)
                }, profile: profile)
        }
        try run(nil)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(limit)
        var best = Double.infinity
        var count = 0
        repeat {
            let profile = RunProfile(stepCount: plan.steps.count)
            try run(profile)
            best = min(best, profile.seconds.reduce(0, +))
            count += 1
        } while clock.now < end || count < 3
        return best
    }
}
