import Foundation
import NTImage
import XCTest

/// Memory stays flat over many frames and many refused files.
final class SoakTests: XCTestCase {
    /// Resident bytes of this process.
    private func residentByteCount() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try XCTUnwrap(Int(fields[1])) * Int(getpagesize())
    }

    func testFramesOfEveryFormatAndCrop() throws {
        let formats: [PixelFormat] = [.gray8, .rgb8, .bgra8, .argb8]
        let buffers = formats.map { PaddedBuffer(320, 180, format: $0, padding: 32) }
        func round(_ count: Int) throws {
            for crop in CropAndScale.allCases {
                let preprocessor = ImagePreprocessor(geometry: ImageGeometry(width: 64, height: 64, cropAndScale: crop, orientation: .right))
                var out = [Float](repeating: 0, count: preprocessor.elementCount)
                for buffer in buffers {
                    for _ in 0..<count {
                        try out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(buffer, into: $0) }
                    }
                }
            }
        }
        try round(50)
        let before = try residentByteCount()
        try round(500)
        XCTAssertLessThan(try residentByteCount() - before, 2 << 20, "10,000 frames")
    }

    func testDecodedAndRefusedFiles() throws {
        let whole = try Fixture.data("large.jpg")
        let cut = whole.prefix(whole.count / 2)
        let png = try Fixture.data("png_rgb16.png")
        func round(_ count: Int) throws {
            for _ in 0..<count {
                XCTAssertThrowsError(try EncodedImage(data: cut).decoded())
                XCTAssertThrowsError(try EncodedImage(data: png.prefix(3000)).decoded())
                XCTAssertEqual(try EncodedImage(data: whole).decoded().width, 640)
                XCTAssertEqual(try EncodedImage(data: png).decoded().width, 37)
            }
        }
        try round(20)
        let before = try residentByteCount()
        // One lost picture of 1 MB in each of these rounds would show a hundred times over.
        try round(200)
        XCTAssertLessThan(try residentByteCount() - before, 2 << 20)
    }
}
