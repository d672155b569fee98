/// Places buffers of known lifetimes in one arena.
package enum MemoryPlanner {
    package struct Request: Sendable {
        package var count: Int
        /// The steps that use the buffer first and last, both included.
        package var lifetime: ClosedRange<Int>

        package init(count: Int, lifetime: ClosedRange<Int>) { (self.count, self.lifetime) = (count, lifetime) }
    }

    /// Floats that buffers are aligned to: a cache line.
    package static let alignment = 16

    /// An offset in floats for each request, such that buffers alive at the same step do not overlap, and the arena's size.
    /// Larger buffers are placed first, each at the lowest offset that is free throughout its life.
    package static func place(_ requests: [Request]) -> (offsets: [Int], count: Int) {
        var offsets = [Int](repeating: 0, count: requests.count)
        var placed: [Int] = []
        var total = 0
        for index in requests.indices.sorted(by: { (requests[$0].count, $1) > (requests[$1].count, $0) }) {
            let request = requests[index]
            let size = (request.count + alignment - 1) / alignment * alignment
            let rivals = placed.filter { requests[$0].lifetime.overlaps(request.lifetime) }
                .map { (start: offsets[$0], end: offsets[$0] + (requests[$0].count + alignment - 1) / alignment * alignment) }
                .sorted { $0.start < $1.start }
            var offset = 0
            for rival in rivals {
                if offset + size <= rival.start { break }
                offset = max(offset, rival.end)
            }
            offsets[index] = offset
            total = max(total, offset + size)
            placed.append(index)
        }
        return (offsets, total)
    }
}
