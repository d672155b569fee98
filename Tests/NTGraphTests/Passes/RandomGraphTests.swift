import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class RandomGraphTests: PassTestCase {
    private static let tolerance = Tolerance(relative: 2e-5, absolute: 5e-5)

    func testGraphsAreSound() throws {
        for seed in 0..<100 { XCTAssertEqual(GraphCheck.problems(try RandomGraph.make(seed: seed).graph), []) }
    }

    /// Each pass alone, on the graph as it is and after the passes before it.
    func testEachPassKeepsValues() throws {
        for seed in 0..<100 {
            let (graph, inputs) = try RandomGraph.make(seed: seed)
            var current = graph
            for pass in Passes.simplifications + Passes.fusions {
                var alone = graph
                if try pass.run(&alone) { try assertSame(graph, alone, inputs: inputs, tolerance: Self.tolerance) }
                let before = current
                if try pass.run(&current) { try assertSame(before, current, inputs: inputs, tolerance: Self.tolerance) }
            }
        }
    }

    func testOptimizingKeepsValues() throws {
        for seed in 100..<400 {
            let (graph, inputs) = try RandomGraph.make(seed: seed, nodeCount: 40)
            let optimized = try Passes.optimize(graph)
            try assertSame(graph, optimized, inputs: inputs, tolerance: Self.tolerance)
        }
    }

    /// A second run of the simplifications finds nothing, so the rounds ended by themselves.
    func testSimplificationsReachAFixedPoint() throws {
        for seed in 0..<100 {
            var graph = try RandomGraph.make(seed: seed).graph
            var rounds = 0
            while try Passes.simplifications.reduce(false, { try $1.run(&graph) || $0 }), rounds < 20 { rounds += 1 }
            XCTAssertLessThan(rounds, 10, "seed \(seed)")
        }
    }

    /// The check that backends' tests use, on the reference itself.
    func testOptimizedGraphsRunOnABackend() {
        XCTAssertEqual(BackendCheck.runRandomGraphs(0..<100, on: ReferenceBackend()), [])
    }

    func testEveryOperatorCaseKeepsValues() throws {
        for test in OperatorCases.all {
            let (graph, inputs) = try test.make()
            try assertSame(graph, try Passes.optimize(graph), inputs: inputs, tolerance: Self.tolerance)
        }
    }
}
