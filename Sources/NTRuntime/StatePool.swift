import Foundation

/// Lends execution states to requests, one each; makes new ones when all are out. Safe from any thread.
package final class StatePool: @unchecked Sendable {
    private let plan: ExecutionPlan
    private let lock = NSLock()
    private var idle: [ExecutionState] = []

    package init(_ plan: ExecutionPlan) { self.plan = plan }

    /// Runs `body` with a state that no one else holds.
    package func withState<Result>(_ body: (ExecutionState) throws -> Result) throws -> Result {
        let state = try take()
        defer {
            plan.discardStaged(state)
            lock.withLock { idle.append(state) }
        }
        return try body(state)
    }

    private func take() throws -> ExecutionState {
        if let state = lock.withLock({ idle.popLast() }) { return state }
        return try plan.makeState()
    }
}
