import Foundation
import NTFormats
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Every kind of layer in a network of its own, against values that NumPy and PyTorch computed in float64 from the format's
/// documented definition. The cases were written without sight of the importer.
final class IndependentLayerTests: XCTestCase {
    private static let caseCount = 377

    private struct MissingInput: Error {
        let name: String
    }

    private func check(_ label: String, _ change: (Graph) throws -> Graph) throws {
        let cases = try IndependentLayerCase.all()
        XCTAssertEqual(cases.count, Self.caseCount)
        for test in cases {
            do {
                for problem in try problems(of: test, change) { XCTFail("\(test.name) (\(label)): \(problem)") }
            } catch {
                XCTFail("\(test.name) (\(label)): \(error)")
            }
        }
    }

    private func problems(of test: IndependentLayerCase, _ change: (Graph) throws -> Graph) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("layer-\(UUID().uuidString).mlmodel")
        try Data(test.model).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let graph = try change(
            ModelAsset.load(contentsOf: file).makeGraph(inputShapes: test.inputShapes, batch: test.batch))
        let inputs = try graph.inputs.map { id in
            guard let value = test.inputs[graph[id].name] else { throw MissingInput(name: graph[id].name) }
            return try value.reshaped(graph[id].type.shape)
        }
        let results = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let found = Dictionary(uniqueKeysWithValues: zip(graph.outputs.map { graph[$0].name }, results))
        XCTAssertEqual(Set(found.keys), Set(test.outputs.keys), test.name)
        var problems: [String] = []
        for (name, expected) in test.outputs.sorted(by: { $0.key < $1.key }) {
            guard let result = found[name] else { continue }
            if test.checksShape, result.shape != expected.shape {
                problems.append("output '\(name)' has shape \(result.shape), expected \(expected.shape)")
            }
            let largest = expected.floatArray().map { abs(Double($0)) }.max() ?? 0
            let tolerance = Tolerance(relative: test.tolerance, absolute: test.tolerance * 0.01 * max(largest, 1e-3))
            problems += tolerance.mismatches(
                result.floatArray(), expected: expected.floatArray(), what: "output '\(name)'")
        }
        return problems
    }

    func testLayersGiveWhatTheFormatSays() throws { try check("as imported") { $0 } }

    func testOptimizedLayersGiveWhatTheFormatSays() throws { try check("optimized", Passes.optimize) }
}
