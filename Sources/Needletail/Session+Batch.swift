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
        for inputs in part where try !PlanKey(model.asset, inputs: inputs).shapes.isEmpty { return nil }
        return batchedPlan(count)
    }

    /// The plan for `count` runs at once; nil when inputs or outputs do not have `count` times the elements of a single run's.
    func batchedPlan(_ count: Int) -> PlanEntry? {
        guard let single = try? plan(PlanKey(shapes: [:], batch: 1)), let entry = try? plan(PlanKey(shapes: [:], batch: count)) else {
            return nil
        }
        func counts(_ ids: [ValueID], _ graph: Graph) -> [Int] { ids.map { graph[$0].type.shape.count } }
        func leads(_ ids: [ValueID], _ graph: Graph) -> Bool { ids.allSatisfy { graph[$0].type.shape.dims.first == count } }
        let (one, many) = (single.plan.graph, entry.plan.graph)
        guard counts(many.inputs, many) == counts(one.inputs, one).map({ $0 * count }),
            counts(many.outputs, many) == counts(one.outputs, one).map({ $0 * count }),
            leads(many.inputs, many), leads(many.outputs, many)
        else { return nil }
        return entry
    }

    private func runTogether(_ part: [[String: Tensor]], _ entry: PlanEntry) throws -> [[String: FeatureValue]] {
        try entry.states.withState { state in
            for (index, id) in entry.plan.graph.inputs.enumerated() {
                let value = entry.plan.graph[id]
                let byteCount = state.inputs[index].byteCount / part.count
                for (place, inputs) in part.enumerated() {
                    let target = state.inputs[index].base + place * byteCount
                    guard let tensor = inputs[value.name] else {
                        guard model.asset.isOptional(input: value.name) else {
                            throw NeedletailError(.invalidInput, "\(model.name): input '\(value.name)' (\(value.type)) is missing in element \(place)")
                        }
                        target.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
                        continue
                    }
                    guard tensor.storage.byteCount == byteCount else {
                        throw NeedletailError(
                            .invalidInput, "\(model.name): input '\(value.name)' of element \(place): expected \(byteCount / 4) elements, found \(tensor.count)")
                    }
                    if let base = tensor.storage.bytes.baseAddress { target.copyMemory(from: base, byteCount: byteCount) }
                }
            }
            try execute(entry, state)
            return try (0..<part.count).map { try outputs(entry, state, element: $0, of: part.count) }
        }
    }
}
