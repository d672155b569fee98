import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class OperatorCasesTests: XCTestCase {
    /// Each case builds, and runs through a plan on the reference backend to the values of direct evaluation.
    func testEveryCaseRunsOnTheReferenceBackend() throws {
        for test in OperatorCases.all {
            XCTAssertEqual(BackendCheck.run(test, on: ReferenceBackend(), tolerance: .exact), [])
        }
    }

    func testCaseNamesAreDistinct() {
        let names = OperatorCases.all.map(\.name)
        XCTAssertEqual(Set(names).count, names.count, "\(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys)")
    }
}
