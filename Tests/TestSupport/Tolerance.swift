/// How far a result may lie from the reference's.
package struct Tolerance: Sendable, CustomStringConvertible {
    package var relative: Double
    package var absolute: Double

    package init(relative: Double, absolute: Double) { (self.relative, self.absolute) = (relative, absolute) }

    /// The same number. For data of small integers, where every partial sum is exact in float32.
    package static let exact = Tolerance(relative: 0, absolute: 0)
    /// For functions computed in float32 by approximation or in another order: some ten units in the last place.
    package static let float32 = Tolerance(relative: 2e-6, absolute: 2e-6)

    package var description: String { "relative \(relative), absolute \(absolute)" }

    /// Whether `found` will do for `expected`. NaN for NaN, infinity for the same infinity; the sign of zero does not matter.
    package func accepts(_ found: Float, for expected: Float) -> Bool {
        if expected.isNaN || found.isNaN { return expected.isNaN && found.isNaN }
        if expected == found { return true }
        guard expected.isFinite, found.isFinite else { return false }
        return abs(Double(found) - Double(expected)) <= absolute + relative * abs(Double(expected))
    }

    /// What is wrong with `found`, in a few lines; empty when it will do.
    package func mismatches(_ found: [Float], expected: [Float], what: String) -> [String] {
        guard found.count == expected.count else { return ["\(what): \(found.count) elements, expected \(expected.count)"] }
        let wrong = found.indices.filter { !accepts(found[$0], for: expected[$0]) }
        guard let first = wrong.first else { return [] }
        let worst = wrong.max { abs(found[$0] - expected[$0]) < abs(found[$1] - expected[$1]) } ?? first
        return [
            "\(what): \(wrong.count) of \(found.count) elements differ (\(self)); first [\(first)] is \(found[first]), expected "
                + "\(expected[first]); worst [\(worst)] is \(found[worst]), expected \(expected[worst])"
        ]
    }
}
