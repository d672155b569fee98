import CNTKernels
import CNTPlatform
import Foundation
import XCTest

/// What rounding weights does to sums on average, and the moments of clamped numbers.
final class RoundingTests: XCTestCase {
    /// The sums are those of plain loops in double precision, for rows around a vector's length.
    func testSums() throws {
        try XCTSkipIf(nt_gemm_choose_element(Int32(NT_ELEMENT_BFLOAT16), 1, 1, 1, nt_isa_bits()) == nil, "this processor has no AVX512-BF16")
        var random = KernelNumbers(seed: 3)
        for count in [1, 15, 16, 17, 40] {
            let outputs = 3
            let weights = KernelMemory(outputs * count) { _ in random.unit() }
            let mean = KernelMemory(count) { _ in random.unit() }
            let variance = KernelMemory(count) { _ in abs(random.unit()) }
            var sums = [nt_rounding_sums](repeating: nt_rounding_sums(), count: outputs)
            nt_rounding_sums_of(outputs, count, weights.start, mean.start, variance.start, &sums)
            for o in 0..<outputs {
                var expected = (mean: 0.0, variance: 0.0, error: 0.0)
                for i in 0..<count {
                    let w = weights.start[o * count + i]
                    expected.mean += Double(w) * Double(mean.start[i])
                    expected.variance += Double(w) * Double(w) * Double(variance.start[i])
                    expected.error += Double(w - nt_bfloat16_value(nt_bfloat16_bits(w))) * Double(mean.start[i])
                }
                XCTAssertEqual(Double(sums[o].mean), expected.mean, accuracy: 1e-5, "\(count)")
                XCTAssertEqual(Double(sums[o].variance), expected.variance, accuracy: 1e-5, "\(count)")
                XCTAssertEqual(Double(sums[o].error), expected.error, accuracy: 1e-7, "\(count)")
                XCTAssertNotEqual(expected.error, 0)
            }
        }
    }

    /// Within 1e-4 deviations of the integrals over the normal distribution.
    func testClampedMoments() {
        for (lo, hi) in [(Float(0), Float.infinity), (0, 6), (-.infinity, 1), (-.infinity, .infinity), (2, 2)] {
            for (m, s) in [(Float(0), Float(1)), (-3, 1), (5, 4), (40, 2), (0.5, 0.01), (-1e3, 1e3), (3, 0)] {
                var (mean, variance) = (m, s * s)
                nt_clamped_moments(1, lo, hi, &mean, &variance)
                var (total, first, second) = (0.0, 0.0, 0.0)
                for step in -8000...8000 {
                    let z = Double(step) / 1000
                    let x = max(Double(lo), min(Double(hi), Double(m) + Double(s) * z))
                    total += exp(-z * z / 2)
                    first += exp(-z * z / 2) * x
                    second += exp(-z * z / 2) * x * x
                }
                let expected = first / total
                XCTAssertEqual(Double(mean), expected, accuracy: 1e-4 * Double(s) + 1e-6, "\(m) +- \(s) in \(lo)...\(hi)")
                XCTAssertEqual(
                    Double(variance), max(0, second / total - expected * expected), accuracy: 3e-4 * Double(s * s) + 1e-9,
                    "\(m) +- \(s) in \(lo)...\(hi)")
            }
        }
    }
}
