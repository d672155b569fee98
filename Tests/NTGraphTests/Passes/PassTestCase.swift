import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Runs passes on small graphs and checks what must hold for each: a sound graph, the same outputs by name, type and value.
class PassTestCase: XCTestCase {
    /// Applies `passes` to the graph that `body` builds and returns the result after checking it. `tolerance` is for values.
    @discardableResult
    func apply(
        _ passes: (any Pass)..., tolerance: Tolerance = .exact, file: StaticString = #filePath, line: UInt = #line,
        body: (inout CaseBuilder) throws -> Void
    ) throws -> Graph {
        var builder = CaseBuilder(name: "pass")
        try body(&builder)
        var graph = builder.graph
        for pass in passes { try pass.run(&graph) }
        try assertSame(builder.graph, graph, inputs: builder.inputs, tolerance: tolerance, file: file, line: line)
        return graph
    }

    /// The same with the whole pipeline.
    @discardableResult
    func optimize(
        tolerance: Tolerance = .exact, file: StaticString = #filePath, line: UInt = #line, body: (inout CaseBuilder) throws -> Void
    ) throws -> Graph {
        var builder = CaseBuilder(name: "optimize")
        try body(&builder)
        let graph = try Passes.optimize(builder.graph)
        try assertSame(builder.graph, graph, inputs: builder.inputs, tolerance: tolerance, file: file, line: line)
        return graph
    }

    func assertSame(
        _ before: Graph, _ after: Graph, inputs: [Tensor], tolerance: Tolerance, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        XCTAssertEqual(GraphCheck.problems(after), [], after.dump(), file: file, line: line)
        XCTAssertEqual(before.inputs.map { before[$0].name }, after.inputs.map { after[$0].name }, file: file, line: line)
        XCTAssertEqual(before.types(before.inputs), after.types(after.inputs), file: file, line: line)
        XCTAssertEqual(before.outputs.map { before[$0].name }, after.outputs.map { after[$0].name }, file: file, line: line)
        XCTAssertEqual(before.types(before.outputs), after.types(after.outputs), file: file, line: line)
        let expected = try ReferenceBackend.evaluate(before, inputs: inputs)
        let found = try ReferenceBackend.evaluate(after, inputs: inputs)
        for (index, pair) in zip(found, expected).enumerated() {
            let problems = tolerance.mismatches(pair.0.floatArray(), expected: pair.1.floatArray(), what: "output \(index)")
            XCTAssertEqual(problems, [], "\n\(before.dump())\n\(after.dump())", file: file, line: line)
        }
    }
}

extension Graph {
    /// The kinds of the nodes in order.
    var kinds: [String] { nodes.map(\.op.kind) }

    /// The operators of one type, in order.
    func operators<T: NTGraph.Operator>(_: T.Type) -> [T] { nodes.compactMap { $0.op as? T } }
}
