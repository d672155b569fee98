import Foundation
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class GraphRecordTests: XCTestCase {
    private func encoded(_ graph: Graph) throws -> (bytes: [UInt8], constants: [Tensor]) {
        var constants: [Tensor] = []
        var writer = RecordWriter()
        try GraphRecord.write(graph, to: &writer) { tensor in
            constants.append(tensor)
            return constants.count - 1
        }
        return (writer.bytes, constants)
    }

    private func decoded(_ bytes: [UInt8], _ constants: [Tensor]) throws -> Graph {
        try bytes.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes)
            let graph = try GraphRecord.read(&reader) { number, type in
                guard constants.indices.contains(number) else { throw GraphError("no constant \(number)") }
                return try Tensor(type, buffer: constants[number].buffer, byteOffset: constants[number].byteOffset)
            }
            XCTAssertTrue(reader.isAtEnd)
            return graph
        }
    }

    /// Every operator of the catalogue comes back with its attributes: the same dump, the same bits.
    func testEveryOperatorComesBack() throws {
        var kinds = Set<String>()
        for test in OperatorCases.all {
            let (graph, inputs) = try test.make()
            let (bytes, constants) = try encoded(graph)
            let back = try decoded(bytes, constants)
            XCTAssertEqual(back.dump(), graph.dump(), test.name)
            for (a, b) in zip(graph.nodes, back.nodes) { XCTAssertEqual("\(a.op)", "\(b.op)", test.name) }
            let (found, expected) = (
                try ReferenceBackend.evaluate(back, inputs: inputs), try ReferenceBackend.evaluate(graph, inputs: inputs)
            )
            for (a, b) in zip(found, expected) { XCTAssertTrue(a.bytes.elementsEqual(b.bytes), test.name) }
            kinds.formUnion(graph.nodes.map(\.op.kind))
        }
        for seed in 0..<40 {
            let (graph, _) = try RandomGraph.make(seed: seed)
            let optimized = try Passes.optimize(graph)
            let (bytes, constants) = try encoded(optimized)
            XCTAssertEqual(try decoded(bytes, constants).dump(), optimized.dump(), "random graph \(seed)")
        }
        XCTAssertEqual(Set(OperatorCatalogue.kinds).subtracting(kinds), [])
    }

    /// No attribute of an operator is forgotten: as many are coded as it has.
    func testEveryAttributeIsCoded() throws {
        for type in OperatorCatalogue.all {
            var (op, coder) = (type.blank as any NTGraph.Operator, AttributeCoder())
            try op.codeAttributes(&coder)
            XCTAssertEqual(coder.count, Mirror(reflecting: op).children.count, op.kind)
            XCTAssertEqual(op.kind, String(describing: type))
        }
        for number in 0..<UnaryFunction.count {
            let parts = try XCTUnwrap(UnaryFunction(number: number, 2, 3)).parts
            XCTAssertEqual(parts.number, number)
        }
        XCTAssertNil(UnaryFunction(number: UnaryFunction.count, 2, 3))
        XCTAssertNil(UnaryFunction(number: -1, 2, 3))
    }

    /// Floats come back with all their bits.
    func testFloatsComeBack() throws {
        let values: [Float] = [0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, -1 / 3, .pi, 1e-30]
        for a in values {
            for b in values {
                var builder = GraphBuilder(name: "floats")
                let x = builder.input("x", .float32([2]))
                try builder.output(try builder.add(Unary(.clip(a, b)), x, layer: "clip"), name: "y")
                let (bytes, constants) = try encoded(builder.graph)
                guard let op = try decoded(bytes, constants).nodes.first?.op as? Unary, case .clip(let lo, let hi) = op.function else {
                    return XCTFail("no clip")
                }
                XCTAssertEqual([lo.bitPattern, hi.bitPattern], [a.bitPattern, b.bitPattern])
            }
        }
    }

    private func sample() throws -> (Graph, [UInt8], [Tensor]) {
        var random = TestRandom(name: "record")
        var builder = GraphBuilder(name: "sample")
        let x = builder.input("x", .float32([1, 3, 8, 8]))
        let w = try builder.constant(try random.tensor([4, 3, 3, 3], .unit))
        let padding = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
        let y = try builder.add(Convolution(strides: Size2D(2, 2), padding: padding, activation: .clip(0, 6)), x, w, layer: "conv")
        let pooled = try builder.add(Pool(.maximum, kernel: Size2D(2, 2), strides: Size2D(2, 2)), y, layer: "pool")
        let flat = try builder.add(Reshape([1, 16]), pooled, layer: "flat")
        let parts = try builder.apply(Split(axis: 1, sizes: [4, 12]), [flat], layer: "split")
        let sliced = try builder.add(Slice(begins: [0, 1], extents: [1, 4], strides: [1, 2]), parts[1], layer: "slice")
        try builder.output(try builder.add(Binary(.add), parts[0], sliced, layer: "sum"), name: "y")
        let (bytes, constants) = try encoded(builder.graph)
        return (builder.graph, bytes, constants)
    }

    private func refuses(_ what: String, _ change: (inout Graph) throws -> Void) throws {
        var (graph, _, constants) = try sample()
        try change(&graph)
        var writer = RecordWriter()
        try GraphRecord.write(graph, to: &writer) { tensor in constants.firstIndex { $0.buffer === tensor.buffer } ?? 99 }
        XCTAssertThrowsError(try decoded(writer.bytes, constants), what)
    }

    /// Records that contradict themselves are refused.
    func testContradictionsAreRefused() throws {
        try refuses("groups that do not divide") { $0.nodes[0].op = Convolution(strides: Size2D(2, 2), groups: 2) }
        try refuses("a stride of 0") { $0.nodes[0].op = Convolution(strides: Size2D(0, 2)) }
        try refuses("other types than an operator gives") { $0.nodes[0].op = Convolution() }
        try refuses("sizes that do not add up") { $0.nodes[3].op = Split(axis: 1, sizes: [4, 13]) }
        try refuses("a slice outside its input") { $0.nodes[4].op = Slice(begins: [0, 100], extents: [1, 4], strides: [1, 2]) }
        try refuses("a shape with a negative extent") { $0.values[2].type.shape = [1, 4, -4, -4] }
        try refuses("a shape beyond all memory") { $0.values[0].type.shape = [1, 3, 8, .max] }
        try refuses("another shape of a constant") { $0.values[1].type.shape = [4, 3, 3, 4] }
        try refuses("a constant that is missing") { $0.values[1].constant = try Tensor([4, 3, 3, 3], [Float](repeating: 0, count: 108)) }
        try refuses("an output that is the input") { $0.outputs = [$0.inputs[0]] }
        try refuses("an output twice") { $0.outputs += $0.outputs }
        try refuses("an output that is none") { $0.outputs = [ValueID(99)] }
        try refuses("a negative output") { $0.outputs = [ValueID(-1)] }
        try refuses("an input that a node computes") { $0.inputs.append($0.nodes[0].outputs[0]) }
        try refuses("a node that reads what comes later") { $0.nodes.swapAt(0, 1) }
        try refuses("a node that reads what nobody computes") { $0.nodes[0].inputs[0] = ValueID(7_000_000_000) }
        try refuses("too few inputs") { $0.nodes[0].inputs.removeLast() }
        let (_, bytes, constants) = try sample()
        XCTAssertNoThrow(try decoded(bytes, constants))
        for count in 0..<bytes.count { XCTAssertThrowsError(try decoded(Array(bytes[..<count]), constants), "\(count) bytes") }
    }

    /// Words and bytes changed at random: the record is refused or is a graph that the reference can compute; nothing traps.
    func testMutationsAreRefusedOrSound() throws {
        let (_, whole, constants) = try sample()
        var random = TestRandom(name: "record mutations")
        var (refused, taken) = (0, 0)
        for round in 0..<6000 {
            var bytes = whole
            let place = random.integer(0...(bytes.count - 9))
            if round % 3 == 0 {
                bytes[place] = UInt8(random.integer(0...255))
            } else {
                let word = random.choice([0, 1, 2, 3, 5, -1, -7, 65536, 65537, 1 << 31, 1 << 32, .max, .min])
                withUnsafeBytes(of: Int64(word).littleEndian) { bytes.replaceSubrange(place..<(place + 8), with: $0) }
            }
            guard let graph = try? tolerantlyDecoded(bytes, constants) else {
                refused += 1
                continue
            }
            taken += 1
            guard graph.values.allSatisfy({ $0.type.shape.count < 1 << 16 }) else { continue }
            let inputs = try graph.inputs.map { try random.tensor(graph[$0].type.shape, .unit) }
            _ = try? ReferenceBackend.evaluate(try Passes.optimize(graph), inputs: inputs)
        }
        XCTAssertGreaterThan(refused, 1000)
        XCTAssertGreaterThan(taken, 100)
    }

    /// As `decoded`, whatever follows the graph.
    private func tolerantlyDecoded(_ bytes: [UInt8], _ constants: [Tensor]) throws -> Graph {
        try bytes.withUnsafeBytes { bytes in
            var reader = RecordReader(bytes)
            return try GraphRecord.read(&reader) { number, type in
                guard constants.indices.contains(number) else { throw GraphError("no constant \(number)") }
                return try Tensor(type, buffer: constants[number].buffer, byteOffset: constants[number].byteOffset)
            }
        }
    }
}
