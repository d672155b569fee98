import NTGraph
import NTRuntime
import NTTensor

/// Measures on a device the tiles of a graph's convolutions and dense layers, and then whether depthwise convolutions are faster in one kernel with the 1x1
/// convolutions that read them; last whether the graph as a whole is faster so.
package struct OpenCLTuner {
    /// One shape's result.
    package struct Finding: Sendable {
        /// The first layer of this shape, or the two of a pair.
        package let layer: String
        /// Seconds as it is by default and with what the table has at the end.
        package let before: Double
        package fileprivate(set) var after: Double
    }

    /// What was found.
    package struct Result: Sendable {
        package var table: TuningTable
        package var findings: [Finding] = []
        /// Distinct shapes in the graph.
        package var shapeCount = 0
        /// Seconds of the shortest run of the graph with the defaults and with the findings; nil when nothing differs from the defaults. Findings that make
        /// it no faster are dropped: the table then names the defaults.
        package var network: (before: Double, after: Double)?
    }

    private let backend: OpenCLBackend

    package init(_ backend: OpenCLBackend) { self.backend = backend }

    /// Measures every distinct shape of `graph`, at most `secondsPerTile` for each tile, and returns the table that `backend` has with the findings
    /// added. Shapes that this table lacks come first, and of them those with most arithmetic. After `seconds` in all, or once `isOver` says so, no
    /// further tile is measured: shapes not begun by then have no finding; the graph as a whole is still run with what was found. A tile that the device
    /// refuses is passed over. `progress` hears of each tile before it is measured: how many are done, of how many, and the layer; nil for the
    /// runs of the whole graph.
    package func tune(
        _ graph: Graph, precision: Precision = .float32, secondsPerTile: Double = 0.02, seconds limit: Double = .infinity,
        progress: (_ done: Int, _ total: Int, _ layer: String?) -> Void = { _, _, _ in }, isOver isInterrupted: () -> Bool = { false }
    ) throws -> Result {
        let start = ContinuousClock.now
        func isOver() -> Bool { isInterrupted() || (ContinuousClock.now - start) / .seconds(1) >= limit }
        let storedType = try backend.storedType(for: precision)
        let probe = TuningProbe(graph, backend: backend, storedType: storedType, seconds: secondsPerTile)
        let known = backend.tuning
        func unknownFirst<Item>(_ items: [Item], _ isKnown: (Item) -> Bool) -> [Item] { items.filter { !isKnown($0) } + items.filter(isKnown) }
        let work = unknownFirst(try probe.convolutions()) { known.tile(for: $0.shape, style: backend.style) != nil }
        let pairs = unknownFirst(pairs(of: graph, storedType)) { known.isFused($0.shape) != nil }
        var (result, defaults) = (Result(table: backend.tuning, shapeCount: work.count + pairs.count), backend.tuning)
        let candidates = ConvolutionTile.candidates(backend.style)
        let total = work.count * candidates.count + pairs.count
        var done = 0
        for (index, item) in work.enumerated() where !isOver() {
            let found = try best(of: candidates, for: item, probe) { place in
                done = index * candidates.count + place
                progress(done, total, item.node.name)
                guard !isOver() else { return false }
                done += 1
                return true
            }
            guard let found else { continue }
            result.table.set(found.tile, for: item.shape)
            defaults.set(item.standard, for: item.shape)
            result.findings.append(found.finding)
        }
        for (index, pair) in pairs.enumerated() where !isOver() {
            done = work.count * candidates.count + index
            progress(done, total, pair.pointwise.name)
            let measured = try measure(pair, probe, result.table)
            done += 1
            guard let found = measured else { continue }
            result.table.set(isFused: found.isFused, for: pair.shape)
            defaults.set(isFused: found.isFusedByDefault, for: pair.shape)
            result.findings.append(found.finding)
        }
        guard result.table != defaults else { return result }
        if !isOver() { done = total }
        progress(done, total, nil)
        try confirm(&result, defaults, graph, precision, seconds: secondsPerTile)
        return result
    }

    /// A change must pay: timings are never exact.
    private static let worthwhile = 0.97

    /// The fastest tile for a convolution; nil when the device refuses the default one, or time was over before any was measured. `begins` hears of each
    /// candidate and says whether there is time for it.
    private func best(
        of candidates: [ConvolutionTile], for item: TuningProbe.Item, _ probe: TuningProbe, begins: (Int) -> Bool
    ) throws -> (tile: ConvolutionTile, finding: Finding)? {
        func seconds(_ tile: ConvolutionTile, inOneLaunch: Bool) throws -> Double? {
            var table = TuningTable()
            table.set(tile, for: item.shape)
            return try probe.seconds([item.node], table, inOneLaunch: inOneLaunch)
        }
        guard var before = try seconds(item.standard, inOneLaunch: probe.isOneLaunch) else { return nil }
        var known: [(tile: ConvolutionTile, seconds: Double)] = []
        for (place, tile) in candidates.enumerated() {
            // A shape of which nothing was measured is as one not begun.
            guard begins(place) else { if known.isEmpty { return nil } else { break } }
            if tile != item.standard, tile.fits(item.shape), let time = try seconds(tile, inOneLaunch: false) { known.append((tile, time)) }
        }
        known.sort { $0.seconds < $1.seconds }
        // In a network of one launch every layer's kernel is compiled for itself: only the likeliest, then.
        if probe.isOneLaunch {
            known = try known.prefix(3).compactMap { item in try seconds(item.tile, inOneLaunch: true).map { (item.tile, $0) } }
            known.sort { $0.seconds < $1.seconds }
        }
        guard var best = known.first, best.seconds < before * Self.worthwhile else {
            return (item.standard, Finding(layer: item.node.name, before: before, after: before))
        }
        // Once more in turns, for another program may have disturbed the one alone.
        before = min(before, try seconds(item.standard, inOneLaunch: probe.isOneLaunch) ?? before)
        best.seconds = min(best.seconds, try seconds(best.tile, inOneLaunch: probe.isOneLaunch) ?? best.seconds)
        let isBetter = best.seconds < before * Self.worthwhile
        return (isBetter ? best.tile : item.standard, Finding(layer: item.node.name, before: before, after: isBetter ? best.seconds : before))
    }

    /// The pairs that one kernel can do, of each shape the first, those with most arithmetic first.
    private func pairs(of graph: Graph, _ storedType: ElementType) -> [SeparablePair] {
        guard backend.features.fusesSeparable else { return [] }
        var seen: Set<SeparableShape> = []
        return graph.nodes.indices.compactMap { index in
            PartitionCompiler.separablePair(at: index, in: graph, style: backend.style, storedType: storedType)
        }.filter { seen.insert($0.shape).inserted }.sorted { $0.shape.multiplyAdds > $1.shape.multiplyAdds }
    }

    /// Measures a pair as one kernel and, with the tiles found before, as two; the better. Nil when the device refuses one.
    private func measure(
        _ pair: SeparablePair, _ probe: TuningProbe, _ table: TuningTable
    ) throws -> (isFused: Bool, isFusedByDefault: Bool, finding: Finding)? {
        func seconds(isFused: Bool) throws -> Double? {
            var choice = table
            choice.set(isFused: isFused, for: pair.shape)
            return try probe.seconds([pair.depthwise, pair.pointwise], choice, inOneLaunch: probe.isOneLaunch)
        }
        guard var apart = try seconds(isFused: false), var fused = try seconds(isFused: true) else { return nil }
        (apart, fused) = (min(apart, try seconds(isFused: false) ?? apart), min(fused, try seconds(isFused: true) ?? fused))
        let isFusedByDefault = try probe.isFusedByDefault(pair)
        let isFused = isFusedByDefault ? apart >= fused * Self.worthwhile : fused < apart * Self.worthwhile
        let finding = Finding(
            layer: "\(pair.depthwise.name) + \(pair.pointwise.name)", before: isFusedByDefault ? fused : apart, after: isFused ? fused : apart)
        return (isFused, isFusedByDefault, finding)
    }

    /// Runs the whole graph with the defaults and with the findings in turns, and goes back to the defaults where these are no slower.
    private func confirm(_ result: inout Result, _ defaults: TuningTable, _ graph: Graph, _ precision: Precision, seconds limit: Double) throws {
        let runs = try [defaults, result.table].map { table in
            try TuningProbe.unlessRefused { try NetworkTimer(graph, backend.with(tuning: table), precision) }
        }
        var times = [Double](repeating: .infinity, count: runs.count)
        let clock = ContinuousClock()
        let end = clock.now + .seconds(limit * 100)
        var count = 0
        repeat {
            for (index, run) in runs.enumerated() {
                guard let run, let time = try TuningProbe.unlessRefused({ try run.seconds() }) else { continue }
                times[index] = min(times[index], time)
            }
            count += 1
        } while clock.now < end || count < 3
        result.network = (times[0], times[1])
        guard times[1] >= times[0] else { return }
        result.table = defaults
        for index in result.findings.indices { result.findings[index].after = result.findings[index].before }
    }
}

/// A whole graph, run as any session runs it.
private final class NetworkTimer {
    private let plan: ExecutionPlan
    private let state: ExecutionState
    private let inputs: [TensorBuffer]
    private let outputs: [TensorBuffer]

    /// Compiles the graph and runs it once.
    init(_ graph: Graph, _ backend: OpenCLBackend, _ precision: Precision) throws {
        plan = try ExecutionPlan(graph, backend: backend, options: CompileOptions(precision: precision))
        state = try plan.makeState()
        inputs = try graph.inputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount, zeroed: true) }
        outputs = try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }
        _ = try seconds()
    }

    /// One run.
    func seconds() throws -> Double {
        let graph = plan.graph
        let clock = ContinuousClock()
        let start = clock.now
        try plan.run(
            state, inputs: zip(inputs, graph.inputs).map { UnsafeRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount) },
            outputs: zip(outputs, graph.outputs).map { UnsafeMutableRawBufferPointer(start: $0.base, count: graph[$1].type.byteCount) })
        return (clock.now - start) / .seconds(1)
    }
}
