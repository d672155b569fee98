import CNTCallCounter

/// The counts of several runs of one thing: per kind, the largest of a run.
struct Counts {
    private var most = nt_call_counts()

    /// Runs `body` twenty times uncounted, so that what is made once is made, and then `runs` times counted.
    init(runs: Int = 100, _ body: () throws -> Void) throws {
        for _ in 0..<20 { try body() }
        for _ in 0..<runs {
            nt_call_counts_begin()
            let outcome = Result { try body() }
            let counts = nt_call_counts_end()
            try outcome.get()
            most.allocations = max(most.allocations, counts.allocations)
            most.frees = max(most.frees, counts.frees)
            most.locks = max(most.locks, counts.locks)
            most.waits = max(most.waits, counts.waits)
            most.wakes = max(most.wakes, counts.wakes)
            most.entries = max(most.entries, counts.entries)
        }
    }

    func print(_ name: String) {
        Swift.print(
            name, "allocations=\(most.allocations)", "frees=\(most.frees)", "locks=\(most.locks)", "waits=\(most.waits)",
            "wakes=\(most.wakes)", "foundation=\(most.entries)")
    }
}
