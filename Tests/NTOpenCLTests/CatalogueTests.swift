import NTGraph
import NTOpenCL
import NTRuntime
import TestSupport
import XCTest

/// The shared cases of all operators and random graphs on every device.
final class CatalogueTests: XCTestCase {
    private func check(_ family: DeviceStyle.Family, _ cases: [TestSupport.OperatorCase], file: StaticString = #filePath, line: UInt = #line) throws {
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == family {
            for test in cases {
                for problem in BackendCheck.run(test, on: entry.backend) { XCTFail("\(entry.name): \(problem)", file: file, line: line) }
                for fallback in try BackendCheck.fallbacks(test, on: entry.backend) {
                    // Layers whose weights are inputs have no kernel: weights are packed beforehand.
                    XCTAssertEqual(fallback.reason, "its weights are computed at run time", test.name, file: file, line: line)
                }
            }
        }
    }

    func testCasesOnWideCores() throws { try check(.wideCores, OperatorCases.all) }
    func testCasesOnManyCores() throws { try check(.manyCores, OperatorCases.all) }

    func testEveryOperatorIsClaimed() throws {
        let backend = try DeviceFixture.backend()
        for kind in OperatorCatalogue.kinds {
            let cases = OperatorCases.covering(kind)
            XCTAssertFalse(cases.isEmpty, kind)
            XCTAssertTrue(try cases.contains { try BackendCheck.fallbacks($0, on: backend).isEmpty }, "\(kind) has no OpenCL kernel")
        }
    }

    func testRandomGraphs() throws {
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == .wideCores {
            for problem in BackendCheck.runRandomGraphs(0..<40, on: entry.backend) { XCTFail("\(entry.name): \(problem)") }
        }
    }
}
