import NTTensor

/// A small deterministic generator (SplitMix64), so that every run of a test sees the same data.
package struct TestRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// A generator seeded by a text: the FNV-1a hash of its bytes.
    package init(name: String) {
        state = name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A whole number in `range`.
    package mutating func integer(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A number in `range` with a 16-bit fraction of it, so that it has few significant bits.
    package mutating func number(_ range: ClosedRange<Float>) -> Float {
        range.lowerBound + (range.upperBound - range.lowerBound) * Float(next() >> 48) / 65536
    }

    /// One element of a list that is not empty.
    package mutating func choice<T>(_ list: [T]) -> T { list[integer(0...(list.count - 1))] }

    /// A tensor of `shape` filled as `fill` says.
    package mutating func tensor(_ shape: Shape, _ fill: Fill) throws -> Tensor {
        let count = shape.count
        let values: [Float]
        switch fill {
        case .integers(let range): values = (0..<count).map { _ in Float(integer(range)) }
        case .uniform(let range): values = (0..<count).map { _ in number(range) }
        case .values(let list): values = (0..<count).map { list[$0 % max(1, list.count)] }
        case .counting: values = (0..<count).map { Float($0) }
        }
        return try Tensor(shape, values)
    }
}

/// How test data is made.
package enum Fill: Sendable {
    /// Whole numbers: sums and products of a few thousand of them are exact in float32.
    case integers(ClosedRange<Int>)
    case uniform(ClosedRange<Float>)
    /// The list over and over.
    case values([Float])
    /// 0, 1, 2, ...
    case counting

    /// -4...4.
    package static let small = Fill.integers(-4...4)
    /// -2 to 2.
    package static let unit = Fill.uniform(-2...2)
}
