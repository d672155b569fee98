import CNTPlatform

/// Floats aligned to cache lines, small whole numbers.
final class FloatMemory {
    let start: UnsafeMutablePointer<Float>

    /// There is no memory for so many floats.
    struct Shortage: Error, CustomStringConvertible {
        let count: Int
        var description: String { "out of memory for \(count) floats" }
    }

    init(_ count: Int) throws {
        guard let memory = nt_aligned_alloc(64, max(64, count * 4)) else { throw Shortage(count: count) }
        start = memory.bindMemory(to: Float.self, capacity: count)
        for index in 0..<count { start[index] = Float(index % 7) - 3 }
    }

    deinit { nt_aligned_free(start) }
}
