import Foundation
import NTFormats
import TestSupport
import XCTest

final class ModelAssetTests: XCTestCase {
    private func error(_ body: () throws -> Void) -> FormatError? {
        do {
            try body()
            return nil
        } catch { return error as? FormatError }
    }

    private func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        return folder
    }

    func testDescribesMobileNet() throws {
        let asset = try ModelAsset.load(contentsOf: Fixtures.models.appendingPathComponent("MobileNet.mlmodel"))
        XCTAssertEqual(asset.type, .neuralNetworkClassifier)
        XCTAssertEqual(asset.description.inputs.map(\.name), ["image"])
        guard case .image(let image) = asset.description.inputs[0].type.kind else { return XCTFail("no image") }
        XCTAssertEqual(image.size, .init(width: 224, height: 224))
        XCTAssertEqual(image.colorSpace, .rgb)
        XCTAssertEqual(Set(asset.description.outputs.map(\.name)), ["classLabelProbs", "classLabel"])
        XCTAssertEqual(asset.description.predictedFeatureName, "classLabel")
        XCTAssertEqual(asset.description.predictedProbabilitiesName, "classLabelProbs")
        XCTAssertEqual(asset.classLabels?.count, 1000)
        let layers = try asset.layerSummaries()
        XCTAssertTrue(layers.contains { $0.kind == "convolution" && $0.weightByteCount > 0 && !$0.weightEncodings.isEmpty })
    }

    func testFilesThatAreNoModels() throws {
        let folder = try temporaryFolder()
        let file = folder.appendingPathComponent("a.mlmodel")
        XCTAssertEqual(error { _ = try ModelAsset.load(contentsOf: file) }?.kind, .missing)
        try Data().write(to: file)
        XCTAssertEqual(error { _ = try ModelAsset.load(contentsOf: file) }?.kind, .empty)
        try Data("hello, this is no model at all".utf8).write(to: file)
        let found = try XCTUnwrap(error { _ = try ModelAsset.load(contentsOf: file) })
        XCTAssertEqual(found.kind, .malformed)
        XCTAssertEqual(found.path, file.path)
        XCTAssertTrue(found.description.contains(file.path))
        XCTAssertEqual(error { _ = try ModelAsset.load(contentsOf: folder) }?.kind, .badPackage)
    }

    func testPackages() throws {
        let folder = try temporaryFolder().appendingPathComponent("m.mlpackage")
        let data = folder.appendingPathComponent("Data/com.apple.CoreML")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        let manifest = folder.appendingPathComponent("Manifest.json")
        func write(_ text: String) throws { try Data(text.utf8).write(to: manifest) }
        func load() throws -> ModelAsset { try ModelAsset.load(contentsOf: folder) }
        try write("[")
        XCTAssertEqual(error { _ = try load() }?.kind, .badPackage)
        try write("{\"rootModelIdentifier\": \"A\", \"itemInfoEntries\": {}}")
        XCTAssertEqual(error { _ = try load() }?.kind, .badPackage)
        try write("{\"rootModelIdentifier\": \"A\", \"itemInfoEntries\": {\"A\": {\"path\": \"../../x\"}}}")
        XCTAssertTrue(error { _ = try load() }?.reason.contains("leads out") == true)
        try write(
            "{\"rootModelIdentifier\": \"A\", \"itemInfoEntries\": {\"A\": {\"path\": \"com.apple.CoreML/odd name.mlmodel\"}}}")
        XCTAssertTrue(error { _ = try load() }?.reason.contains("missing") == true)
        try FileManager.default.copyItem(
            at: Fixtures.models.appendingPathComponent("Emotion.mlmodel"), to: data.appendingPathComponent("odd name.mlmodel"))
        let asset = try load()
        XCTAssertEqual(asset.classLabels?.count, 7)
        XCTAssertEqual(asset.path, folder.path)
        XCTAssertEqual(try asset.makeGraph().outputs.count, 1)
    }
}
