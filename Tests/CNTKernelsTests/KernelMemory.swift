import CNTMemoryPoison
import CNTPlatform
import XCTest

/// Floats with a margin of NaN on both sides, to catch reads and writes that stray: a read makes the result NaN, a write changes the margin.
/// Under AddressSanitizer any touch of a margin ends the program.
final class KernelMemory {
    static let margin = 64
    let count: Int
    private let storage: UnsafeMutablePointer<Float>

    /// Memory of `count` floats, aligned to 64 bytes when `offset` is 0, filled with `value` of the index (NaN by default).
    init(_ count: Int, offset: Int = 0, _ value: (Int) -> Float = { _ in .nan }) {
        self.count = count
        let total = count + 2 * Self.margin + offset
        let raw = nt_aligned_alloc(64, total * 4)!
        storage = raw.bindMemory(to: Float.self, capacity: total)
        storage.initialize(repeating: Self.poison, count: total)
        start = storage + Self.margin + offset
        end = total
        for index in 0..<count { start[index] = value(index) }
        eachMargin(nt_memory_poison)
    }

    deinit {
        eachMargin(nt_memory_unpoison)
        nt_aligned_free(storage)
    }

    private func eachMargin(_ body: (UnsafeRawPointer, Int) -> Void) {
        let after = start + count
        body(storage, (start - storage) * 4)
        body(after, (storage + end - after) * 4)
    }

    /// The first float.
    let start: UnsafeMutablePointer<Float>
    private let end: Int

    var values: [Float] { (0..<count).map { start[$0] } }

    /// Whether both margins are as they were.
    var isIntact: Bool {
        eachMargin(nt_memory_unpoison)
        defer { eachMargin(nt_memory_poison) }
        let before = start - storage
        return (0..<end).allSatisfy { index in
            (index >= before && index < before + count) || storage[index].bitPattern == Self.poison.bitPattern
        }
    }

    private static let poison = Float(bitPattern: 0x7fc0_1234)
}

/// A small deterministic generator of whole numbers, whose sums of products are exact in float32.
struct KernelNumbers {
    private var state: UInt64

    init(seed: Int) { state = UInt64(truncatingIfNeeded: seed) &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next(_ range: ClosedRange<Int>) -> Float {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Float(range.lowerBound + Int(state >> 33) % (range.upperBound - range.lowerBound + 1))
    }

    mutating func unit() -> Float { next(-1_000_000...1_000_000) / 1_000_000 }
}

/// The instruction sets of this processor, and no others.
let availableISA = nt_isa_bits()
