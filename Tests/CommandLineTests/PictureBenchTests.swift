import Foundation
import TestSupport
import XCTest

/// `needletail bench --image` and `--frame`.
final class PictureBenchTests: XCTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private let mobileNet = Fixtures.models.appendingPathComponent("MobileNet.mlmodel").path
    private let photos = Fixtures.models.appendingPathComponent("photos").path

    /// The class is the one that `classify` names, and the stages are parts of the whole.
    func testFromAFileToItsLabel() throws {
        for (model, photo, label) in [(mobileNet, "coffee.jpg", "espresso"), (emotion, "face.png", "Happy")] {
            let words = ["bench", model, "--image", "\(photos)/\(photo)", "--backend", "cpu", "--seconds", "0.2", "--json"]
            let object = try XCTUnwrap(try Tool.run(words).objects().first)
            XCTAssertEqual(object["topLabel"] as? String, label)
            let stages = try XCTUnwrap(object["stages"] as? [String: Double])
            XCTAssertEqual(Set(stages.keys), ["decode", "prepare", "infer", "label"])
            for (name, time) in stages { XCTAssertGreaterThan(time, 0, name) }
            let slowest = try XCTUnwrap(object["p99"] as? Double)
            XCTAssertLessThan(try XCTUnwrap(stages.values.max()), slowest)
            XCTAssertGreaterThanOrEqual(slowest, try XCTUnwrap(object["p50"] as? Double))
        }
    }

    func testFromAFrameAndInRounds() throws {
        let text = try Tool.run(["bench", mobileNet, "--frame", "1920x1080", "--backend", "cpu", "--seconds", "0.1"])
        XCTAssertEqual(text.status, 0, text.errors)
        XCTAssertTrue(text.output.contains("prepare"), text.output)
        let rounds = try Tool.run(["bench", emotion, "--frame", "640x480", "--backend", "cpu", "--rounds-from-stdin"], input: "0.05\n0.05\n")
        XCTAssertEqual(rounds.output.split(separator: "\n").count, 3, rounds.output + rounds.errors)
    }

    /// A picture that is read again and again is no pipe; a best class of NaN is null in JSON.
    func testPipesAndNoNumbers() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appendingPathComponent("pipe").path
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        let refused = try Tool.run(["bench", emotion, "--image", pipe, "--backend", "cpu"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("expected a file"), refused.errors)
        let broken = folder.appendingPathComponent("nan.mlmodel")
        try BrokenModel.withoutNumbers(emotion).write(to: broken)
        let result = try Tool.run(["bench", broken.path, "--frame", "9x9", "--backend", "cpu", "--seconds", "0.01", "--json"])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try XCTUnwrap(try result.objects().first)
        XCTAssertTrue(object["topValue"] is NSNull, "\(object)")
    }

    func testWrongPictures() throws {
        for (words, status, message) in [
            (["--frame", "1920"], 2, "WIDTHxHEIGHT"), (["--frame", "0x9"], 2, "WIDTHxHEIGHT"), (["--frame", "9x9x9"], 2, "WIDTHxHEIGHT"),
            (["--frame", "65535x65535"], 1, "limit"), (["--image", "/nowhere.jpg"], 1, "/nowhere.jpg"), (["--image", emotion], 1, "Emotion"),
            (["--frame", "9x9", "--image", "x.jpg"], 2, "exclude"), (["--frame", "9x9", "--batch", "2"], 2, "--batch"),
            (["--image", "x.jpg", "--profile"], 2, "--profile"),
        ] as [([String], Int32, String)] {
            let result = try Tool.run(["bench", emotion, "--backend", "cpu"] + words)
            XCTAssertEqual(result.status, status, "\(words): \(result.errors)")
            XCTAssertTrue(result.errors.contains(message), "\(words): \(result.errors)")
        }
    }
}
