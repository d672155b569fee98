import CNTPlatform
import NTCPU
import NTRuntime
import XCTest

/// The built-in measurements of what a core can do.
final class PeakTests: XCTestCase {
    /// bfloat16 has a peak where the processor has it, well above that of float32, and none under a ceiling without it.
    func testEveryArithmeticHasItsPeak() throws {
        let all = CPUPeak.measure(seconds: 0.05)
        XCTAssertGreaterThan(all.filter { $0.arithmetic == .float32 }.count, 0)
        XCTAssertEqual(all.contains { $0.arithmetic == .bfloat16 }, CPUBackend.resolved(.bfloat16) == .bfloat16)
        XCTAssertEqual(all.contains { $0.arithmetic == .float16 }, CPUBackend.resolved(.float16) == .float16)
        let single = try XCTUnwrap(CPUPeak.best(.float32, seconds: 0.1))
        XCTAssertGreaterThan(single.gigaflops, 0.1)
        if let half = CPUPeak.best(.bfloat16, seconds: 0.1) {
            // Twice on the processors that have it; a neighbour may take some of that away.
            XCTAssertGreaterThan(half.gigaflops, 1.3 * single.gigaflops)
            XCTAssertLessThan(half.gigaflops, 40 * single.gigaflops)
        }
        nt_isa_set_ceiling(UInt32(NT_ISA_AVX2))
        defer { nt_isa_set_ceiling(.max) }
        XCTAssertNil(CPUPeak.best(.bfloat16, seconds: 0.01))
    }
}
