/// What comparing a prediction with the reference has found.
public struct VerificationResult: Sendable, Equatable {
    /// The largest difference of an output, relative to the output's largest value, over values that are finite on both sides; nil when none is.
    public internal(set) var difference: Double?
    /// What the difference does not tell: inputs that hold NaN or infinities, and outputs that do so on both sides.
    public internal(set) var remarks: [String]

    /// Says that values are NaN or infinite, all or how many: `is NaN`, `has 3 of 1000 values that are NaN or infinite`. Nil when all are finite.
    package static func nonFinite(_ values: some Collection<Float>) -> String? {
        let count = values.reduce(0) { $0 + ($1.isFinite ? 0 : 1) }
        if count == 0 { return nil }
        let nans = values.reduce(0) { $0 + ($1.isNaN ? 1 : 0) }
        let kind = nans == count ? "NaN" : nans == 0 ? "infinite" : "NaN or infinite"
        return count == values.count ? "is \(kind)" : "has \(count) of \(values.count) values that are \(kind)"
    }

    /// Both findings as one, of different plans.
    func merged(_ other: VerificationResult) -> VerificationResult {
        let differences = [difference, other.difference].compactMap { $0 }
        return VerificationResult(difference: differences.max(), remarks: remarks + other.remarks.filter { !remarks.contains($0) })
    }
}
