import Foundation
import NTFormats
import NTGraph
import TestSupport
import XCTest

/// Damaged files: every one is described, built, or refused with an error; none crashes, hangs or takes much memory.
final class HostileModelTests: XCTestCase {
    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Fixtures.folder.appendingPathComponent("NTFormats/\(name).mlmodel")))
    }

    /// Loads, describes and builds; true when all of it went well. Any error must be one of the reader's own.
    @discardableResult
    private func survive(_ bytes: [UInt8], file: StaticString = #filePath, line: UInt = #line) -> Bool {
        do {
            let asset = try ModelAsset(bytes: bytes)
            _ = try asset.layerSummaries()
            _ = try asset.makeGraph()
            return true
        } catch {
            XCTAssertTrue(error is FormatError, "\(error)", file: file, line: line)
            XCTAssertFalse("\(error)".contains("\n"), file: file, line: line)
            return false
        }
    }

    func testTruncationAtEveryByte() throws {
        let whole = try bytes("pools")
        XCTAssertTrue(survive(whole))
        for count in 0..<whole.count {
            // The model's body is its last field, so nothing shorter is whole.
            XCTAssertFalse(survive(Array(whole[..<count])), "\(count)")
        }
    }

    func testMutations() throws {
        var random = TestRandom(name: "mutations")
        for name in ["activations", "pools", "rearranging", "nd_shapes", "nd_selection", "recurrent", "spatial"] {
            let whole = try bytes(name)
            var refused = 0
            for _ in 0..<400 {
                var damaged = whole
                for _ in 0..<random.integer(1...4) {
                    let place = random.integer(0...(damaged.count - 1))
                    switch random.integer(0...3) {
                    case 0: damaged[place] = UInt8(random.integer(0...255))
                    case 1: damaged[place] = random.choice([0, 0x7f, 0x80, 0xff])
                    case 2: damaged[place] ^= UInt8(1 << random.integer(0...7))
                    default: damaged.replaceSubrange(place..<min(place + 9, damaged.count), with: [UInt8](repeating: 0xff, count: 9))
                    }
                }
                if !survive(damaged) { refused += 1 }
            }
            XCTAssertGreaterThan(refused, 0, name)
        }
    }

    func testNoise() {
        var random = TestRandom(name: "noise")
        for _ in 0..<2000 {
            survive((0..<random.integer(0...64)).map { _ in UInt8(random.integer(0...255)) })
        }
    }

    func testDeepPipelinesAreRefused() {
        func field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
            var (length, prefix) = (content.count, [number << 3 | 2])
            while length >= 0x80 {
                prefix.append(UInt8(length & 0x7f | 0x80))
                length >>= 7
            }
            return prefix + [UInt8(length)] + content
        }
        // Field 202 (pipeline) is written with a two-byte tag; its models are field 1.
        var model: [UInt8] = [0x08, 0x01]
        for _ in 0..<40 {
            let pipeline = field(1, model)
            model = [0x08, 0x01] + [0xd2, 0x0c] + field(0, pipeline).dropFirst()
        }
        XCTAssertFalse(survive(model))
    }
}
