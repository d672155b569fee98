import CNTPlatform
import NTRuntime
import Synchronization
import XCTest

final class ThreadPoolTests: XCTestCase {
    /// Counts, per share, how often it ran.
    private final class Tally: @unchecked Sendable {
        let counts: UnsafeMutablePointer<Int>
        let size: Int
        init(_ size: Int) {
            self.size = size
            counts = .allocate(capacity: size)
            counts.initialize(repeating: 0, count: size)
        }
        deinit { counts.deallocate() }
        var values: [Int] { (0..<size).map { counts[$0] } }
    }

    private static let add: nt_thread_job = { context, thread, _ in
        context!.assumingMemoryBound(to: Int.self)[thread] += 1
    }

    /// Each job runs every share once, whatever the number of shares, many times over.
    func testEveryShareRunsOnce() {
        for threads in 1...5 {
            let pool = ThreadPool(threadCount: threads)
            let tally = Tally(threads)
            for _ in 0..<500 {
                for shares in 1...threads where pool.handle != nil {
                    XCTAssertTrue(nt_thread_pool_run(pool.handle, shares, Self.add, tally.counts))
                }
            }
            guard pool.handle != nil else { continue }
            XCTAssertEqual(tally.values, (0..<threads).map { 500 * (threads - $0) })
        }
    }

    /// Shares of Swift code run once each: on the pool's threads, on this one alone where there are more shares or the pool is busy.
    func testSharesOfSwiftCode() {
        for threads in 1...3 {
            let pool = ThreadPool(threadCount: threads)
            for count in 1...5 {
                let counts = (0..<count).map { _ in Count() }
                for _ in 0..<100 { pool.share(count) { counts[$0].value.add(1, ordering: .relaxed) } }
                XCTAssertEqual(counts.map { $0.value.load(ordering: .relaxed) }, [Int](repeating: 100, count: count))
            }
            let inner = Count()
            pool.share(threads) { _ in pool.share(threads) { _ in inner.value.add(1, ordering: .relaxed) } }
            XCTAssertEqual(inner.value.load(ordering: .relaxed), threads * threads)
        }
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    /// Workers that have gone to sleep wake for the next job.
    func testSleepersWake() {
        let pool = ThreadPool(threadCount: 3)
        let tally = Tally(3)
        for _ in 0..<5 {
            XCTAssertTrue(nt_thread_pool_run(pool.handle, 3, Self.add, tally.counts))
            usleep(30_000)
        }
        XCTAssertEqual(tally.values, [5, 5, 5])
    }

    /// A job of more shares than the pool has is refused, and so is a job while another runs.
    func testRefusals() {
        let pool = ThreadPool(threadCount: 2)
        let tally = Tally(3)
        XCTAssertFalse(nt_thread_pool_run(pool.handle, 3, Self.add, tally.counts))
        XCTAssertFalse(nt_thread_pool_run(pool.handle, 0, Self.add, tally.counts))
        XCTAssertFalse(nt_thread_pool_run(nil, 1, Self.add, tally.counts))
        struct Nested {
            var pool: OpaquePointer?
            var wasRefused = false
        }
        var nested = Nested(pool: pool.handle)
        let job: nt_thread_job = { context, thread, _ in
            guard thread == 0 else { return }
            let nested = context!.assumingMemoryBound(to: Nested.self)
            nested.pointee.wasRefused = !nt_thread_pool_run(nested.pointee.pool, 2, { _, _, _ in }, nil)
        }
        XCTAssertTrue(nt_thread_pool_run(pool.handle, 2, job, &nested))
        XCTAssertTrue(nested.wasRefused)
    }

    /// Pools that never ran a job, or just did, end cleanly.
    func testPoolsEnd() {
        for round in 0..<50 {
            let pool = ThreadPool(threadCount: 4)
            let tally = Tally(4)
            if round % 2 == 0 { XCTAssertTrue(nt_thread_pool_run(pool.handle, 4, Self.add, tally.counts)) }
        }
    }
}
