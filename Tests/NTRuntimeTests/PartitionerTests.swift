import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class PartitionerTests: XCTestCase {
    private func graph(_ body: (inout CaseBuilder) throws -> Void) throws -> Graph {
        var builder = CaseBuilder(name: "partitions")
        try body(&builder)
        return builder.graph
    }

    private func kinds(_ partitions: [Partition]) -> [[String]] { partitions.map { $0.graph.nodes.map(\.op.kind) } }

    func testAWholeGraphIsOnePartition() throws {
        let graph = try graph { b in
            let x = try b.input([2, 3])
            try b.output(try b.add(Binary(.add), b.add(Unary(.relu), x), b.constant([3])))
        }
        let (partitions, fallbacks) = try Partitioner.partition(graph, for: MockBackend())
        XCTAssertEqual(kinds(partitions), [["Unary", "Binary"]])
        XCTAssertEqual(partitions[0].inputs, graph.inputs)
        XCTAssertEqual(partitions[0].outputs, graph.outputs)
        XCTAssertFalse(partitions[0].isFallback)
        XCTAssertEqual(fallbacks, [])
        XCTAssertEqual(partitions[0].graph.values.filter { $0.constant != nil }.count, 1, "the weight comes along")
    }

    func testARefusedNodeCutsAGraph() throws {
        let graph = try graph { b in
            let x = try b.add(Unary(.relu), b.input([2, 3]))
            let y = try b.add(Softmax(axis: 1), x)
            try b.output(try b.add(Binary(.add), x, b.add(Unary(.exp2), y)))
        }
        let (partitions, fallbacks) = try Partitioner.partition(graph, for: MockBackend { $0.op is Softmax })
        XCTAssertEqual(kinds(partitions), [["Unary"], ["Softmax"], ["Unary", "Binary"]])
        XCTAssertEqual(partitions.map(\.isFallback), [false, true, false])
        XCTAssertEqual(partitions[2].inputs.count, 2, "what the first and the second computed")
        XCTAssertEqual(fallbacks.map(\.layer), [graph.nodes[1].name])
        XCTAssertEqual(fallbacks.map(\.operatorKind), ["Softmax"])
        XCTAssertEqual(fallbacks.map(\.reason), ["the mock refuses"])
    }

    /// Refused nodes of two branches run together.
    func testBranchesShareAFallback() throws {
        let graph = try graph { b in
            let x = try b.input([2, 3])
            var ends: [ValueID] = []
            for _ in 0..<3 { ends.append(try b.add(Unary(.exp2), b.add(Softmax(axis: 1), b.add(Unary(.relu), x)))) }
            try b.output(try b.apply(Concat(axis: 0), ends)[0])
        }
        let (partitions, _) = try Partitioner.partition(graph, for: MockBackend { $0.op is Softmax })
        XCTAssertEqual(kinds(partitions).map(\.count), [3, 3, 4])
    }

    func testEverythingRefusedIsOneFallback() throws {
        let graph = try graph { b in try b.output(try b.add(Unary(.relu), b.add(Unary(.exp2), b.input([3])))) }
        let (partitions, fallbacks) = try Partitioner.partition(graph, for: MockBackend { _ in true })
        XCTAssertEqual(partitions.map(\.isFallback), [true])
        XCTAssertEqual(fallbacks.count, 2)
    }

    func testACycleIsAnError() throws {
        var graph = try graph { b in try b.output(try b.add(Unary(.relu), b.add(Unary(.exp2), b.input([3])))) }
        graph.nodes[0].inputs = graph.nodes[1].outputs
        XCTAssertThrowsError(try Partitioner.partition(graph, for: MockBackend())) { XCTAssertTrue("\($0)".contains("cycle")) }
    }

    func testPartitionsAreSoundAndCoverTheGraph() throws {
        for seed in 0..<100 {
            let graph = try RandomGraph.make(seed: seed).graph
            let backend = MockBackend { node in (node.name.utf8.reduce(0) { $0 + Int($1) } + seed) % 3 == 0 }
            let (partitions, fallbacks) = try Partitioner.partition(graph, for: backend)
            XCTAssertEqual(partitions.map(\.graph.nodes.count).reduce(0, +), graph.nodes.count)
            XCTAssertEqual(partitions.filter(\.isFallback).map(\.graph.nodes.count).reduce(0, +), fallbacks.count)
            for (a, b) in zip(partitions, partitions.dropFirst()) { XCTAssertNotEqual(a.isFallback, b.isFallback) }
            var known = Set(graph.inputs)
            for partition in partitions {
                XCTAssertEqual(GraphCheck.problems(partition.graph), [])
                XCTAssertTrue(known.isSuperset(of: partition.inputs), "an input is not there yet")
                XCTAssertEqual(partition.graph.types(partition.graph.inputs), graph.types(partition.inputs))
                XCTAssertEqual(partition.graph.types(partition.graph.outputs), graph.types(partition.outputs))
                known.formUnion(partition.outputs)
            }
            XCTAssertTrue(known.isSuperset(of: graph.outputs))
        }
    }

    /// Time in proportion to the nodes, also when thousands are ready at once.
    func testManyReadyNodes() throws {
        var builder = GraphBuilder(name: "wide")
        let x = builder.input("x", .float32([1]))
        for index in 0..<20_000 {
            let y = try builder.add(Unary(.relu), x, layer: "a\(index)")
            _ = try builder.add(Unary(.exp2), y, layer: "b\(index)")
        }
        let start = ContinuousClock.now
        let (partitions, _) = try Partitioner.partition(builder.graph, for: MockBackend { $0.name.hasSuffix("7") })
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(20))
        XCTAssertEqual(partitions.map(\.graph.nodes.count).reduce(0, +), 40_000)
    }
}
