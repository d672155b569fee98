import Foundation
import NTCPU
import NTFormats
import NTGraph
import NTImage
import NTOpenCL
import NTRuntime
import NTTensor
import Synchronization

/// A model made ready to run on one backend. Immutable to its users: any number of threads may run it at once, each run having memory of its own.
///
/// Plans are compiled on first use of an input shape and kept; the most recent `maximumPlanCount` stay.
public final class Session: Sendable {
    public let model: Model
    public let configuration: SessionConfiguration
    /// The backend, and the device that the processor takes the place of when it fails.
    private let choice: BackendResolver.Choice
    /// What runs requests since that device has failed.
    private let takeover = Mutex<Session?>(nil)
    /// The plan for the model's default input shapes.
    package let defaultPlan: PlanEntry
    /// Plans for other shapes and batches.
    private let plans = PlanCache(capacity: Session.maximumPlanCount)
    /// The CPU backend's threads, which do nothing while a single request's picture is prepared; nil where there is one or none.
    let pictureSharing: WorkSharing?
    /// Set once the model turns out not to run in batches.
    let runsSingly = Latch()

    /// Plans for other than the default shapes kept at a time.
    public static let maximumPlanCount = 8

    /// Chooses the backend and compiles the plan for the model's default input shapes.
    /// Throws `NeedletailError` when the backend is absent or a layer cannot run.
    public convenience init(_ model: Model, configuration: SessionConfiguration = SessionConfiguration()) throws {
        try self.init(model, configuration: configuration, resolver: BackendResolver())
    }

    /// The same over the devices of `resolver`.
    package convenience init(_ model: Model, configuration: SessionConfiguration, resolver: BackendResolver) throws {
        var choice = try resolver.resolve(configuration)
        let plan: PlanEntry
        do {
            let first = try Session.compile(.standard, model, choice.backend, configuration)
            // The memory of one run, while there still is another backend to turn to.
            if choice.replaceableDevice != nil { try first.withState { _ in } }
            plan = first
        } catch {
            guard let device = choice.replaceableDevice else { throw error }
            choice = BackendResolver.replacement(for: device, after: error, configuration)
            plan = try Session.compile(.standard, model, choice.backend, configuration)
        }
        self.init(model, configuration, choice, plan)
    }

    private init(_ model: Model, _ configuration: SessionConfiguration, _ choice: BackendResolver.Choice, _ plan: PlanEntry) {
        (self.model, self.configuration, self.choice, defaultPlan) = (model, configuration, choice, plan)
        pictureSharing = (choice.backend as? CPUBackend).flatMap { cpu in
            cpu.workerCount > 1 ? WorkSharing(threadCount: cpu.workerCount) { count, body in cpu.share(count, body) } : nil
        }
        if let notice = choice.notice { StandardError.say(notice) }
        if let remark = unusedFormRemark { StandardError.say(remark) }
    }

    /// What runs requests now: this session, or one on the processor once the device that `auto` took has failed.
    var current: Session {
        guard choice.replaceableDevice != nil else { return self }
        return takeover.withLock { $0 } ?? self
    }

    /// The session on the processor that runs this request anew and all further ones, after `error` of the device that `auto` took; made once.
    /// Throws `error` when it is not of that kind.
    func replacement(after error: any Error) throws -> Session {
        guard let device = choice.replaceableDevice, (error as? NeedletailError)?.isOfDevice == true else { throw error }
        return try takeover.withLock { known in
            if let known { return known }
            let choice = BackendResolver.replacement(for: device, after: error, configuration)
            let session = Session(model, configuration, choice, try Session.compile(.standard, model, choice.backend, configuration))
            known = session
            return session
        }
    }

    /// The backend that this session was made for.
    package var backend: any Backend { choice.backend }

    /// Why the backend was taken, for people.
    public var backendReason: String { current.choice.reason }

    /// What went wrong when `auto` wanted an OpenCL device, or had it until a run failed, and the CPU runs instead; nil otherwise. Also written to standard
    /// error, once a process.
    public var backendNotice: String? { current.choice.notice }

    /// Whether the plan for the default input shapes came from the model's compiled form, see `Model.compile`.
    public var usesCompiledForm: Bool { defaultPlan.isMapped }

    /// Why a compiled form that is there for this backend is not used, as slow loading needs a reason.
    private var unusedFormRemark: String? {
        guard backend is CPUBackend, !usesCompiledForm else { return nil }
        return model.compiledRemark ?? model.compiled.map { _ in "\(model.name): the compiled form is not used: its weights are damaged" }
    }

    /// `cpu`, `opencl` or `reference`, with the device in words.
    public var backendDescription: String {
        let backend = current.backend
        return "\(backend.name) (\(backend.deviceDescription))"
    }

    /// `cpu`, `opencl` or `reference`.
    public var backendName: String { current.backend.name }

    /// Runs the model on tensors by input name and returns all outputs by name.
    ///
    /// An image input takes (1, C, H, W) or (C, H, W), raw 0-255 in the model's channel order, before its own preprocessing.
    /// A classifier's outputs are the winning label and the probabilities by label.
    /// Throws `NeedletailError` naming the input, the expected and the found shape.
    public func run(_ inputs: [String: Tensor]) throws -> [String: FeatureValue] { try run(images: [:], tensors: inputs) }

    /// Runs the model off the caller's thread. A task cancelled before the run begins throws `NeedletailError` of code `cancelled`.
    public func run(_ inputs: [String: Tensor]) async throws -> [String: FeatureValue] {
        if Task.isCancelled { throw NeedletailError(.cancelled, "the prediction was cancelled before it began") }
        return try await withCheckedThrowingContinuation { continuation in
            Session.queue.async {
                continuation.resume(with: Result { try self.run(inputs) as [String: FeatureValue] })
            }
        }
    }

    private static let queue = DispatchQueue(label: "needletail.session", attributes: .concurrent)

    // MARK: - Plans

    /// The plan for these shapes, compiled on first use.
    package func plan(_ key: PlanKey) throws -> PlanEntry {
        if key == .standard { return defaultPlan }
        return try plans.entry(for: key) { try repeatedPlan(key) ?? Session.compile(key, model, backend, configuration) }
    }

    /// A plan that runs the plan for the default shapes on each element of a batch, where that is the better way.
    private func repeatedPlan(_ key: PlanKey) throws -> PlanEntry? {
        guard key.batch > 1, key.shapes.isEmpty, backend is CPUBackend else { return nil }
        let graph = try Session.graph(key, model)
        guard let plan = ExecutionPlan(defaultPlan.plan, for: key.batch, graph: graph) else { return nil }
        return PlanEntry(plan, precision: configuration.precision)
    }

    private static func graph(_ key: PlanKey, _ model: Model) throws -> Graph {
        try NeedletailError.wrapping(.unsupportedModel, context: model.name) {
            try Passes.optimize(try model.asset.makeGraph(inputShapes: key.shapes, batch: key.batch))
        }
    }

    /// The plan for the default shapes over the model's compiled form; nil when there is none for this backend, or it turns out to be damaged.
    private static func mappedPlan(_ model: Model, _ backend: any Backend, _ configuration: SessionConfiguration) -> PlanEntry? {
        guard let compiled = model.compiled, backend is CPUBackend else { return nil }
        let weights = MappedWeights(compiled)
        let options = CompileOptions(precision: configuration.precision.runtimePrecision, packedWeights: weights)
        guard let plan = try? ExecutionPlan(compiled.graph, backend: backend, options: options) else { return nil }
        let entry = PlanEntry(plan, precision: configuration.precision, isMapped: true)
        // Constants that were read after all, or that the self-check is going to read.
        let start = ContinuousClock.now
        defer { if !weights.hasMissed { entry.verification.spend(since: start) } }
        if weights.hasMissed || configuration.verifiesFirstPrediction {
            guard (try? compiled.verifyConstants()) != nil else { return nil }
        }
        return entry
    }

    private static func compile(
        _ key: PlanKey, _ model: Model, _ backend: any Backend, _ configuration: SessionConfiguration
    ) throws -> PlanEntry {
        if key == .standard, let entry = mappedPlan(model, backend, configuration) {
            try check(entry.plan, model, configuration)
            return entry
        }
        let graph = try graph(key, model)
        let plan = try NeedletailError.wrapping(.executionFailed, context: model.name) {
            try ExecutionPlan(graph, backend: backend, options: CompileOptions(precision: configuration.precision.runtimePrecision))
        }
        try check(plan, model, configuration)
        return PlanEntry(plan, precision: configuration.precision)
    }

    /// Throws when kernels are required and a layer has none.
    private static func check(_ plan: ExecutionPlan, _ model: Model, _ configuration: SessionConfiguration) throws {
        guard configuration.requiresKernels, let fallback = plan.fallbacks.first else { return }
        throw NeedletailError(
            .unsupportedModel,
            "\(model.name): layer '\(fallback.layer)' (\(fallback.operatorKind)) has no \(plan.backend.name) kernel: \(fallback.reason)")
    }

    /// Runs a filled state.
    package func execute(_ entry: PlanEntry, _ state: ExecutionState, profile: RunProfile? = nil) throws {
        try NeedletailError.wrapping(.executionFailed, context: model.name) { try entry.plan.run(state, profile: profile) }
        if configuration.verifiesFirstPrediction { try entry.verification.check(entry.plan, state, model: model.name) }
    }

    /// Reads the outputs of one element of a run of `count`, the label and probabilities included.
    package func outputs(
        _ entry: PlanEntry, _ state: ExecutionState, element: Int = 0, of count: Int = 1
    ) throws -> [String: FeatureValue] {
        var results: [String: FeatureValue] = [:]
        let isClassifier = model.asset.probabilitiesName(in: entry.plan.graph) != nil
        for (index, id) in entry.plan.graph.outputs.enumerated() {
            let value = entry.plan.graph[id]
            let elements = value.type.shape.count / count
            let floats = UnsafeBufferPointer(
                start: state.outputs[index].base.assumingMemoryBound(to: Float.self) + element * elements, count: elements)
            if index == 0, isClassifier {
                let list = try model.labelled(floats)
                results[value.name] = .probabilities(list)
                if let name = model.description.predictedFeatureName, let best = Session.best(list) {
                    results[name] = best.label.featureValue
                }
                continue
            }
            let shape = count == 1 ? value.type.shape.dims : defaultPlan.plan.graph.types(defaultPlan.plan.graph.outputs)[index].shape.dims
            results[value.name] = .tensor(try Tensor(shape: shape, elements: Array(floats)))
        }
        return results
    }

    /// The first entry of the largest probability; NaN never wins over a number.
    static func best(_ list: [(label: ClassLabel, probability: Float)]) -> (label: ClassLabel, probability: Float)? {
        var best = list.first
        for entry in list.dropFirst() {
            if let current = best, entry.probability > current.probability || (current.probability.isNaN && !entry.probability.isNaN) {
                best = entry
            }
        }
        return best
    }
}

extension ClassLabel {
    var featureValue: FeatureValue {
        switch self {
        case .string(let text): .string(text)
        case .int64(let number): .int64(number)
        }
    }
}

extension Session {
    /// What the self-check of the first prediction has found: the largest difference from the reference, relative to the output's largest value. Nil
    /// when `verifiesFirstPrediction` is off, nothing has been predicted yet, or no output has had a finite value on both sides.
    public var verification: Double? { verificationResult?.difference }

    /// What the self-checks of the first prediction at each shape and batch have found together; nil when `verifiesFirstPrediction` is off or nothing has
    /// been predicted yet.
    public var verificationResult: VerificationResult? {
        entries.compactMap(\.verification.result).reduce(nil) { $0?.merged($1) ?? $1 }
    }

    /// Seconds that self-checks have taken so far: what `run`, `classify` and making the session took besides.
    public var verificationSeconds: Double { entries.reduce(0) { $0 + $1.verification.seconds } }

    /// All plans, those of the session that has taken over included.
    private var entries: [PlanEntry] {
        let session = current
        return [defaultPlan] + plans.all + (session === self ? [] : session.entries)
    }

    /// A step of the plan for the default input shapes.
    public struct PlanStep: Sendable {
        public let backend: String
        public let kernel: String
        public let layers: [String]
        public let output: String
        /// Why it runs there and so: the reason of a fallback, or of the choice of kernels. Empty when there was no choice.
        public let reason: String
    }

    /// What runs, in order, for the default input shapes.
    public var planSteps: [PlanStep] {
        let session = current
        let (backend, defaultPlan) = (session.backend, session.defaultPlan)
        let refusals = Dictionary(defaultPlan.plan.fallbacks.map { ($0.layer, $0.reason) }) { first, _ in first }
        return defaultPlan.plan.steps.map { name, step in
            let isFallback = name == ReferenceBackend().name && name != backend.name
            let reason = isFallback ? "no \(backend.name) kernel: \(step.layers.compactMap { refusals[$0] }.joined(separator: "; "))" : step.choice
            return PlanStep(backend: name, kernel: step.kernel, layers: step.layers, output: step.output, reason: reason)
        }
    }

    /// Programs that an OpenCL session has made ready so far: compiled from source, and taken from the cache on disk. Nil on other backends.
    public var programCounts: (built: Int, cached: Int)? {
        (backend as? OpenCLBackend).map { ($0.programBuildCount, $0.programLoadCount) }
    }

    /// Layers that run on the slow reference, each with the reason.
    public var fallbacks: [String] {
        current.defaultPlan.plan.fallbacks.map { "\($0.layer) (\($0.operatorKind)): \($0.reason)" }
    }
}
