import Synchronization

/// Lends execution states to requests, one each; makes new ones when all are out. Safe from any thread.
package final class StatePool: Sendable {
    private let plan: ExecutionPlan
    private let idle = Mutex<[ExecutionState]>([])

    package init(_ plan: ExecutionPlan) { self.plan = plan }

    /// Runs `body` with a state that no one else holds.
    package func withState<Result>(_ body: (ExecutionState) throws -> Result) throws -> Result {
        let state = try borrow()
        defer { giveBack(state) }
        return try body(state)
    }

    /// A state that no one else holds until it is given back.
    package func borrow() throws -> ExecutionState { try idle.withLock { $0.popLast() } ?? plan.makeState() }

    package func giveBack(_ state: ExecutionState) {
        plan.discardStaged(state)
        idle.withLock { $0.append(state) }
    }
}
