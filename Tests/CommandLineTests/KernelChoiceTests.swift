import Foundation
import XCTest

/// `needletail-bench choice` on this machine: the chosen kernels are the fastest, or nearly so, for the benchmark networks' products.
final class KernelChoiceTests: XCTestCase {
    /// Kernels are timed in turns and the best rounds compared, at length where the choice looks wrong. Neighbours' work can still hit one kernel each
    /// time, so the whole is tried again before it fails.
    func testChosenKernelsAreWithinATenthOfTheFastest() throws {
        let program = Tool.executable.deletingLastPathComponent().appendingPathComponent("needletail-bench")
        var last = ""
        for _ in 0..<3 {
            let result = try Tool.run(["choice"], program: program)
            XCTAssertFalse(result.wasKilled, result.errors)
            XCTAssertGreaterThan(result.output.split(separator: "\n").count, 40, result.output)
            if result.status == 0 { return }
            last = result.output.split(separator: "\n").filter { $0.contains("wrong") }.joined(separator: "\n") + result.errors
        }
        XCTFail(last)
    }

    func testUnknownNetworksAreRefused() throws {
        let program = Tool.executable.deletingLastPathComponent().appendingPathComponent("needletail-bench")
        let result = try Tool.run(["choice", "alexnet"], program: program)
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("mobilenet_v1"), result.errors)
    }
}
