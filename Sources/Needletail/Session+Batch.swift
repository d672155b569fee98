import Foundation
import NTCPU
import NTFormats
import NTGraph
import NTRuntime
import NTTensor

extension Session {
    /// The most images of one run; longer batches are cut into several.
    public static let maximumBatchCount = 32

    /// Elements of a part on the CPU when there are many parts: enough to read weights rarely, few enough for the cache and for threads to end together.
    private static let partCount = 8

    /// Runs the model once for each element of `batch` and returns the outputs in order.
    ///
    /// Elements whose inputs all have the default shapes run together, up to `maximumBatchCount` at a time, when the model's inputs and
    /// outputs can carry a leading N; others run one by one. On the CPU each thread takes an element through the plan of single runs, and results
    /// are those of single runs to the bit, except for networks with many weights for their arithmetic; there, and on devices, they are within rounding.
    public func run(batch: [[String: Tensor]]) throws -> [[String: FeatureValue]] {
        var results: [[String: FeatureValue]] = []
        results.reserveCapacity(batch.count)
        try runEach(of: batch.count, inputs: { ([:], batch[$0]) }, deliver: { results.append($0) })
        return results
    }

    /// Runs the model for each of `count` elements and delivers the outputs in order, on the caller's thread. `inputs` gives an element's pictures and
    /// tensors; it is called from several threads, for different elements at once. Throws the first element's error, after which no more are run.
    package func runEach(
        of count: Int, inputs: @escaping @Sendable (Int) throws -> (images: [String: ImageRequest], tensors: [String: Tensor]),
        deliver: ([String: FeatureValue]) throws -> Void
    ) throws {
        let session = current
        guard session === self else { return try session.runEach(of: count, inputs: inputs, deliver: deliver) }
        let pipeline = pipeline(
            count: count, isWhole: count <= Session.maximumBatchCount,
            prepare: { [self] index, place -> [String: FeatureValue]? in
                let (images, tensors) = try inputs(index)
                guard try PlanKey(model, images: images, tensors: tensors) == .standard else { return try run(images: images, tensors: tensors) }
                try self.prepare(images: images, tensors: tensors, at: place.element, of: place.count, in: place.entry, place.state)
                return nil
            },
            collect: { [self] in try outputs($0.entry, $0.state, element: $0.element, of: $0.count) },
            recover: { [self] index, error in
                let session = try replacement(after: error)
                let (images, tensors) = try inputs(index)
                return try session.run(images: images, tensors: tensors)
            })
        try pipeline.run { _, result in try deliver(result.get()) }
    }

    /// Work on `count` elements, cut into parts: of the whole when `isWhole`, so that batches of one size use one plan, else of few.
    func pipeline<Output: Sendable>(
        count: Int, isWhole: Bool, prepare: @escaping @Sendable (Int, BatchPipeline<Output>.Place) throws -> Output?,
        collect: @escaping @Sendable (BatchPipeline<Output>.Place) throws -> Output,
        recover: @escaping @Sendable (Int, any Error) throws -> Output
    ) -> BatchPipeline<Output> {
        let onDevice = backend.name == "opencl"
        let threads = (backend as? CPUBackend)?.threadCount ?? configuration.boundedThreadCount ?? ProcessInfo.processInfo.activeProcessorCount
        var partCount = count
        if onDevice {
            // Parts of one size, so that one plan serves all.
            let parts = max(1, (count + Session.maximumBatchCount - 1) / Session.maximumBatchCount)
            partCount = (count + parts - 1) / parts
        } else if !isWhole {
            let most = max(1, min(Session.partCount, 2 * Session.maximumBatchCount / (threads + 1)))
            partCount = count >= 2 * most * threads ? most : 1
        }
        let parts = partCount > 1 ? batchedPlan(partCount) : nil
        return BatchPipeline(
            BatchPipeline.Work(
                count: count, partCount: parts == nil ? 1 : partCount, parts: parts ?? defaultPlan, singles: defaultPlan,
                threadCount: onDevice ? max(2, threads) : threads, openCount: onDevice ? 2 : threads + 1, sharesThreads: !onDevice,
                prepare: prepare, run: { [self] entry, state in try execute(entry, state) }, collect: collect,
                recover: recover))
    }

    /// Writes one element's inputs, all of the default shapes, as element `element` of `count`.
    private func prepare(
        images: [String: ImageRequest], tensors: [String: Tensor], at element: Int, of count: Int, in entry: PlanEntry, _ state: ExecutionState
    ) throws {
        for (index, id) in entry.plan.graph.inputs.enumerated() {
            let value = entry.plan.graph[id]
            if let image = images[value.name] {
                try prepare(image, input: index, in: entry, state, batchIndex: element)
            } else {
                try fill(state.inputs[index], with: tensors[value.name], input: value, place: element, of: count)
            }
        }
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
}
