import Foundation
import NTFormats
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Colours, labels, flexible shapes and faults of small networks.
final class ModelInterfaceTests: XCTestCase {
    private func load(_ name: String) throws -> ModelAsset {
        try ModelAsset.load(contentsOf: Fixtures.folder.appendingPathComponent("NTFormats/if_\(name).mlmodel"))
    }

    private func run(_ name: String, _ values: [Float], shapes: [String: [Int]] = [:], batch: Int = 1) throws -> [Tensor] {
        let graph = try load(name).makeGraph(inputShapes: shapes, batch: batch)
        return try ReferenceBackend.evaluate(graph, inputs: [try Tensor(graph[graph.inputs[0]].type.shape, values)])
    }

    private func buildError(_ name: String, shapes: [String: [Int]] = [:]) -> FormatError? {
        do {
            _ = try load(name).makeGraph(inputShapes: shapes)
            return nil
        } catch { return error as? FormatError }
    }

    func testScalerBiasesFollowTheColoursNotThePlaces() throws {
        let zeros = [Float](repeating: 2, count: 12)
        XCTAssertEqual(try run("rgb", zeros)[0].floatArray(), [2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4])
        XCTAssertEqual(try run("bgr", zeros)[0].floatArray(), [4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 2])
        XCTAssertEqual(try run("gray", [0, 2, 4, 6])[0].floatArray(), [4, 5, 6, 7])
    }

    func testMeanImages() throws {
        XCTAssertEqual(try run("mean", (0..<12).map { Float(2 * $0) })[0].floatArray(), (0..<12).map { Float($0) })
        XCTAssertTrue(buildError("mean_short")?.reason.contains("expected a mean image of 12 values, found 5") == true)
    }

    func testImageOutputs() throws {
        let values = (0..<12).map { Float($0) }
        let output = try run("image_output", values)[0]
        XCTAssertEqual(output.shape.dims, [1, 3, 2, 2])
        XCTAssertEqual(output.floatArray(), values)
    }

    func testClassifiers() throws {
        for (name, labels) in [
            ("strings", ClassLabels.strings(["a", "b", "a, c"])), ("numbers", ClassLabels.int64s([7, -1, 1 << 40])),
        ] {
            let asset = try load(name)
            XCTAssertEqual(asset.classLabels, labels)
            let graph = try asset.makeGraph(batch: 2)
            XCTAssertEqual(asset.probabilitiesName(in: graph), "probabilities")
            let output = try run(name, [1, 0, 0, 0, 0, 0.5, 0, 0], batch: 2)[0]
            XCTAssertEqual(output.shape.dims, [2, 3])
            for (row, logits) in [[0.0, 4, 8], [0.5, 2.5, 4.5]].enumerated() {
                let powers = logits.map(exp)
                for (column, power) in powers.enumerated() {
                    XCTAssertEqual(
                        Double(output.floatArray()[row * 3 + column]), power / powers.reduce(0, +), accuracy: 1e-6)
                }
            }
        }
        XCTAssertTrue(buildError("labels_differ")?.reason.contains("expected 4 probabilities") == true)
    }

    func testFlexibleImages() throws {
        let asset = try load("image_range")
        guard case .image(let type) = asset.description.inputs[0].type.kind else { return XCTFail("no image") }
        XCTAssertEqual(type.flexibility, .range(width: .init(lower: 4, upper: nil), height: .init(lower: 4, upper: 16)))
        for (shape, dims) in [([5, 40], [1, 3, 5, 40]), ([3, 16, 4], [1, 3, 16, 4]), ([1, 3, 8, 8], [1, 3, 8, 8])] {
            let graph = try asset.makeGraph(inputShapes: ["x": shape])
            XCTAssertEqual(graph[graph.inputs[0]].type.shape.dims, dims)
        }
        XCTAssertEqual(buildError("image_range", shapes: ["x": [17, 8]])?.kind, .invalidArgument)
        XCTAssertEqual(buildError("image_range", shapes: ["x": [8, 3]])?.kind, .invalidArgument)
        XCTAssertTrue(buildError("image_open")?.reason.contains("give a shape") == true)
        XCTAssertNil(buildError("image_open", shapes: ["x": [6, 5]]))
    }

    func testFlexibleArrays() throws {
        for (shape, fits) in [([1, 4], true), ([1, 6], true), ([2, 4], true), ([2, 6], false), ([4], false), ([0, 4], false)] {
            XCTAssertEqual(buildError("array_shapes", shapes: ["x": shape]) == nil, fits, "\(shape)")
        }
        XCTAssertEqual(try run("array_shapes", [-1, 0, 1, 2, 3, 4, 5, -6], shapes: ["x": [2, 4]])[0].shape.dims, [2, 4])
        XCTAssertThrowsError(try load("array_shapes").makeGraph(inputShapes: ["x": [2, 4]], batch: 3))
        let graph = try load("array_shapes").makeGraph(batch: 3)
        XCTAssertEqual(graph[graph.outputs[0]].type.shape.dims, [3, 4])
    }

    func testFaultsAreNamedAndDescribed() throws {
        for (name, layer, kind, words) in [
            ("cycle", "a", FormatError.Kind.invalidModel, ["activation", "'y'", "before layer 'b'"]),
            ("undefined", "b", .invalidModel, ["'nowhere'", "no layer computes"]),
            ("twice", "b", .invalidModel, ["'h' is defined already"]),
            ("dangling", nil, .invalidModel, ["output 'y' is computed by no layer"]),
            ("no_inputs", "b", .invalidModel, ["expected 1 inputs, found 0"]),
            ("no_type", "b", .unsupported, ["none"]),
            ("custom", "b", .unsupported, ["custom", "'MyLayer'"]),
            ("unknown", "b", .unsupported, ["unknown (field 8191)"]),
            ("weights", "b", .invalidModel, ["innerProduct", "expected 60 weights (5x12), found 59"]),
            ("random", "b", .unsupported, ["randomNormalLike"]),
        ] as [(String, String?, FormatError.Kind, [String])] {
            let layers = try load("bad_" + name).layerSummaries()
            XCTAssertEqual(layers.map(\.name), ["a", "b"], name)
            let error = try XCTUnwrap(buildError("bad_" + name), name)
            XCTAssertEqual(error.layer, layer, name)
            XCTAssertEqual(error.kind, kind, name)
            XCTAssertTrue(error.path?.hasSuffix("if_bad_\(name).mlmodel") == true, name)
            for word in words { XCTAssertTrue(error.description.contains(word), "\(name): \(error)") }
        }
    }

    func testOtherModelTypesAreDescribedAndRefused() throws {
        let pipeline = try load("pipeline")
        XCTAssertEqual(pipeline.typeName, "pipeline")
        XCTAssertEqual(pipeline.subModels.map(\.name), ["first", "second"])
        XCTAssertEqual(pipeline.subModels.map(\.asset.typeName), ["neuralNetwork", "visionFeaturePrint"])
        XCTAssertEqual(pipeline.subModels.map(\.asset.specificationVersion), [1, 3])
        XCTAssertEqual(try pipeline.subModels[0].asset.layerSummaries().map(\.kind), ["activation", "activation"])
        XCTAssertEqual(buildError("pipeline")?.kind, .unsupported)
        XCTAssertTrue(buildError("pipeline")?.reason.contains("type pipeline") == true)
        XCTAssertTrue(buildError("program")?.reason.contains("type mlProgram") == true)
        XCTAssertEqual(try load("program").description.inputs.map(\.name), ["x"])
    }
}
