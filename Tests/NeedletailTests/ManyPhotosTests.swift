import Foundation
import NTRuntime
import Needletail
import TestSupport
import XCTest

/// Many photos and batches at once: order, errors in their places, bounded work, cancellation.
final class ManyPhotosTests: XCTestCase {
    private let photos = Fixtures.models.appendingPathComponent("photos")

    private func classifier(threads: Int, _ model: String = "Emotion", _ backend: BackendChoice = .cpu) throws -> ImageClassifier {
        try ImageClassifier(
            contentsOf: Fixtures.models.appendingPathComponent("\(model).mlmodel"),
            configuration: SessionConfiguration(backend: backend, threadCount: threads))
    }

    private static let names = ["cat.png", "coffee.jpg", "none.jpg", "astronaut.jpg", "face.png"]

    private func files(_ count: Int) -> [URL] { (0..<count).map { photos.appendingPathComponent(Self.names[$0 % Self.names.count]) } }

    /// Whatever the count, and so however the files are cut, each result is what its file gives alone, and in its place.
    func testResultsAreThoseOfSingleFiles() throws {
        for threads in 1...3 {
            let classifier = try classifier(threads: threads)
            let alone = Self.names.map { name in
                Result { try classifier.classify(imageAt: photos.appendingPathComponent(name), top: 2) as [Classification] }
            }
            for count in [0, 1, 2, 7, 31, 33, 16 * threads, 16 * threads + 5, 100] {
                let results = classifier.classify(imagesAt: files(count), top: 2)
                XCTAssertEqual(results.count, count)
                for (index, result) in results.enumerated() {
                    switch (result, alone[index % Self.names.count]) {
                    case (.success(let found), .success(let expected)):
                        XCTAssertEqual(found.map(\.label), expected.map(\.label), "\(index) of \(count), \(threads) threads")
                        for (a, b) in zip(found, expected) { XCTAssertEqual(a.confidence, b.confidence, accuracy: 1e-5) }
                    case (.failure(let found), .failure(let expected)):
                        XCTAssertEqual("\(found)", "\(expected)")
                    default: XCTFail("\(index) of \(count), \(threads) threads: \(result)")
                    }
                }
            }
        }
    }

    /// Results come in order, on the caller's thread, and an error thrown while taking them ends the work.
    func testResultsComeInOrder() throws {
        let classifier = try classifier(threads: 2)
        let thread = Thread.current
        var seen: [Int] = []
        classifier.classify(imagesAt: files(60), top: 1) { index, _ in
            XCTAssertTrue(Thread.current === thread)
            seen.append(index)
        }
        XCTAssertEqual(seen, Array(0..<60))
        struct Enough: Error {}
        seen = []
        XCTAssertThrowsError(
            try classifier.classify(imagesAt: files(1000), top: 1) { index, _ in
                seen.append(index)
                if index == 9 { throw Enough() }
            }
        ) { XCTAssertTrue($0 is Enough) }
        XCTAssertEqual(seen, Array(0...9))
        // The states are back and sound.
        XCTAssertEqual(try classifier.classify(imageAt: photos.appendingPathComponent("face.png"), top: 1).first?.label, "Happy")
    }

    /// A slow taker holds the readers back: few files are ever read ahead.
    func testWorkAheadIsBounded() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let classifier = try classifier(threads: 2)
        // The files after the first results appear only once those have been taken: read too far ahead, they would be missing.
        let bound = 2 * Session.maximumBatchCount
        let face = try Data(contentsOf: photos.appendingPathComponent("face.png"))
        let urls = (0..<(4 * bound)).map { folder.appendingPathComponent("\($0).png") }
        for url in urls[..<(2 * bound)] { try face.write(to: url) }
        var missing = 0
        try classifier.classify(imagesAt: urls, top: 1) { index, result in
            if index == 0 {
                usleep(300_000)
                for url in urls[(2 * bound)...] { try face.write(to: url) }
            }
            if case .failure = result { missing += 1 }
        }
        XCTAssertEqual(missing, 0)
    }

    func testCancellationLeavesErrors() async throws {
        let classifier = try classifier(threads: 2)
        let urls = files(4000).filter { $0.lastPathComponent != "none.jpg" }
        let task = Task { await classifier.classify(imagesAt: urls, top: 1) }
        try await Task.sleep(nanoseconds: 20_000_000)
        task.cancel()
        let results = await task.value
        XCTAssertEqual(results.count, urls.count)
        let cancelled = results.filter { result in
            if case .failure(let error as NeedletailError) = result { return error.code == .cancelled }
            return false
        }
        XCTAssertGreaterThan(cancelled.count, 0)
        XCTAssertEqual(results.filter { if case .failure = $0 { true } else { false } }.count, cancelled.count)
        // What was begun before is done.
        if case .success? = results.first {} else { XCTAssertEqual(cancelled.count, results.count) }
    }

    /// Several callers at once, each with its own files.
    func testConcurrentCallers() throws {
        for backend in [BackendChoice.cpu, .opencl] {
            let classifier = try classifier(threads: 2, "Emotion", backend)
            let expected = classifier.classify(imagesAt: files(40), top: 1).map { (try? $0.get())?.first?.label }
            let (wrong, list) = (Tally(), files(40))
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                let labels = classifier.classify(imagesAt: list, top: 1).map { (try? $0.get())?.first?.label }
                if labels != expected { wrong.add() }
            }
            XCTAssertEqual(wrong.count, 0, "\(backend)")
        }
    }

    private final class Tally: @unchecked Sendable {
        private let lock = NSLock()
        private var value = 0

        func add() { lock.withLock { value += 1 } }
        var count: Int { lock.withLock { value } }
    }

    /// Long batches of tensors: other shapes among them run alone, the first error is thrown.
    func testLongBatchesOfTensors() throws {
        let session = try classifier(threads: 2).session
        let inputs = try (0..<50).map { index -> [String: Needletail.Tensor] in
            let shape = index % 7 == 3 ? [1, 64, 64] : [1, 1, 64, 64]
            var elements = [Float](repeating: 0, count: 4096)
            for place in elements.indices { elements[place] = Float(place * (index + 3) % 256) }
            return ["image": try Needletail.Tensor(shape: shape, elements: elements)]
        }
        let results = try session.run(batch: inputs)
        for (input, result) in zip(inputs, results) {
            let single = try session.run(input) as [String: FeatureValue]
            XCTAssertEqual(single["classLabel"]?.text, result["classLabel"]?.text)
        }
        var broken = inputs
        broken[40] = [:]
        XCTAssertThrowsError(try session.run(batch: broken)) { XCTAssertTrue("\($0)".contains("missing"), "\($0)") }
        broken[20] = ["image": try Needletail.Tensor.zeros(shape: [3, 9, 9])]
        XCTAssertThrowsError(try session.run(batch: broken)) { XCTAssertFalse("\($0)".contains("missing"), "\($0)") }
    }
}
