import Foundation
import NTImage
import XCTest

/// Truncated, mutated and oversized files give errors or pictures, never anything else.
final class HostileFileTests: XCTestCase {
    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: Fixture.folder.path).sorted().filter {
                $0.hasSuffix(".jpg") || $0.hasSuffix(".png") || $0.hasSuffix(".webp")
            }
        }
    }

    /// A cut file never gives a picture with a grey rest. JPEG's two-byte end marker is the only part a picture can lack.
    func testEveryTruncationIsAnError() throws {
        let names = try files.filter { $0 != "large.jpg" }
        XCTAssertGreaterThan(names.count, 25)
        for name in names {
            let data = try Fixture.data(name)
            for length in 0..<data.count {
                guard let image = try? EncodedImage(data: data.prefix(length)).decoded() else { continue }
                // What follows the pixels may be missing only where the pixels are all there.
                let whole = try EncodedImage(data: data).decoded()
                XCTAssertEqual(try pixels(image), try pixels(whole), "\(name) cut to \(length) of \(data.count) bytes")
                XCTAssertFalse(name.hasSuffix(".png"), "\(name) cut to \(length) of \(data.count) bytes")
            }
        }
    }

    func testTruncationIsReportedAsSuch() throws {
        for name in ["jpeg_420.jpg", "jpeg_progressive.jpg", "png_rgb.png", "png_interlaced.png", "webp_lossy.webp", "webp_animated.webp"] {
            let data = try Fixture.data(name)
            XCTAssertThrowsError(try EncodedImage(data: data.prefix(data.count * 3 / 4), name: name).decoded()) { error in
                XCTAssertEqual((error as? ImageError)?.kind, .truncated, "\(error)")
                XCTAssertTrue("\(error)".hasPrefix(name), "\(error)")
            }
        }
    }

    /// Random bytes changed, removed and doubled: each outcome is a picture within the limits or an `ImageError`.
    func testMutationsNeverCrash() throws {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15
        func random(_ below: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(max(below, 1)))
        }
        var (decoded, refused) = (0, 0)
        let geometry = ImageGeometry(width: 8, height: 8, cropAndScale: .centerCrop)
        var out = [Float](repeating: 0, count: 3 * 64)
        for name in try files where name != "large.jpg" {
            let original = try Fixture.data(name)
            for _ in 0..<120 {
                var data = original
                for _ in 0...random(4) {
                    let at = random(data.count)
                    switch random(4) {
                    case 0: data[at] = UInt8(random(256))
                    case 1: data[at] ^= UInt8(1 << random(8))
                    case 2: data.removeSubrange(at..<min(at + 1 + random(6), data.count))
                    default: data.insert(contentsOf: data[at..<min(at + 1 + random(9), data.count)], at: at)
                    }
                    if data.isEmpty { break }
                }
                do {
                    let source = try EncodedImage(data: data)
                    try out.withUnsafeMutableBufferPointer { try ImagePreprocessor(geometry: geometry).writePlanar(source, into: $0) }
                    decoded += 1
                } catch {
                    XCTAssertTrue(error is ImageError, "\(name): \(error)")
                    refused += 1
                }
            }
        }
        XCTAssertGreaterThan(decoded, 100)
        XCTAssertGreaterThan(refused, 1000)
    }

    /// Headers that promise enormous pictures are refused before memory is spent.
    func testBombsAreRefused() throws {
        var png = try Fixture.data("png_rgb.png")
        png.replaceSubrange(16..<24, with: [0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00])
        png.replaceSubrange(29..<33, with: crc(png[12..<29]))
        var jpeg = try Fixture.data("jpeg_420.jpg")
        let frame = try XCTUnwrap(jpeg.range(of: Data([0xff, 0xc0]))).lowerBound
        jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xff, 0x00, 0xff, 0x00])
        var webp = try Fixture.data("webp_animated.webp")
        webp.replaceSubrange(24..<30, with: [0xff, 0x7f, 0x00, 0xff, 0x7f, 0x00])
        for (name, data) in [("png", png), ("jpeg", jpeg), ("webp", webp)] {
            XCTAssertThrowsError(try EncodedImage(data: data).decoded(), name) { error in
                XCTAssertEqual((error as? ImageError)?.kind, .tooLarge, "\(name): \(error)")
            }
        }
    }

    func testDeviceIsRefused() throws {
        let url = URL(fileURLWithPath: "/dev/zero")
        XCTAssertThrowsError(try EncodedImage(contentsOf: url)) { XCTAssertEqual(($0 as? ImageError)?.kind, .unreadable) }
    }

    func testFileOverTheLimitIsRefused() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        XCTAssertTrue(FileManager.default.createFile(atPath: url.path, contents: nil))
        defer { try? FileManager.default.removeItem(at: url) }
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(ImageLimits.maximumFileByteCount) + 1)
        try handle.close()
        XCTAssertThrowsError(try EncodedImage(contentsOf: url)) { XCTAssertEqual(($0 as? ImageError)?.kind, .tooLarge) }
    }

    private func pixels(_ image: Image) throws -> Data {
        try image.withPixels(for: nil) { Data(bytes: $0.base, count: $0.bytesPerRow * $0.height) }
    }

    private func crc(_ bytes: Data) -> [UInt8] {
        var value: UInt32 = 0xffff_ffff
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
        }
        value ^= 0xffff_ffff
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
