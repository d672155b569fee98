import Foundation
import TestSupport
import XCTest

/// What an inference must not do: allocate, lock, wait, or enter Foundation or Dispatch. Counted by a program of its own, `inference-counts`,
/// which replaces the allocator and the locks with counting ones and guards the libraries' code.
final class InferenceCountTests: XCTestCase {
    /// Figures by name, per case.
    private static let report = Result { try measure() }

    private static func measure() throws -> [String: [String: Int]] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("inference-counts")
        process.arguments = ["MobileNet", "Emotion"].map { Fixtures.models.appendingPathComponent("\($0).mlmodel").path }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CountError(text: "inference-counts: status \(process.terminationStatus): \(text)") }
        if text.hasPrefix("unavailable") { throw XCTSkip("under a sanitizer the allocator is the sanitizer's") }
        var report: [String: [String: Int]] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            var figures: [String: Int] = [:]
            for word in words.dropFirst() {
                let pair = word.split(separator: "=")
                if pair.count == 2, let value = Int(pair[1]) { figures[String(pair[0])] = value }
            }
            if let name = words.first { report[String(name)] = figures }
        }
        return report
    }

    private struct CountError: Error {
        let text: String
    }

    /// The figures of the cases whose names begin so; at least one.
    private func cases(_ prefix: String) throws -> [(name: String, figures: [String: Int])] {
        let found = try Self.report.get().filter { $0.key.hasPrefix(prefix) }.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
        XCTAssertFalse(found.isEmpty, "no case \(prefix)")
        return found
    }

    /// The counter counts what is done on purpose, and nothing else.
    func testTheCounterCounts() throws {
        let report = try Self.report.get()
        func figure(_ name: String, _ kind: String) -> Int { report["check-\(name)"]?[kind] ?? -1 }
        XCTAssertEqual(figure("allocation", "allocations"), 1)
        XCTAssertEqual(figure("allocation", "frees"), 1)
        XCTAssertEqual(figure("lock", "locks"), 1)
        XCTAssertEqual(figure("wait", "waits"), 1)
        XCTAssertEqual(figure("foundation", "foundation"), 1)
        XCTAssertGreaterThan(figure("foundation", "locks"), 0)
        XCTAssertEqual(figure("semaphore", "foundation"), 1)
        XCTAssertEqual(report["check-nothing"]?.values.reduce(0, +), 0)
        XCTAssertEqual(report["check-nothing"]?.count, 6)
    }

    /// The largest count of any run, for one thread and two, single images and batches: none. Waking a worker that has gone to sleep is allowed.
    func testAPlanRunsWithoutAllocatingLockingOrFoundation() throws {
        let found = try cases("plan-")
        XCTAssertEqual(found.count, 8)
        for (name, figures) in found {
            for kind in ["allocations", "frees", "locks", "waits", "foundation"] { XCTAssertEqual(figures[kind], 0, "\(name) \(kind)") }
            // Three elements on two threads are two jobs: two whole elements, then one that both compute.
            XCTAssertLessThanOrEqual(figures["wakes"] ?? 9, name.contains("threads2-batch3") ? 2 : 1, name)
            if name.contains("threads1") { XCTAssertEqual(figures["wakes"], 0, name) }
        }
    }

    /// A frame in memory, brought to the input's size and run, its outputs read in place: none either.
    func testAFrameRunsWithoutAllocatingLockingOrFoundation() throws {
        for (name, figures) in try cases("frame-") {
            for kind in ["allocations", "frees", "locks", "waits", "foundation"] { XCTAssertEqual(figures[kind], 0, "\(name) \(kind)") }
        }
    }

    /// Dictionaries of features come with the requests that ask for them: as many allocations whatever the network's size, and still no lock.
    func testARequestAllocatesItsDictionariesAlone() throws {
        for kind in ["tensor-", "image-"] {
            let found = try cases(kind)
            for (name, figures) in found {
                XCTAssertLessThanOrEqual(figures["allocations"] ?? 99, 8, name)
                for kind in ["locks", "waits", "foundation"] { XCTAssertEqual(figures[kind], 0, "\(name) \(kind)") }
            }
            XCTAssertEqual(Set(found.map { $0.figures["allocations"] }).count, 1, "\(found)")
        }
    }
}
