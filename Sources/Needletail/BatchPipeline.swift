import Foundation
import NTRuntime

/// Prepares inputs and runs the network on them, both at once, for any number of elements: while some threads decode and resize the pictures of one part,
/// others run the network on the parts before.
///
/// Elements are cut into parts in order. The caller's thread and helpers take the next element to prepare; whoever prepares the last of a part runs the
/// network on it. As long as there is something left to prepare, that run stays on its own thread, so no thread waits for another; the last parts
/// get all threads. Memory is bounded: few parts are open at once, and their results wait for those before them.
final class BatchPipeline<Output: Sendable>: @unchecked Sendable {
    /// What is to be done, and on how many threads.
    struct Work {
        /// How many elements there are.
        let count: Int
        /// Elements of a part, and the plan for that many; the elements left over run one by one.
        let partCount: Int
        let parts: PlanEntry
        let singles: PlanEntry
        /// Threads, the caller's included.
        let threadCount: Int
        /// Parts open at once.
        let openCount: Int
        /// Whether a run takes the processor's threads, so that those which still prepare are left alone.
        let sharesThreads: Bool
        /// Brings element `index` to its place in a state's inputs; or returns its result, when it could not run with the others. Several threads
        /// prepare different places at once.
        let prepare: @Sendable (_ index: Int, Place) throws -> Output?
        let run: @Sendable (PlanEntry, ExecutionState) throws -> Void
        /// Reads the result at a place.
        let collect: @Sendable (Place) throws -> Output
        /// Another way to the result of an element that has failed; throws the error when there is none.
        let recover: @Sendable (_ index: Int, any Error) throws -> Output
    }

    /// Element `element` of `count` that run together.
    struct Place {
        let entry: PlanEntry
        let state: ExecutionState
        let element: Int
        let count: Int
    }

    /// Elements that are prepared into one state and run together. Its fields change under the lock.
    private final class Part {
        let range: Range<Int>
        let entry: PlanEntry
        let state: ExecutionState
        var taken = 0
        var unprepared: Int
        var outcomes: [Result<Output, any Error>?]

        init(_ range: Range<Int>, _ entry: PlanEntry, _ state: ExecutionState) {
            (self.range, self.entry, self.state) = (range, entry, state)
            unprepared = range.count
            outcomes = Array(repeating: nil, count: range.count)
        }

        func place(_ element: Int) -> Place { Place(entry: entry, state: state, element: element, count: range.count) }
    }

    private let work: Work
    private let condition = NSCondition()
    // All under the lock.
    private var filling: Part?
    private var openParts = 0
    /// The first element that is in no part yet.
    private var next = 0
    private var delivered = 0
    private var finished: [Int: Result<Output, any Error>] = [:]
    private var helpers = 0
    private var ends = false
    private let cancelled = Latch()

    init(_ work: Work) { self.work = work }

    /// Does all the work and calls `deliver` on the caller's thread for each element in order. An element's error is delivered in its place.
    /// Throws what `deliver` throws, after which no more is prepared.
    func run(_ deliver: (Int, Result<Output, any Error>) throws -> Void) rethrows {
        for _ in 1..<max(1, min(work.threadCount, work.count)) { DispatchQueue.global(qos: .userInitiated).async { self.help() } }
        defer { end() }
        while true {
            // Helpers belong to no task, so the caller looks for them.
            if Task.isCancelled { cancelled.set() }
            condition.lock()
            var ready: [Result<Output, any Error>] = []
            while let result = finished.removeValue(forKey: delivered + ready.count) { ready.append(result) }
            if ready.isEmpty, delivered < work.count {
                guard let step = takeStep() else {
                    condition.wait()
                    condition.unlock()
                    continue
                }
                condition.unlock()
                perform(step)
                continue
            }
            condition.unlock()
            for result in ready {
                try deliver(delivered, result)
                condition.withLock { delivered += 1 }
            }
            condition.broadcast()
            if delivered == work.count { return }
        }
    }

    /// Elements not begun when this is called fail with `NeedletailError` of code `cancelled`. From any thread.
    func cancel() { cancelled.set() }

    private func end() {
        condition.lock()
        ends = true
        condition.broadcast()
        while helpers > 0 { condition.wait() }
        let abandoned = filling
        condition.unlock()
        if let abandoned { abandoned.entry.states.giveBack(abandoned.state) }
    }

    private func help() {
        condition.lock()
        defer {
            helpers -= 1
            condition.broadcast()
            condition.unlock()
        }
        helpers += 1
        while !ends {
            guard let step = takeStep() else {
                condition.wait()
                continue
            }
            condition.unlock()
            perform(step)
            condition.lock()
        }
    }

    private enum Step {
        case prepare(Part, place: Int)
        /// A part could not be opened.
        case fail(Range<Int>, any Error)
    }

    /// The next element to prepare; nil when there is none, or too much is under way. Under the lock.
    private func takeStep() -> Step? {
        if filling == nil, next < work.count, openParts < work.openCount, next - delivered < work.partCount * (2 * work.openCount) {
            let isPart = work.partCount > 1 && work.count - next >= work.partCount
            let range = next..<(next + (isPart ? work.partCount : 1))
            let entry = isPart ? work.parts : work.singles
            next = range.upperBound
            openParts += 1
            do {
                filling = Part(range, entry, try NeedletailError.wrapping(.executionFailed) { try entry.states.borrow() })
            } catch {
                return .fail(range, error)
            }
        }
        guard let part = filling else { return nil }
        let place = part.taken
        part.taken += 1
        if part.taken == part.range.count { filling = nil }
        // Others may find a part to open now.
        if filling == nil { condition.broadcast() }
        return .prepare(part, place: place)
    }

    private func perform(_ step: Step) {
        switch step {
        case .fail(let range, let error):
            finish(range, Array(repeating: .failure(error), count: range.count))
        case .prepare(let part, let place):
            let outcome = prepared(part, place)
            condition.lock()
            part.outcomes[place] = outcome
            part.unprepared -= 1
            let isLast = part.unprepared == 0
            let othersPrepare = filling != nil || next < work.count
            condition.unlock()
            guard isLast else { return }
            runPart(part, alone: work.sharesThreads && work.threadCount > 1 && othersPrepare)
            part.entry.states.giveBack(part.state)
            finish(part.range, part.outcomes.map { $0 ?? .failure(NeedletailError(.executionFailed, "a result is missing")) })
        }
    }

    /// Prepares one element; its result when that is known already, nil when the network is to run on it.
    private func prepared(_ part: Part, _ place: Int) -> Result<Output, any Error>? {
        if cancelled.isSet { return .failure(NeedletailError(.cancelled, "cancelled before it began")) }
        do {
            return try work.prepare(part.range.lowerBound + place, part.place(place)).map { .success($0) }
        } catch {
            return .failure(error)
        }
    }

    /// Runs the network on a part whose elements are prepared, unless none of them needs it. No one else uses the part.
    private func runPart(_ part: Part, alone: Bool) {
        guard part.outcomes.contains(where: { $0 == nil }) else { return }
        part.state.usesOneThread = alone
        defer { part.state.usesOneThread = false }
        let run = Result { try work.run(part.entry, part.state) }
        for place in part.outcomes.indices where part.outcomes[place] == nil {
            part.outcomes[place] = run.flatMap { Result { try work.collect(part.place(place)) } }
        }
    }

    private func finish(_ range: Range<Int>, _ outcomes: [Result<Output, any Error>]) {
        let results = zip(range, outcomes).map { index, outcome in outcome.flatMapError { error in Result { try work.recover(index, error) } } }
        condition.lock()
        for (index, result) in zip(range, results) { finished[index] = result }
        openParts -= 1
        condition.broadcast()
        condition.unlock()
    }
}
