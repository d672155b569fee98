/// What a preparation does, as tables of whole numbers, for others to do it by: the same bytes come out.
///
/// Each target column is a weighted sum along the target's x axis, rounded to a byte; each target row then likewise along y. A sum is rounded as
/// (sum + 2^21) >> 22, held to 0...255.
package struct ResampleTables: Sendable, Hashable {
    /// One axis of the target.
    package struct Axis: Sendable, Hashable {
        /// Per target element, the first source element of its window, counted from the region's first column or row.
        package let first: [Int32]
        /// Per target element, how many source elements have a weight; at least 1.
        package let used: [Int32]
        /// The most of `used`.
        package let taps: Int
        /// [taps][target elements] in units of 2^-22; those past `used` are 0.
        package let weights: [Int32]
    }

    /// The stored pixels that are read. For two planes the ranges begin at even numbers.
    package let columns: Range<Int>
    package let rows: Range<Int>
    /// The target's x axis runs along stored rows' numbers, its y axis along stored columns'.
    package let isTransposed: Bool
    package let x: Axis
    package let y: Axis
    /// Where in the target the drawn rectangle begins; the rest is black.
    package let left: Int
    package let top: Int
}

extension ResampleAxis {
    /// The axis as plain tables, windows counted from `origin` elements before what `first` counts from.
    func table(origin: Int) -> ResampleTables.Axis {
        var (starts, lengths) = ([Int32](repeating: 0, count: count), [Int32](repeating: 1, count: count))
        func weight(_ element: Int, _ tap: Int) -> Int32 { Int32(high[element * taps + tap]) * 256 + Int32(low[element * taps + tap]) }
        var longest = 1
        for element in 0..<count {
            let weighted = (0..<taps).filter { weight(element, $0) != 0 }
            let (lower, upper) = (weighted.first ?? 0, (weighted.last ?? 0) + 1)
            starts[element] = first[element] + Int32(lower) - Int32(origin)
            lengths[element] = Int32(upper - lower)
            longest = max(longest, upper - lower)
        }
        var weights = [Int32](repeating: 0, count: longest * count)
        for element in 0..<count {
            let lower = Int(starts[element] + Int32(origin) - first[element])
            for tap in 0..<Int(lengths[element]) { weights[tap * count + element] = weight(element, lower + tap) }
        }
        return ResampleTables.Axis(first: starts, used: lengths, taps: longest, weights: weights)
    }
}

extension ImagePreprocessor {
    /// As `writePlanar`, but offers the stored pixels to `taker` first, with what to do with them: when that returns true, it has read them and `out`
    /// is left as it is. `alsoWrites` fills `out` even then.
    /// - Throws: `ImageError`, also when `out` holds fewer than `elementCount` elements, and whatever `taker` throws.
    package func writePlanar(
        _ source: some PixelSource, into out: UnsafeMutableBufferPointer<Float>, alsoWrites: Bool = false,
        offeringTo taker: (PixelView, ResampleTables) throws -> Bool
    ) throws {
        let target = try checked(out)
        try withPlan(source) { view, key in
            let tables = try ResampleWorkspace.withWorkspace { try $0.plan(for: key).tables }
            if try taker(view, tables), !alsoWrites { return }
            try run(key, view, into: .planar(target))
        }
    }
}
