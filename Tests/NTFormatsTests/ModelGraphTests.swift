import Foundation
import NTFormats
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// The committed models on the reference backend.
final class ModelGraphTests: XCTestCase {
    func testGraphsOfTheCommittedModels() throws {
        for (file, side, labels) in [("MobileNet", 224, 1000), ("Emotion", 64, 7)] {
            let asset = try ModelAsset.load(contentsOf: Fixtures.models.appendingPathComponent("\(file).mlmodel"))
            for batch in [1, 2] {
                let graph = try asset.makeGraph(batch: batch)
                let input = try XCTUnwrap(graph.inputs.first)
                XCTAssertEqual(graph.inputs.count, 1)
                XCTAssertEqual(graph[input].type.shape.dims, [batch, file == "Emotion" ? 1 : 3, side, side])
                XCTAssertEqual(graph.outputs.map { graph[$0].type.shape.dims }, [[batch, labels]])
                XCTAssertEqual(asset.probabilitiesName(in: graph), asset.description.predictedProbabilitiesName)
                // Nothing but operators that images meet: no reshapes of images, no transposes.
                XCTAssertFalse(graph.nodes.contains { $0.op is Transpose }, file)
            }
        }
    }

    func testProbabilitiesOfThePhotos() throws {
        for (file, photo) in [("MobileNet", "cat"), ("MobileNet", "coffee"), ("Emotion", "face"), ("Emotion", "cat")] {
            func golden(_ what: String) throws -> Tensor {
                try NPY.read(contentsOf: Fixtures.folder.appendingPathComponent("Models/\(file)-\(photo)-\(what).npy")).asFloat32()
            }
            let graph = try ModelAsset.load(contentsOf: Fixtures.models.appendingPathComponent("\(file).mlmodel")).makeGraph()
            let outputs = try ReferenceBackend.evaluate(graph, inputs: [try golden("input")])
            let problems = Tolerance(relative: 1e-5, absolute: 1e-7).mismatches(
                outputs[0].floatArray(), expected: try golden("probabilities").floatArray(), what: "\(file) on \(photo)")
            XCTAssertEqual(problems, [])
        }
    }

    func testFixedShapesAreKept() throws {
        let asset = try ModelAsset.load(contentsOf: Fixtures.models.appendingPathComponent("MobileNet.mlmodel"))
        XCTAssertNoThrow(try asset.makeGraph(inputShapes: ["image": [1, 3, 224, 224]]))
        for shapes in [["image": [192, 192]], ["picture": [224, 224]], ["image": [1, 224, 224]], ["image": []]] {
            XCTAssertThrowsError(try asset.makeGraph(inputShapes: shapes)) {
                XCTAssertEqual(($0 as? FormatError)?.kind, .invalidArgument)
            }
        }
        XCTAssertThrowsError(try asset.makeGraph(batch: 0))
    }
}
