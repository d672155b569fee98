import Foundation
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class ExecutionPlanTests: XCTestCase {
    private struct CompileFailure: Error {}

    /// Runs a plan once on fresh outputs.
    private static func run(_ plan: ExecutionPlan, _ state: ExecutionState, _ inputs: [Tensor], profile: RunProfile? = nil) throws -> [Tensor] {
        let buffers = try plan.graph.outputs.map { try TensorBuffer(byteCount: plan.graph[$0].type.byteCount) }
        let targets = zip(plan.graph.outputs, buffers).map {
            UnsafeMutableRawBufferPointer(start: $1.base, count: plan.graph[$0].type.byteCount)
        }
        try plan.run(state, inputs: inputs.map(\.bytes), outputs: targets, profile: profile)
        return try zip(plan.graph.outputs, buffers).map { try Tensor(plan.graph[$0].type, buffer: $1) }
    }

    func testMixedPartitionsComputeTheGraph() throws {
        var mixed = 0
        for seed in 0..<150 {
            let (graph, inputs) = try RandomGraph.make(seed: seed)
            let backend = MockBackend { node in (node.name.utf8.reduce(0) { $0 + Int($1) } + seed) % 4 == 0 }
            XCTAssertEqual(try BackendCheck.run(graph, inputs: inputs, on: backend, tolerance: .exact), [], "seed \(seed)")
            if backend.compiled.count > 1 { mixed += 1 }
        }
        XCTAssertGreaterThan(mixed, 50)
    }

    func testEveryOperatorCaseWithEverySecondNodeRefused() throws {
        for test in OperatorCases.blocks {
            for remainder in 0...1 {
                let backend = MockBackend { node in Int(node.name.filter(\.isNumber)).map { $0 % 2 == remainder } ?? false }
                XCTAssertEqual(BackendCheck.run(test, on: backend, tolerance: .exact), [])
            }
        }
    }

    func testStepsNameTheirBackend() throws {
        let (graph, inputs) = try mixedGraph()
        let plan = try ExecutionPlan(graph, backend: MockBackend { $0.op is Softmax })
        XCTAssertEqual(plan.steps.map(\.backend), ["mock", "reference", "mock"])
        XCTAssertEqual(plan.steps.map(\.step.operators), [["Unary"], ["Softmax"], ["Binary"]])
        XCTAssertEqual(plan.fallbacks.map(\.operatorKind), ["Softmax"])
        let profile = RunProfile(stepCount: plan.steps.count)
        let state = try plan.makeState()
        for _ in 0..<3 { _ = try Self.run(plan, state, inputs, profile: profile) }
        XCTAssertEqual(profile.runCount, 3)
        XCTAssertEqual(profile.seconds.count, 3)
        XCTAssertTrue(profile.seconds.allSatisfy { $0 > 0 }, "\(profile.seconds)")
    }

    private func mixedGraph() throws -> (Graph, [Tensor]) {
        var b = CaseBuilder(name: "mixed")
        let x = try b.add(Unary(.relu), b.input([4, 5], .unit))
        try b.output(try b.add(Binary(.add), b.add(Softmax(axis: 1), x), x))
        return (b.graph, b.inputs)
    }

    func testWrongBuffersAreRefused() throws {
        let (graph, inputs) = try mixedGraph()
        let plan = try ExecutionPlan(graph, backend: MockBackend())
        let state = try plan.makeState()
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 80, alignment: 64)
        defer { output.deallocate() }
        let input = inputs[0].bytes
        defer { withExtendedLifetime(inputs) {} }
        XCTAssertNoThrow(try plan.run(state, inputs: [input], outputs: [output]))
        func assertRefused(_ inputs: [UnsafeRawBufferPointer], _ outputs: [UnsafeMutableRawBufferPointer], _ words: String, line: UInt = #line) {
            XCTAssertThrowsError(try plan.run(state, inputs: inputs, outputs: outputs), line: line) {
                XCTAssertTrue("\($0)".contains(words), "\($0)", line: line)
            }
        }
        assertRefused([], [output], "expected 1 inputs, found 0")
        assertRefused([input, input], [output], "expected 1 inputs, found 2")
        assertRefused([input], [], "expected 1 outputs, found 0")
        assertRefused([UnsafeRawBufferPointer(rebasing: input.dropLast(4))], [output], "input 'x0': expected 80 bytes")
        assertRefused([input], [UnsafeMutableRawBufferPointer(rebasing: output.dropLast())], "output 'y0': expected 80 bytes")
    }

    func testACompileErrorIsThrown() throws {
        let (graph, _) = try mixedGraph()
        XCTAssertThrowsError(try ExecutionPlan(graph, backend: MockBackend(compileFailure: CompileFailure()))) {
            XCTAssertTrue($0 is CompileFailure)
        }
    }

    /// An index out of range is found while running; it names the layer and leaves the state usable.
    func testARunTimeErrorNamesItsLayer() throws {
        var b = CaseBuilder(name: "gather")
        let (x, index) = (try b.input([3], .counting), try b.input([1], .values([1])))
        try b.output(try b.add(Gather(axis: 0), x, index))
        let plan = try ExecutionPlan(b.graph, backend: MockBackend())
        let pool = StatePool(plan)
        let bad = [b.inputs[0], try Tensor([1], [7])]
        for _ in 0..<3 {
            XCTAssertThrowsError(try pool.withState { try Self.run(plan, $0, bad) }) {
                XCTAssertTrue("\($0)".contains("Gather1"), "\($0)")
                XCTAssertTrue("\($0)".contains("7"), "\($0)")
            }
            XCTAssertEqual(try pool.withState { try Self.run(plan, $0, b.inputs)[0].floatArray() }, [1])
        }
    }

    func testOutputsThatAreInputsOrConstants() throws {
        var builder = GraphBuilder(name: "copies")
        let x = builder.input("x", .float32([3]))
        try builder.output(x, name: "copy")
        try builder.output(try builder.constant(Tensor([2], [4, 5])), name: "constant")
        let y = try builder.add(Unary(.negate), x, layer: "negate")
        try builder.output(y, name: "first")
        try builder.output(y, name: "second")
        let input = try Tensor([3], [1, -2, 3])
        for backend in [MockBackend(), MockBackend { $0.name == "copy" }] {
            let plan = try ExecutionPlan(builder.graph, backend: backend)
            let results = try Self.run(plan, plan.makeState(), [input]).map { $0.floatArray() }
            XCTAssertEqual(results, [[1, -2, 3], [4, 5], [-1, 2, -3], [-1, 2, -3]])
        }
    }

    /// Sixteen threads share a plan through a pool: results are each request's own, and no state is used twice at once.
    func testConcurrentRequests() throws {
        let (graph, _) = try mixedGraph()
        let backend = MockBackend { $0.op is Softmax }
        let plan = try ExecutionPlan(graph, backend: backend)
        let pool = StatePool(plan)
        let failures = FailureList()
        DispatchQueue.concurrentPerform(iterations: 16) { thread in
            for round in 0..<50 {
                do {
                    var random = TestRandom(seed: UInt64(thread * 1000 + round))
                    let input = try random.tensor([4, 5], .unit)
                    let expected = try ReferenceBackend.evaluate(graph, inputs: [input])[0].floatArray()
                    let found = try pool.withState { try Self.run(plan, $0, [input])[0].floatArray() }
                    if found != expected { failures.add("thread \(thread) round \(round) differs") }
                } catch {
                    failures.add("\(error)")
                }
            }
        }
        XCTAssertEqual(failures.all, [])
        XCTAssertEqual(backend.overlapCount, 0)
        XCTAssertLessThanOrEqual(backend.stateCount, 32, "two partitions, at most one state per thread each")
    }

    func testAPoolReusesItsStates() throws {
        let (graph, inputs) = try mixedGraph()
        let backend = MockBackend()
        let plan = try ExecutionPlan(graph, backend: backend)
        let pool = StatePool(plan)
        for _ in 0..<10 { _ = try pool.withState { try Self.run(plan, $0, inputs) } }
        XCTAssertEqual(backend.stateCount, 1)
        _ = try pool.withState { outer in
            _ = try pool.withState { inner in XCTAssertFalse(outer === inner) }
        }
        XCTAssertEqual(backend.stateCount, 2)
    }
}

/// Messages from several threads.
private final class FailureList: @unchecked Sendable {
    private let lock = NSLock()
    private var messages: [String] = []

    func add(_ message: String) { lock.withLock { messages.append(message) } }
    var all: [String] { lock.withLock { messages } }
}
