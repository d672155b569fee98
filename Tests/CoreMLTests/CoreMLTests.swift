import CoreGraphics
import CoreML
import CoreVideo
import Foundation
import TestSupport
import XCTest

/// Core ML's names and behaviour.
final class CoreMLTests: XCTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel")
    private let face = Fixtures.models.appendingPathComponent("photos/face.png")

    private func model() throws -> MLModel {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuOnly
        return try MLModel(contentsOf: emotion, configuration: configuration)
    }

    func testDescription() throws {
        let description = try model().modelDescription
        XCTAssertEqual(description.predictedFeatureName, "classLabel")
        XCTAssertEqual(description.predictedProbabilitiesName, "classLabelProbs")
        XCTAssertEqual(description.classLabels as? [String], ["Angry", "Disgust", "Fear", "Happy", "Sad", "Surprise", "Neutral"])
        let input = try XCTUnwrap(description.inputDescriptionsByName["image"])
        XCTAssertEqual(input.type, .image)
        XCTAssertEqual(input.imageConstraint?.pixelsWide, 64)
        XCTAssertEqual(input.imageConstraint?.pixelFormatType, kCVPixelFormatType_OneComponent8)
        XCTAssertEqual(description.outputDescriptionsByName["classLabelProbs"]?.type, .dictionary)
        XCTAssertEqual(description.outputDescriptionsByName["classLabel"]?.type, .string)
    }

    func testPredictsFromAnImageValue() async throws {
        let model = try model()
        let constraint = try XCTUnwrap(model.modelDescription.inputDescriptionsByName["image"]?.imageConstraint)
        let value = try MLFeatureValue(imageAt: face, constraint: constraint, options: [.cropAndScale: 0])
        let provider = try MLDictionaryFeatureProvider(dictionary: ["image": value])
        let output = try await model.prediction(from: provider)
        XCTAssertEqual(output.featureNames, ["classLabel", "classLabelProbs"])
        XCTAssertEqual(output.featureValue(for: "classLabel")?.stringValue, "Happy")
        let probabilities = try XCTUnwrap(output.featureValue(for: "classLabelProbs")?.dictionaryValue as? [String: Double])
        XCTAssertEqual(try XCTUnwrap(probabilities["Happy"]), 0.994, accuracy: 0.01)
        XCTAssertEqual(probabilities.values.reduce(0, +), 1, accuracy: 1e-5)
        let later = try await model.prediction(from: provider, options: MLPredictionOptions())
        XCTAssertEqual(later.featureValue(for: "classLabel")?.stringValue, "Happy")
    }

    func testBatchesAndArrays() throws {
        let model = try model()
        let array = try MLMultiArray(shape: [1, 64, 64], dataType: .double)
        XCTAssertEqual(array.count, 4096)
        let buffer = try XCTUnwrap(
            try MLFeatureValue(imageAt: face, pixelsWide: 64, pixelsHigh: 64, pixelFormatType: kCVPixelFormatType_OneComponent8).imageBufferValue)
        let batch = MLArrayBatchProvider(
            array: try (0..<3).map { _ in try MLDictionaryFeatureProvider(dictionary: ["image": buffer]) })
        let results = try model.predictions(fromBatch: batch)
        XCTAssertEqual(results.count, 3)
        for index in 0..<3 { XCTAssertEqual(results.features(at: index).featureValue(for: "classLabel")?.stringValue, "Happy") }
        XCTAssertEqual(try model.predictions(fromBatch: MLArrayBatchProvider(array: [])).count, 0)
    }

    func testWrongSizesAreRefusedInAppleWords() throws {
        let model = try model()
        var buffer: CVPixelBuffer?
        XCTAssertEqual(CVPixelBufferCreate(kCFAllocatorDefault, 32, 64, kCVPixelFormatType_OneComponent8, nil, &buffer), kCVReturnSuccess)
        let provider = try MLDictionaryFeatureProvider(dictionary: ["image": try XCTUnwrap(buffer)])
        XCTAssertThrowsError(try model.prediction(from: provider)) { error in
            let error = error as NSError
            XCTAssertEqual(error.domain, "com.apple.CoreML")
            XCTAssertEqual(error.code, 1)
            XCTAssertTrue(error.localizedDescription.contains("Image is not valid width 64, instead is 32"), error.localizedDescription)
        }
        XCTAssertThrowsError(try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [:]))) { error in
            XCTAssertEqual((error as NSError).code, 1)
        }
        XCTAssertThrowsError(try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["image": "text"]))) { error in
            XCTAssertEqual((error as NSError).code, 1)
        }
    }

    func testMissingFilesAreErrors() {
        XCTAssertThrowsError(try MLModel(contentsOf: URL(fileURLWithPath: "/nowhere/X.mlmodel"))) { error in
            let error = error as NSError
            XCTAssertEqual(error.domain, MLModelErrorDomain)
            XCTAssertEqual(error.code, MLModelError.Code.io.rawValue)
            XCTAssertTrue(error.localizedDescription.contains("/nowhere/X.mlmodel"))
        }
        XCTAssertThrowsError(try MLModel(contentsOf: URL(string: "https://example.com/X.mlmodel")!))
    }

    /// Client code catches `NSError`, matches kinds, and compares codes.
    func testErrorsAreCaughtAsOnAppleSystems() {
        do {
            _ = try MLModel(contentsOf: URL(fileURLWithPath: "/nowhere/X.mlmodel"))
            XCTFail("no error")
        } catch let error as NSError {
            XCTAssertEqual(error.domain, MLModelErrorDomain)
            XCTAssertEqual(error.code, 3)
            XCTAssertTrue(error.code == MLModelError.Code.io)
        }
        do {
            _ = try MLModel(contentsOf: URL(fileURLWithPath: "/nowhere/X.mlmodel"))
            XCTFail("no error")
        } catch MLModelError.io {
        } catch { XCTFail("\(error)") }
        let loaded = expectation(description: "handler")
        MLModel.__loadContents(of: emotion, configuration: MLModelConfiguration()) { model, error in
            XCTAssertNotNil(model)
            XCTAssertNil(error)
            loaded.fulfill()
        }
        wait(for: [loaded], timeout: 30)
    }

    func testMultiArrays() throws {
        let array = try MLMultiArray(shape: [2, 3], dataType: .float32)
        for index in 0..<6 { array[index] = NSNumber(value: index) }
        XCTAssertEqual(array[[1, 2]], 5)
        XCTAssertEqual(array.strides, [3, 1])
        array[[0, 1]] = 7.5
        XCTAssertEqual(array[1].floatValue, 7.5)
        let joined = try MLMultiArray(concatenating: [array, array], axis: 1, dataType: .int32)
        XCTAssertEqual(joined.shape, [2, 6])
        XCTAssertEqual((0..<12).map { joined[$0].intValue }, [0, 7, 2, 0, 7, 2, 3, 4, 5, 3, 4, 5])
        XCTAssertThrowsError(try MLMultiArray(shape: [-1], dataType: .float32))
        XCTAssertThrowsError(try MLMultiArray(shape: [NSNumber(value: 1 << 40), NSNumber(value: 1 << 40)], dataType: .float32))
        for type in [MLMultiArrayDataType.double, .float32, .float16, .int32, .int8] {
            let one = try MLMultiArray(shape: [1], dataType: type)
            one[0] = -3
            XCTAssertEqual(one[0], -3)
        }
        var released = false
        do {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
            memory.initializeMemory(as: Float.self, repeating: 2, count: 4)
            let borrowed = try MLMultiArray(dataPointer: memory, shape: [2, 2], dataType: .float32, strides: [2, 1]) {
                $0.deallocate()
                released = true
            }
            XCTAssertEqual(borrowed[3], 2)
        }
        XCTAssertTrue(released)
    }

    /// A model that takes images of several sizes sees each at its own size: the mean of five columns of which the first is white.
    func testImagesOfAllowedSizesAreNotResized() throws {
        let model = try MLModel(contentsOf: Fixtures.folder.appendingPathComponent("NTFormats/if_image_range.mlmodel"))
        var created: CVPixelBuffer?
        XCTAssertEqual(CVPixelBufferCreate(kCFAllocatorDefault, 5, 6, kCVPixelFormatType_32BGRA, nil, &created), kCVReturnSuccess)
        let buffer = try XCTUnwrap(created)
        _ = CVPixelBufferLockBaseAddress(buffer, [])
        let base = try XCTUnwrap(CVPixelBufferGetBaseAddress(buffer))
        for y in 0..<6 {
            for x in 0..<5 { base.storeBytes(of: x == 0 ? .max : 0, toByteOffset: y * CVPixelBufferGetBytesPerRow(buffer) + 4 * x, as: UInt32.self) }
        }
        _ = CVPixelBufferUnlockBaseAddress(buffer, [])
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": buffer]))
        let means = try XCTUnwrap(output.featureValue(for: "y")?.multiArrayValue)
        XCTAssertEqual((0..<means.count).map { means[$0].floatValue }, [51, 51, 51])
        XCTAssertEqual(CVPixelBufferCreate(kCFAllocatorDefault, 3, 6, kCVPixelFormatType_32BGRA, nil, &created), kCVReturnSuccess)
        XCTAssertThrowsError(try model.prediction(from: MLDictionaryFeatureProvider(dictionary: ["x": try XCTUnwrap(created)])))
    }

    func testCompiledModelsLoadAndPredict() throws {
        let compiled: URL = try MLModel.compileModel(at: emotion)
        defer { try? FileManager.default.removeItem(at: compiled.deletingLastPathComponent()) }
        XCTAssertEqual(compiled.lastPathComponent, "Emotion.mlmodelc")
        let model = try MLModel(contentsOf: compiled)
        XCTAssertEqual(model.modelDescription.predictedFeatureName, "classLabel")
        let onCPU = MLModelConfiguration()
        onCPU.computeUnits = .cpuOnly
        XCTAssertTrue(try MLModel(contentsOf: compiled, configuration: onCPU).session().usesCompiledForm)
        XCTAssertThrowsError(try MLModel.compileModel(at: URL(fileURLWithPath: "/nowhere/X.mlmodel")) as URL) { error in
            XCTAssertTrue((error as NSError).localizedDescription.contains("/nowhere/X.mlmodel"))
        }
    }

    func testShapedArrays() throws {
        var array = MLShapedArray<Float>(scalars: [1, 2, 3, 4, 5, 6], shape: [2, 3])
        array[scalarAt: 1, 2] = 7
        let value = try MLFeatureValue(shapedArray: array)
        XCTAssertEqual(value.multiArrayValue?.dataType, .float32)
        XCTAssertEqual(value.multiArrayValue?[[1, 2]], 7)
        XCTAssertEqual(value.shapedArrayValue(of: Double.self)?.scalars, [1, 2, 3, 4, 5, 7])
        XCTAssertEqual(MLShapedArray<Int32>(repeating: 3, shape: [2]).scalars, [3, 3])
    }

    func testConfigurationIsCopied() throws {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuOnly
        let model = try MLModel(contentsOf: emotion, configuration: configuration)
        configuration.computeUnits = .all
        XCTAssertEqual(model.configuration.computeUnits, .cpuOnly)
        XCTAssertTrue(model.backendDescription.hasPrefix("cpu"))
    }
}
