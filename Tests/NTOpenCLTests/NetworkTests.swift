import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Whole networks, small in pixels but not in kind, against the reference.
final class NetworkTests: XCTestCase {
    private func check(_ graph: Graph, tolerance: Float = 1e-5, file: StaticString = #filePath, line: UInt = #line) throws {
        var numbers = SeededNumbers(11)
        let inputs = try graph.inputs.map { try numbers.tensor(graph[$0].type.shape) }
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        for entry in try DeviceFixture.entries.get() {
            let plan = try ExecutionPlan(graph, backend: entry.backend)
            XCTAssertEqual(plan.fallbacks, [], file: file, line: line)
            let state = try plan.makeState()
            // Twice in one state: nothing may be left over from the first run.
            for _ in 0..<2 {
                let found = try compute(plan, state, inputs: inputs)
                for (a, b) in zip(found, expected) {
                    assertEqual(a, b, tolerance: tolerance, "\(graph.name) on \(entry.name)", file: file, line: line)
                }
            }
        }
    }

    func testMobileNetV1() throws { try check(NetworkCases.mobileNetV1(size: 64, alpha: 0.25, classes: 10)) }
    func testMobileNetV1Batch() throws { try check(NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10, batch: 3)) }
    func testMobileNetV2() throws { try check(NetworkCases.mobileNetV2(size: 32, classes: 10, depth: 4)) }
    func testMiniXception() throws { try check(NetworkCases.miniXception(size: 40)) }
    func testSqueezeNet() throws { try check(NetworkCases.squeezeNet(size: 35, classes: 10)) }
    func testResNet() throws { try check(NetworkCases.resNet50(size: 32, classes: 10, stages: 2)) }
}
