import Foundation
import NTFormats
import NTRuntime

/// What a plan is specialised for: shapes of inputs that differ from the model's defaults, and the batch.
package struct PlanKey: Hashable, Sendable {
    package var shapes: [String: [Int]]
    package var batch: Int

    package init(shapes: [String: [Int]], batch: Int) { (self.shapes, self.batch) = (shapes, batch) }

    /// The model's default shapes, one element.
    package static let standard = PlanKey(shapes: [:], batch: 1)

    /// The key for these inputs. Throws when an input is not the model's or has a shape that the model does not take.
    init(_ model: Model, images: [String: ImageRequest] = [:], tensors: [String: Tensor]) throws {
        self = .standard
        for (name, tensor) in tensors { shapes[name] = try model.asset.planShape(input: name, given: tensor.shape) }
        for (name, image) in images {
            guard let size = image.size, let feature = model.imageInput(named: name) else { continue }
            shapes[name] = try model.asset.planShape(input: name, given: [feature.color.channelCount, size.height, size.width])
        }
    }
}

/// A plan with its pool of states and what the optional self-check has found.
package final class PlanEntry: Sendable {
    package let plan: ExecutionPlan
    package let states: StatePool
    let verification: Verification
    /// Whether it was made over a model's compiled form.
    let isMapped: Bool

    init(_ plan: ExecutionPlan, precision: ComputePrecision, isMapped: Bool = false) {
        self.plan = plan
        self.isMapped = isMapped
        verification = Verification(precision)
        states = StatePool(plan)
    }

    /// Runs `body` with a state that no one else holds. Throws `NeedletailError`, also when a device has no memory for one more state.
    package func withState<Result>(_ body: (ExecutionState) throws -> Result) throws -> Result {
        try NeedletailError.wrapping(.executionFailed) { try states.withState(body) }
    }
}

/// The plans of a session, least recently used out first. Compiles one plan at a time.
final class PlanCache: @unchecked Sendable {
    private let lock = NSLock()
    private let capacity: Int
    private var entries: [PlanKey: PlanEntry] = [:]
    private var order: [PlanKey] = []

    init(capacity: Int) { self.capacity = capacity }

    /// The plans that are kept.
    var all: [PlanEntry] { lock.withLock { order.compactMap { entries[$0] } } }

    func entry(for key: PlanKey, compile: () throws -> PlanEntry) throws -> PlanEntry {
        lock.lock()
        defer { lock.unlock() }
        if let entry = entries[key] {
            if order.last != key {
                order.removeAll { $0 == key }
                order.append(key)
            }
            return entry
        }
        let entry = try compile()
        entries[key] = entry
        order.append(key)
        if order.count > capacity { entries[order.removeFirst()] = nil }
        return entry
    }
}

/// A flag that is set once and stays. Safe from any thread.
final class Latch: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}
