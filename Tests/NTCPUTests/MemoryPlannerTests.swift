import NTCPU
import TestSupport
import XCTest

final class MemoryPlannerTests: XCTestCase {
    /// Buffers alive at the same step never overlap, offsets are aligned, and the arena is no larger than all buffers together.
    func testRandomLifetimes() {
        var generator = TestRandom(seed: 1)
        for _ in 0..<200 {
            let requests = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                let first = Int.random(in: 0...30, using: &generator)
                return MemoryPlanner.Request(
                    count: Int.random(in: 1...5000, using: &generator), lifetime: first...(first + Int.random(in: 0...10, using: &generator)))
            }
            let (offsets, total) = MemoryPlanner.place(requests)
            XCTAssertLessThanOrEqual(total, requests.reduce(0) { $0 + ($1.count + 15) / 16 * 16 })
            for i in requests.indices {
                XCTAssertEqual(offsets[i] % MemoryPlanner.alignment, 0)
                XCTAssertLessThanOrEqual(offsets[i] + requests[i].count, total)
                for j in 0..<i where requests[i].lifetime.overlaps(requests[j].lifetime) {
                    XCTAssertTrue(
                        offsets[i] + requests[i].count <= offsets[j] || offsets[j] + requests[j].count <= offsets[i],
                        "\(requests[i]) at \(offsets[i]) overlaps \(requests[j]) at \(offsets[j])")
                }
            }
        }
    }

    /// A chain of values, each read by the next step alone, needs room for two.
    func testChain() {
        let requests = (0..<10).map { MemoryPlanner.Request(count: 160, lifetime: $0...($0 + 1)) }
        XCTAssertEqual(MemoryPlanner.place(requests).count, 320)
    }
}
