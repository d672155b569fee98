import NTFormats
import NTGraph
import NTRuntime
import NTTensor

extension Session {
    /// The most images of one run; longer batches are cut into several.
    public static let maximumBatchCount = 32

    /// Runs the model once for each element of `batch` and returns the outputs in order.
    ///
    /// Elements whose inputs all have the default shapes run together, up to `maximumBatchCount` at a time, when the model's inputs and
    /// outputs can carry a leading N; others run one by one. Results are those of single runs, within float32 rounding.
    public func run(batch: [[String: Tensor]]) throws -> [[String: FeatureValue]] {
        var results: [[String: FeatureValue]] = []
        results.reserveCapacity(batch.count)
        var start = 0
        while start < batch.count {
            let count = min(Session.maximumBatchCount, batch.count - start)
            let part = Array(batch[start..<(start + count)])
            if count > 1, let entry = try batchedPlan(count, for: part) {
                results += try runTogether(part, entry)
            } else {
                for inputs in part { results.append(try run(inputs) as [String: FeatureValue]) }
            }
            start += count
        }
        return results
    }

    /// The plan for `count` runs at once, or nil when the model cannot be batched or an input has another shape than the default.
    private func batchedPlan(_ count: Int, for part: [[String: Tensor]]) throws -> PlanEntry? {
        for inputs in part where try PlanKey(model, tensors: inputs) != .standard { return nil }
        return batchedPlan(count)
    }

    /// The plan for `count` runs at once; nil when the graph cannot be built for a batch, or its inputs or outputs do not all lead with N. A model that
    /// turns out so is not tried again.
    func batchedPlan(_ count: Int) -> PlanEntry? {
        guard !runsSingly.isSet else { return nil }
        let single = defaultPlan.plan.graph
        func isBatch(_ ids: [ValueID], _ graph: Graph, of singles: [ValueID]) -> Bool {
            zip(graph.types(ids), single.types(singles)).allSatisfy { many, one in
                many.shape.dims.first == count && many.shape.count == one.shape.count * count
            }
        }
        if let entry = try? plan(PlanKey(shapes: [:], batch: count)) {
            let graph = entry.plan.graph
            if isBatch(graph.inputs, graph, of: single.inputs), isBatch(graph.outputs, graph, of: single.outputs) { return entry }
        }
        runsSingly.set()
        return nil
    }

    private func runTogether(_ part: [[String: Tensor]], _ entry: PlanEntry) throws -> [[String: FeatureValue]] {
        try entry.withState { state in
            for (index, id) in entry.plan.graph.inputs.enumerated() {
                for (place, inputs) in part.enumerated() {
                    let value = entry.plan.graph[id]
                    try fill(state.inputs[index], with: inputs[value.name], input: value, place: place, of: part.count)
                }
            }
            try execute(entry, state)
            return try part.indices.map { try outputs(entry, state, element: $0, of: part.count) }
        }
    }
}
