import NTGraph
import NTRuntime
import NTTensor

/// Measures on a device the tiles of a graph's convolutions and dense layers, and then whether depthwise convolutions are faster in one kernel with the 1x1
/// convolutions that read them.
package struct OpenCLTuner {
    /// One shape's result.
    package struct Finding: Sendable {
        /// The first layer of this shape, or the two of a pair.
        package let layer: String
        /// Seconds as it is by default and with the best choice.
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
            let single = try Self.graph(of: [node], in: graph)
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
            findings.append(Finding(layer: node.name, before: before, after: best.seconds))
        }
        let pairs = pairs(of: graph, storedType)
        let total = work.count * candidates.count + pairs.count
        for (index, pair) in pairs.enumerated() where !isOver() {
            progress(work.count * candidates.count + index, total, pair.pointwise.name)
            guard let finding = try measure(pair, in: graph, &table, precision, secondsPerTile) else { continue }
            findings.append(finding)
        }
        progress(total, total, "")
        return (table, findings, work.count + pairs.count)
    }

    /// The pairs that one kernel can do, of each shape the first, those with most arithmetic first.
    private func pairs(of graph: Graph, _ storedType: ElementType) -> [SeparablePair] {
        guard backend.features.fusesSeparable else { return [] }
        var seen: Set<SeparableShape> = []
        return graph.nodes.indices.compactMap { index in
            PartitionCompiler.separablePair(at: index, in: graph, style: backend.style, storedType: storedType)
        }.filter { seen.insert($0.shape).inserted }.sorted { $0.shape.multiplyAdds > $1.shape.multiplyAdds }
    }

    /// Measures a pair as one kernel and, with the tiles found before, as two, as it will be compiled; keeps the better. Nil when the device refuses one.
    private func measure(
        _ pair: SeparablePair, in graph: Graph, _ table: inout TuningTable, _ precision: Precision, _ limit: Double
    ) throws -> Finding? {
        let single = try Self.graph(of: [pair.depthwise, pair.pointwise], in: graph)
        var features = backend.features
        features.leastLaunches = 1
        func seconds(isFused: Bool?) throws -> Double? {
            var choice = table
            if let isFused { choice.set(isFused: isFused, for: pair.shape) }
            do {
                return try self.seconds(single, backend.with(tuning: choice, features: features), precision, limit)
            } catch let error as OpenCLError where error.condition != .lost {
                return nil
            }
        }
        guard let apart = try seconds(isFused: false), let fused = try seconds(isFused: true) else { return nil }
        let compiler = PartitionCompiler(
            single, context: backend.context, style: backend.style, storedType: pair.shape.storedType, tuning: TuningTable(),
            leastSeparableWork: features.leastSeparableWork)
        let isFusedByDefault = compiler.separablePair(at: 0) != nil
        // A change must pay: timings are never exact.
        let isFused = isFusedByDefault ? apart >= fused * 0.97 : fused < apart * 0.97
        table.set(isFused: isFused, for: pair.shape)
        return Finding(
            layer: "\(pair.depthwise.name) + \(pair.pointwise.name)", before: isFusedByDefault ? fused : apart, after: isFused ? fused : apart)
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

    /// Nodes that follow one another alone, their operands that are neither constants nor each other's results as inputs.
    private static func graph(of nodes: [Node], in graph: Graph) throws -> Graph {
        var builder = GraphBuilder(name: nodes.last?.name ?? "")
        var values: [ValueID: ValueID] = [:]
        for node in nodes {
            let operands = try node.inputs.map { id in
                if let known = values[id] { return known }
                let made = try graph.constant(id).map { try builder.constant($0) } ?? builder.input(graph[id].name, graph[id].type)
                values[id] = made
                return made
            }
            for (id, result) in zip(node.outputs, try builder.apply(node.op, operands, layer: node.name)) { values[id] = result }
        }
        for id in nodes.last?.outputs ?? [] { if let output = values[id] { try builder.output(output, name: "y") } }
        return builder.graph
    }

    /// The shortest device time of a graph with one tile.
    private func seconds(
        _ graph: Graph, _ shape: ConvolutionShape, _ tile: ConvolutionTile, _ precision: Precision, _ limit: Double
    ) throws -> Double {
        var table = TuningTable()
        table.set(tile, for: shape)
        return try seconds(graph, backend.with(tuning: table), precision, limit)
    }

    /// The shortest device time of a graph on a backend.
    private func seconds(_ graph: Graph, _ backend: OpenCLBackend, _ precision: Precision, _ limit: Double) throws -> Double {
        let plan = try ExecutionPlan(graph, backend: backend, options: CompileOptions(precision: precision))
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
            best = min(best, profile.seconds.reduce(0, +) + (profile.gapSeconds ?? 0))
            count += 1
        } while clock.now < end || count < 3
        return best
    }
}
