import Foundation
import NTImage
import XCTest

/// Pictures encoded and decoded again.
final class EncodeTests: XCTestCase {
    private func picture(_ format: PixelFormat, _ width: Int, _ height: Int) throws -> Image {
        var state: UInt32 = 7
        return try Image(format: format, width: width, height: height) { memory, rowBytes in
            for place in 0..<(rowBytes * height) {
                state = state &* 1_664_525 &+ 1_013_904_223
                memory.storeBytes(of: UInt8(state >> 24), toByteOffset: place, as: UInt8.self)
            }
        }
    }

    private func bytes(_ image: Image) -> [UInt8] { image.withBytes { Array($0) } }

    /// Sizes around the encoders' blocks and beyond their first memory, of every format that is taken.
    func testEveryFormatAndSize() throws {
        for (format, channels) in [(PixelFormat.gray8, 1), (.rgb8, 3), (.rgba8, 4)] {
            for (width, height) in [(1, 1), (7, 9), (8, 8), (17, 15), (300, 200)] {
                let image = try picture(format, width, height)
                let png = try ImageEncoder.png(image, orientation: .left)
                let back = try EncodedImage(data: png).decoded()
                XCTAssertEqual(back.embeddedOrientation, .left)
                XCTAssertEqual([back.width, back.height], [width, height])
                let step = channels == 1 ? 1 : 4
                let (found, expected) = (bytes(back), bytes(image))
                for pixel in 0..<(width * height) {
                    for c in 0..<min(3, channels) where found[pixel * step + c] != expected[pixel * channels + c] {
                        return XCTFail("\(format) \(width) x \(height): pixel \(pixel)")
                    }
                }
                for quality in [0, 0.5, 1] {
                    let jpeg = try EncodedImage(data: try ImageEncoder.jpeg(image, quality: quality, orientation: .rightMirrored)).decoded()
                    XCTAssertEqual(jpeg.embeddedOrientation, .rightMirrored)
                    XCTAssertEqual([jpeg.width, jpeg.height, jpeg.format == .gray8 ? 1 : 3], [width, height, channels == 1 ? 1 : 3])
                }
            }
        }
    }

    func testWhatCannotBeEncoded() throws {
        for format in [PixelFormat.bgr8, .bgra8, .argb8, .abgr8] {
            XCTAssertThrowsError(try ImageEncoder.png(try picture(format, 2, 2))) { XCTAssertEqual(($0 as? ImageError)?.kind, .unsupported) }
        }
        XCTAssertThrowsError(try ImageEncoder.jpeg(try picture(.gray8, 65_501, 1), quality: 1)) {
            XCTAssertEqual(($0 as? ImageError)?.kind, .tooLarge)
        }
    }
}
