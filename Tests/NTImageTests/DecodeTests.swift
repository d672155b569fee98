import CNTCodecs
import Foundation
import NTImage
import XCTest

/// Decoded pixels against what Pillow decodes from the same files.
final class DecodeTests: XCTestCase {
    struct Case: Decodable {
        var file: String
        var width: Int
        var height: Int
        var channels: Int
        var pixels: Data
    }

    func testPixelsEqualPillow() throws {
        let cases = try Fixture.cases("decode.json", as: Case.self)
        XCTAssertGreaterThan(cases.count, 20)
        for each in cases {
            let image = try EncodedImage(data: Fixture.data(each.file), name: each.file).decoded()
            XCTAssertEqual([image.width, image.height], [each.width, each.height], each.file)
            XCTAssertEqual(image.format, each.channels == 1 ? .gray8 : .rgba8, each.file)
            XCTAssertEqual([image.originalWidth, image.originalHeight], [each.width, each.height], each.file)
            let worst = try image.withPixels(for: nil) { view in
                var worst = 0
                for y in 0..<view.height {
                    for x in 0..<view.width {
                        for c in 0..<each.channels {
                            let found = (view.base + y * view.bytesPerRow + x * view.format.bytesPerPixel + c).load(as: UInt8.self)
                            let expected = each.pixels[(y * each.width + x) * each.channels + c]
                            worst = max(worst, abs(Int(found) - Int(expected)))
                        }
                    }
                }
                return worst
            }
            XCTAssertEqual(worst, 0, each.file)
        }
    }

    func testExifOrientationOfEveryFormat() throws {
        for number in 1...8 {
            let image = try EncodedImage(data: Fixture.data("exif_\(number).jpg"))
            XCTAssertEqual(image.embeddedOrientation.rawValue, UInt32(number))
            XCTAssertEqual(try image.decoded().embeddedOrientation.rawValue, UInt32(number))
        }
        for (name, number) in [("exif_6.png", 6), ("exif_8_late.png", 8), ("exif_3.webp", 3), ("png_rgb.png", 1), ("jpeg_444.jpg", 1)] {
            XCTAssertEqual(try EncodedImage(data: Fixture.data(name)).embeddedOrientation.rawValue, UInt32(number), name)
        }
    }

    /// A stored orientation turns the picture; one given by the caller replaces it.
    func testExplicitOrientationReplacesExif() throws {
        let six = try EncodedImage(data: Fixture.data("exif_6.jpg"))
        let one = try EncodedImage(data: Fixture.data("exif_1.jpg"))
        func prepared(_ source: EncodedImage, _ orientation: ImageOrientation?) throws -> [Float] {
            let geometry = ImageGeometry(width: 6, height: 9, orientation: orientation)
            var out = [Float](repeating: -1, count: 3 * 54)
            try out.withUnsafeMutableBufferPointer { try ImagePreprocessor(geometry: geometry).writePlanar(source, into: $0) }
            return out
        }
        XCTAssertEqual(try prepared(six, nil), try prepared(one, .right))
        XCTAssertEqual(try prepared(six, .up), try prepared(one, nil))
        XCTAssertNotEqual(try prepared(six, nil), try prepared(one, nil))
    }

    func testReducedDecodingOfLargeJPEG() throws {
        let file = try EncodedImage(data: Fixture.data("large.jpg"))
        for (target, expected) in [(400, 640), (150, 320), (60, 160), (30, 80)] {
            let geometry = ImageGeometry(width: target, height: target * 427 / 640, cropAndScale: .scaleFill)
            let image = try file.decoded(for: geometry)
            XCTAssertEqual(image.width, expected, "target \(target)")
            XCTAssertEqual(image.height, (427 * expected + 639) / 640)
            XCTAssertEqual([image.originalWidth, image.originalHeight], [640, 427])
        }
        let small = ImageGeometry(width: 48, height: 48, cropAndScale: .centerCrop, orientation: .right)
        let preprocessor = ImagePreprocessor(geometry: small)
        var reduced = [Float](repeating: 0, count: preprocessor.elementCount)
        var full = reduced
        try reduced.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(file, into: $0) }
        let whole = try file.decoded()
        try full.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(whole, into: $0) }
        let difference = zip(reduced, full).map { abs($0 - $1) }
        // Not the same filter, but the same place: a shift by a quarter of a target pixel would show as far more than this.
        XCTAssertLessThan(difference.reduce(0, +) / Float(difference.count), 1.5)
        XCTAssertLessThan(difference.max() ?? 0, 8)
    }

    /// Columns that a crop leaves out are not decoded; the others have the same bits as in the whole picture, whatever is turned, cropped or reduced.
    func testCroppedColumnsHaveTheSameBits() throws {
        let regions = [
            NormalizedRect.full, NormalizedRect(x: 0.31, y: 0.1, width: 0.2, height: 0.8), NormalizedRect(x: 0.7, y: 0, width: 0.3, height: 1),
        ]
        for name in ["large.jpg", "jpeg_420.jpg", "jpeg_422.jpg", "jpeg_444.jpg", "jpeg_grey.jpg", "jpeg_progressive.jpg", "jpeg_ycck_adobe.jpg"] {
            let file = try EncodedImage(data: Fixture.data(name))
            for orientation in ImageOrientation.allCases {
                for (crop, region) in CropAndScale.allCases.flatMap({ crop in regions.map { (crop, $0) } }) {
                    for (width, height) in [(9, 40), (40, 9), (30, 30)] {
                        let geometry = ImageGeometry(
                            width: width, height: height, cropAndScale: crop, regionOfInterest: region, orientation: orientation)
                        let preprocessor = ImagePreprocessor(geometry: geometry)
                        var found = [Float](repeating: 0, count: preprocessor.elementCount)
                        var expected = found
                        try found.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(file, into: $0) }
                        let whole = try whole(file, geometry)
                        try expected.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(whole, into: $0) }
                        XCTAssertEqual(found, expected, "\(name) \(geometry)")
                    }
                }
            }
        }
    }

    /// All columns at the size that suits a geometry.
    private func whole(_ file: EncodedImage, _ geometry: ImageGeometry) throws -> Image {
        try file.data.withUnsafeBytes { bytes in
            var (info, error) = (nt_codec_info(), nt_codec_error())
            let limits = nt_codec_limits(max_pixels: 1 << 20, max_scans: 100, max_scan_pixels: 1 << 28)
            let decoder = try XCTUnwrap(nt_jpeg_open(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, limits, &info, &error))
            defer { nt_jpeg_close(decoder) }
            let size = (width: Int(info.width), height: Int(info.height))
            let denominator = geometry.reduction(forWidth: size.width, height: size.height, orientation: .up)
            XCTAssertTrue(nt_jpeg_reduce(decoder, UInt32(denominator), &info, &error))
            return try Image(
                format: info.channels == 1 ? .gray8 : .rgba8, width: Int(info.width), height: Int(info.height), originalSize: size,
                extent: (Double(size.width) / Double(denominator), Double(size.height) / Double(denominator))
            ) { memory, bytesPerRow in
                XCTAssertTrue(nt_jpeg_decode(decoder, 0, info.width, memory.assumingMemoryBound(to: UInt8.self), bytesPerRow, &error))
            }
        }
    }

    func testFileErrorsNameTheFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ntimage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = folder.appendingPathComponent("notes.jpg")
        try Data("hello, world".utf8).write(to: text)
        let empty = folder.appendingPathComponent("empty.png")
        try Data().write(to: empty)
        let expected: [(URL, ImageError.Kind)] = [
            (folder.appendingPathComponent("absent.jpg"), .unreadable), (folder, .unreadable), (text, .unknownFormat), (empty, .truncated),
        ]
        for (url, kind) in expected {
            XCTAssertThrowsError(try EncodedImage(contentsOf: url)) { error in
                XCTAssertEqual((error as? ImageError)?.kind, kind)
                XCTAssertTrue("\(error)".contains(url.path), "\(error)")
            }
        }
        let remote = try XCTUnwrap(URL(string: "https://example.org/a.jpg"))
        XCTAssertThrowsError(try EncodedImage(contentsOf: remote)) { XCTAssertEqual(($0 as? ImageError)?.kind, .unreadable) }
    }
}
