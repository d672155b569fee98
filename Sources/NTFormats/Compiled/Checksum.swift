/// A 64-bit sum that any change of one byte, and nearly any other, changes. Guards against damage, not against forgery.
///
/// Eight lanes take a 64-bit word each in turn, `lane = rotated((lane ^ word) * prime)` (the one-to-one step of Fowler, Noll and Vo's hash, and a
/// rotation, so that high bits reach low ones): summing keeps up with memory.
package enum Checksum {
    private static let prime: UInt64 = 0x9e37_79b1_85eb_ca87
    private static let start: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The sum of `bytes`; sums of pieces are chained by `seed`.
    package static func sum(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var result = (start ^ seed) &* prime
        guard let base = bytes.baseAddress else { return result }
        func word(_ offset: Int) -> UInt64 { UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
        func step(_ lane: UInt64, _ word: UInt64) -> UInt64 {
            let product = (lane ^ word) &* prime
            return product << 31 | product >> 33
        }
        var (a, b, c, d) = (result &+ 1, result &+ 2, result &+ 3, result &+ 4)
        var (e, f, g, h) = (result &+ 5, result &+ 6, result &+ 7, result &+ 8)
        var offset = 0
        while offset &+ 64 <= bytes.count {
            a = step(a, word(offset))
            b = step(b, word(offset &+ 8))
            c = step(c, word(offset &+ 16))
            d = step(d, word(offset &+ 24))
            e = step(e, word(offset &+ 32))
            f = step(f, word(offset &+ 40))
            g = step(g, word(offset &+ 48))
            h = step(h, word(offset &+ 56))
            offset &+= 64
        }
        for lane in [a, b, c, d, e, f, g, h, UInt64(bytes.count)] { result = step(result, lane) }
        while offset < bytes.count {
            result = step(result, UInt64(bytes[offset]))
            offset &+= 1
        }
        return result ^ (result >> 32)
    }
}
