import Foundation
import NTFormats
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Networks written by coremltools, run on the reference backend, against values computed in float64 by NumPy and PyTorch.
final class LayerTests: XCTestCase {
    private struct Case: Decodable {
        struct Entry: Decodable {
            let name: String
            let shape: [Int]

            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                name = try list.decode(String.self)
                shape = try list.decode([Int].self)
            }
        }

        let inputs: [Entry]
        let outputs: [Entry]
    }

    private static let folder = Fixtures.folder.appendingPathComponent("NTFormats")

    private func check(_ name: String, batch: Int = 1) throws {
        func file(_ ext: String) -> URL { Self.folder.appendingPathComponent("\(name).\(ext)") }
        let test = try JSONDecoder().decode(Case.self, from: Data(contentsOf: file("json")))
        let values = try NPY.read(contentsOf: file("npy")).floatArray()
        let graph = try ModelAsset.load(contentsOf: file("mlmodel")).makeGraph(batch: batch)
        var position = 0
        func next(_ count: Int) -> [Float] {
            defer { position += count }
            return Array(values[position..<(position + count)])
        }
        XCTAssertEqual(graph.inputs.map { graph[$0].name }, test.inputs.map(\.name), name)
        XCTAssertEqual(graph.outputs.map { graph[$0].name }, test.outputs.map(\.name), name)
        var inputs: [Tensor] = []
        for (id, entry) in zip(graph.inputs, test.inputs) {
            let one = next(Shape(entry.shape).count)
            let dims = batch == 1 ? entry.shape : [batch] + entry.shape
            XCTAssertEqual(graph[id].type.shape.dims, dims, "\(name): input \(entry.name)")
            inputs.append(try Tensor(Shape(dims), (0..<batch).flatMap { _ in one }))
        }
        let outputs = try ReferenceBackend.evaluate(graph, inputs: inputs)
        for (tensor, entry) in zip(outputs, test.outputs) {
            let one = next(Shape(entry.shape).count)
            let dims = batch == 1 ? entry.shape : [batch] + entry.shape
            XCTAssertEqual(tensor.shape.dims, dims, "\(name): output \(entry.name)")
            let problems = Tolerance(relative: 2e-6, absolute: 2e-6).mismatches(
                tensor.floatArray(), expected: (0..<batch).flatMap { _ in one }, what: "\(name): \(entry.name)")
            XCTAssertEqual(problems, [])
        }
        XCTAssertEqual(position, values.count, name)
    }

    func testActivations() throws { try check("activations") }
    func testConvolutions() throws { try check("convolutions") }
    func testPools() throws { try check("pools") }

    func testElementwise() throws { try check("elementwise") }
    func testNormalizations() throws { try check("normalizations") }
    func testSpatial() throws { try check("spatial") }
    func testRearranging() throws { try check("rearranging") }

    func testElementwiseOfAnyRank() throws { try check("nd_elementwise") }
    func testShapesOfAnyRank() throws { try check("nd_shapes") }
    func testSelectionOfAnyRank() throws { try check("nd_selection") }
    func testMathematicsOfAnyRank() throws { try check("nd_mathematics") }

    func testRecurrent() throws { try check("recurrent") }
    func testWeightEncodings() throws { try check("encodings") }

    func testBatchesOfImageLayers() throws {
        for name in ["activations", "convolutions", "pools", "elementwise", "normalizations", "spatial"] { try check(name, batch: 3) }
    }
}
