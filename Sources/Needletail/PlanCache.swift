import Foundation
import NTFormats
import NTRuntime

/// What a plan is specialised for: shapes of inputs that differ from the model's defaults, and the batch.
package struct PlanKey: Hashable, Sendable {
    package var shapes: [String: [Int]]
    package var batch: Int

    package init(shapes: [String: [Int]], batch: Int) { (self.shapes, self.batch) = (shapes, batch) }

    /// The key for these inputs. Throws when an input is not the model's.
    init(_ asset: ModelAsset, inputs: [String: Tensor]) throws {
        var shapes: [String: [Int]] = [:]
        for (name, tensor) in inputs {
            guard let shape = try asset.planShape(input: name, given: tensor.shape) else { continue }
            shapes[name] = shape
        }
        self.init(shapes: shapes, batch: 1)
    }
}

/// A plan with its pool of states and what the optional self-check has found.
package final class PlanEntry: Sendable {
    package let plan: ExecutionPlan
    package let states: StatePool
    let verification = Verification()

    init(_ plan: ExecutionPlan) {
        self.plan = plan
        states = StatePool(plan)
    }
}

/// The plans of a session, least recently used out first. Compiles one plan at a time.
final class PlanCache: @unchecked Sendable {
    private let lock = NSLock()
    private let capacity: Int
    private var entries: [PlanKey: PlanEntry] = [:]
    private var order: [PlanKey] = []

    init(capacity: Int) { self.capacity = capacity }

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
