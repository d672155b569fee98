/// Arithmetic for figures about work, which stops at the largest number instead of overflowing: a file may describe any shapes.
package enum SaturatingArithmetic {
    /// The product of numbers that are not negative.
    package static func product(_ factors: Int...) -> Int {
        if factors.contains(0) { return 0 }
        return factors.reduce(1) { result, factor in
            let (value, overflow) = result.multipliedReportingOverflow(by: factor)
            return overflow ? .max : value
        }
    }

    /// The sum of two numbers that are not negative.
    package static func sum(_ a: Int, _ b: Int) -> Int {
        let (value, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : value
    }
}
