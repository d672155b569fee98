import CoreGraphics
import CoreImage
import CoreML
import CoreVideo
import Foundation
import ImageIO
import TestSupport
import Vision
import XCTest

/// Vision's names and behaviour.
final class VisionTests: XCTestCase {
    private let photos = Fixtures.models.appendingPathComponent("photos")

    private func model(_ name: String) throws -> VNCoreMLModel {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuOnly
        return try VNCoreMLModel(for: MLModel(contentsOf: Fixtures.models.appendingPathComponent(name), configuration: configuration))
    }

    private func best(_ request: VNRequest) -> (String, Float)? {
        (request.results as? [VNClassificationObservation])?.first.map { ($0.identifier, $0.confidence) }
    }

    func testEverySourceGivesTheSameLabel() throws {
        let request = VNCoreMLRequest(model: try model("Emotion.mlmodel"))
        XCTAssertEqual(request.imageCropAndScaleOption, .centerCrop)
        let url = photos.appendingPathComponent("face.png")
        let data = try Data(contentsOf: url)
        let source = try XCTUnwrap(CGImageSourceCreateWithURL(url as CFURL, nil))
        let image = try XCTUnwrap(CGImageSourceCreateImageAtIndex(source, 0, nil))
        let value = try MLFeatureValue(cgImage: image, pixelsWide: 110, pixelsHigh: 110, pixelFormatType: kCVPixelFormatType_32BGRA)
        let buffer = try XCTUnwrap(value.imageBufferValue)
        let handlers = [
            VNImageRequestHandler(url: url), VNImageRequestHandler(url: url, orientation: .up, options: [:]),
            VNImageRequestHandler(data: data), VNImageRequestHandler(data: data, orientation: .up),
            VNImageRequestHandler(cgImage: image), VNImageRequestHandler(cgImage: image, orientation: .up),
            VNImageRequestHandler(ciImage: CIImage(cgImage: image)), VNImageRequestHandler(ciImage: CIImage(cgImage: image), orientation: .up),
            VNImageRequestHandler(cvPixelBuffer: buffer), VNImageRequestHandler(cvPixelBuffer: buffer, orientation: .up, options: [:]),
        ]
        var confidences: [Float] = []
        for handler in handlers {
            try handler.perform([request])
            let (label, confidence) = try XCTUnwrap(best(request))
            XCTAssertEqual(label, "Happy")
            confidences.append(confidence)
        }
        XCTAssertEqual(Set(confidences).count, 1, "\(confidences)")
        let results = try XCTUnwrap(request.results as? [VNClassificationObservation])
        XCTAssertEqual(results.count, 7)
        XCTAssertEqual(results.map(\.confidence), results.map(\.confidence).sorted(by: >))
        XCTAssertFalse(results[0].hasPrecisionRecallCurve)
    }

    func testTurnedPixelsAndTheirOrientationGiveTheSameConfidence() throws {
        let url = photos.appendingPathComponent("face.png")
        let upright = CIImage(
            cgImage: try XCTUnwrap(CGImageSourceCreateImageAtIndex(try XCTUnwrap(CGImageSourceCreateWithURL(url as CFURL, nil)), 0, nil)))
        let request = VNCoreMLRequest(model: try model("Emotion.mlmodel"))
        try VNImageRequestHandler(ciImage: upright).perform([request])
        let expected = try XCTUnwrap(best(request)).1
        // Pixels stored turned one way are upright again under the orientation that undoes it.
        let pairs: [(CGImagePropertyOrientation, CGImagePropertyOrientation)] = [
            (.up, .up), (.upMirrored, .upMirrored), (.down, .down), (.downMirrored, .downMirrored),
            (.leftMirrored, .leftMirrored), (.right, .left), (.rightMirrored, .rightMirrored), (.left, .right),
        ]
        let context = CIContext()
        for (turn, undo) in pairs {
            let turned = upright.oriented(turn)
            let pixels = try XCTUnwrap(context.createCGImage(turned, from: turned.extent))
            try VNImageRequestHandler(cgImage: pixels, orientation: undo).perform([request])
            XCTAssertEqual(try XCTUnwrap(best(request)).1, expected, accuracy: 1e-3, "\(turn.rawValue)")
        }
    }

    func testCropOptionsDiffer() throws {
        let request = VNCoreMLRequest(model: try model("MobileNet.mlmodel"))
        let handler = VNImageRequestHandler(url: photos.appendingPathComponent("coffee.jpg"))
        var found: [Float] = []
        for option in VNImageCropAndScaleOption.allCases {
            request.imageCropAndScaleOption = option
            try handler.perform([request])
            found.append(try XCTUnwrap(best(request)).1)
        }
        XCTAssertEqual(Set(found).count, 5)
        request.imageCropAndScaleOption = .centerCrop
        try handler.perform([request])
        let (label, confidence) = try XCTUnwrap(best(request))
        XCTAssertEqual(label, "espresso")
        XCTAssertEqual(confidence, 0.861, accuracy: 0.02)
    }

    func testRegionOfInterest() throws {
        let request = VNCoreMLRequest(model: try model("Emotion.mlmodel"))
        // The face of the astronaut: columns 170..<280, rows 60..<170 of 512; the origin is the lower left.
        request.regionOfInterest = CGRect(x: 170.0 / 512, y: 1 - 170.0 / 512, width: 110.0 / 512, height: 110.0 / 512)
        let handler = VNImageRequestHandler(url: photos.appendingPathComponent("astronaut.jpg"))
        try handler.perform([request])
        let (label, confidence) = try XCTUnwrap(best(request))
        XCTAssertEqual(label, "Happy")
        XCTAssertGreaterThan(confidence, 0.95)
        request.regionOfInterest = CGRect(x: 0.5, y: 0.5, width: 0.7, height: 0.2)
        XCTAssertThrowsError(try handler.perform([request])) { error in
            XCTAssertEqual((error as NSError).domain, VNErrorDomain)
            XCTAssertEqual((error as NSError).code, VNErrorCode.invalidArgument.rawValue)
        }
        XCTAssertNil(request.results)
    }

    func testCompletionHandlersGetTheirOwnResultsFromManyThreads() throws {
        let counter = Counter()
        let request = VNCoreMLRequest(model: try model("MobileNet.mlmodel")) { request, error in
            guard error == nil, let label = (request.results as? [VNClassificationObservation])?.first?.identifier else { return }
            counter.add(label)
        }
        let files = ["cat.png", "coffee.jpg"].map { photos.appendingPathComponent($0) }
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            try? VNImageRequestHandler(url: files[index % 2]).perform([request])
        }
        XCTAssertEqual(counter.counts, ["tabby, tabby cat": 8, "espresso": 8])
    }

    func testErrorsReachHandlerAndCaller() throws {
        let seen = Counter()
        let request = VNCoreMLRequest(model: try model("Emotion.mlmodel")) { _, error in
            seen.add("\((error as? NSError)?.code ?? 0)")
        }
        do {
            try VNImageRequestHandler(data: Data()).perform([VNClassifyImageRequest()])
            XCTFail("no error")
        } catch let error as NSError {
            XCTAssertEqual(error.domain, "com.apple.vis")
            XCTAssertEqual(error.code, 19)
        }
        XCTAssertThrowsError(try VNImageRequestHandler(data: Data([1, 2, 3])).perform([request])) { error in
            XCTAssertEqual((error as NSError).code, VNErrorCode.invalidImage.rawValue)
        }
        XCTAssertThrowsError(try VNImageRequestHandler(url: photos.appendingPathComponent("none.jpg")).perform([request])) { error in
            XCTAssertEqual((error as NSError).code, VNErrorCode.ioError.rawValue)
        }
        request.cancel()
        XCTAssertThrowsError(try VNImageRequestHandler(url: photos.appendingPathComponent("face.png")).perform([request])) { error in
            XCTAssertEqual((error as NSError).code, VNErrorCode.requestCancelled.rawValue)
        }
        XCTAssertEqual(seen.counts, ["13": 1, "6": 1, "1": 1])
        XCTAssertThrowsError(try VNImageRequestHandler(url: photos.appendingPathComponent("face.png")).perform([VNClassifyImageRequest()])) {
            XCTAssertEqual(($0 as NSError).code, VNErrorCode.unsupportedRequest.rawValue)
        }
    }

    func testSequencesAndTheAsynchronousInterface() async throws {
        let model = try model("Emotion.mlmodel")
        let url = photos.appendingPathComponent("face.png")
        let request = VNCoreMLRequest(model: model)
        let sequence = VNSequenceRequestHandler()
        try sequence.perform([request], onImageURL: url)
        let expected = try XCTUnwrap(best(request))
        try sequence.perform([request], onImageData: try Data(contentsOf: url), orientation: .up)
        XCTAssertEqual(try XCTUnwrap(best(request)).1, expected.1)

        let configuration = MLModelConfiguration()
        configuration.computeUnits = .cpuOnly
        let loaded = try await MLModel.load(contentsOf: Fixtures.models.appendingPathComponent("Emotion.mlmodel"), configuration: configuration)
        var modern = CoreMLRequest(model: try CoreMLModelContainer(model: loaded))
        XCTAssertEqual(modern.cropAndScaleAction, .scaleToFill)
        modern.cropAndScaleAction = .centerCrop
        let observations = try await modern.perform(on: url)
        let first = try XCTUnwrap(observations.first as? ClassificationObservation)
        XCTAssertEqual(first.identifier, expected.0)
        XCTAssertEqual(first.confidence, expected.1)
    }

    func testOrientationIsAnOpenEnumeration() {
        XCTAssertNotNil(CGImagePropertyOrientation(rawValue: 0))
        XCTAssertEqual(CGImagePropertyOrientation.right.rawValue, 6)
        XCTAssertEqual(VNImageCropAndScaleOption.scaleFitRotate90CCW.rawValue, 257)
    }

    /// Counts words from several threads.
    private final class Counter: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [String: Int] = [:]
        var counts: [String: Int] { lock.withLock { values } }
        func add(_ word: String) { lock.withLock { values[word, default: 0] += 1 } }
    }
}
