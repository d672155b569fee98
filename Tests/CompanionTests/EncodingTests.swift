import CoreGraphics
import CoreImage
import Foundation
import ImageIO
import NTImage
import TestSupport
import UIKit
import XCTest

/// Pictures written as JPEG and PNG and read back.
final class EncodingTests: XCTestCase {
    private func url(_ name: String) -> URL { Fixtures.folder.appendingPathComponent("NTImage").appendingPathComponent(name) }

    /// A bitmap of smooth colours.
    private func bitmap(_ width: Int, _ height: Int, _ info: CGBitmapInfo, pixel: (Int, Int) -> [UInt8]) throws -> CGImage {
        let bytes = (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
        let channels = bytes.count / (width * height)
        return try XCTUnwrap(
            CGImage(
                width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 8 * channels, bytesPerRow: channels * width,
                space: channels == 1 ? CGColorSpaceCreateDeviceGray() : CGColorSpaceCreateDeviceRGB(), bitmapInfo: info,
                provider: CGDataProvider(Data(bytes)), decode: nil, shouldInterpolate: true, intent: .defaultIntent))
    }

    /// Red, green and blue of every pixel, or grey.
    private func values(_ image: CGImage) throws -> [[UInt8]] {
        try image.withPixels(for: nil) { view in
            let (red, green, blue) = view.format.channelOffsets
            return (0..<view.height).flatMap { y in
                (0..<view.width).map { x in
                    let pixel = view.base + y * view.bytesPerRow + x * view.format.bytesPerPixel
                    return (view.format == .gray8 ? [0] : [red, green, blue]).map { pixel.load(fromByteOffset: $0, as: UInt8.self) }
                }
            }
        }
    }

    private func decoded(_ data: Data?) throws -> CGImage {
        try XCTUnwrap(try XCTUnwrap(UIImage(data: try XCTUnwrap(data))).cgImage)
    }

    func testPNGKeepsEveryPixel() throws {
        let color = try bitmap(17, 5, CGBitmapInfo(alpha: .noneSkipFirst)) { x, y in [9, UInt8(x * 15), UInt8(y * 50), UInt8(x + y)] }
        let grey = try bitmap(9, 7, []) { x, y in [UInt8(x * 20 + y)] }
        for image in [color, grey] {
            let data = try XCTUnwrap(UIImage(cgImage: image).pngData())
            XCTAssertEqual(data.prefix(4), Data([0x89, 0x50, 0x4e, 0x47]))
            XCTAssertEqual(try values(try decoded(data)), try values(image))
        }
        let part = try XCTUnwrap(color.cropping(to: CGRect(x: 3, y: 1, width: 6, height: 2)))
        XCTAssertEqual(try values(try decoded(UIImage(cgImage: part).pngData())), try values(part))
    }

    /// Alpha survives in PNG, colours no longer multiplied by it; JPEG shows white through.
    func testAlpha() throws {
        let image = try bitmap(3, 1, CGBitmapInfo(alpha: .premultipliedLast)) { x, _ in [[100, 50, 0, 100], [0, 0, 0, 0], [10, 20, 30, 255]][x] }
        let png = try XCTUnwrap(UIImage(cgImage: image).pngData())
        XCTAssertEqual(png[25], 6, "red, green, blue, alpha")
        XCTAssertEqual(try values(try decoded(png)), [[255, 128, 0], [0, 0, 0], [10, 20, 30]])
        let straight = try bitmap(16, 16, CGBitmapInfo(alpha: .first)) { _, _ in [51, 255, 0, 0] }
        let seen = try values(try decoded(UIImage(cgImage: straight).jpegData(compressionQuality: 1)))
        for pixel in seen { for (value, expected) in zip(pixel, [255, 204, 204]) { XCTAssertEqual(Int(value), expected, accuracy: 3) } }
    }

    /// Quality decides between size and likeness; the orientation is kept.
    func testJPEG() throws {
        let image = try bitmap(64, 48, CGBitmapInfo(alpha: .noneSkipLast)) { x, y in [UInt8(x * 4), UInt8(y * 5), UInt8((x * y) % 97), 0] }
        func error(_ data: Data) throws -> Double {
            let pairs = zip(try values(try decoded(data)).flatMap { $0 }, try values(image).flatMap { $0 })
            return pairs.reduce(0) { $0 + abs(Double($1.0) - Double($1.1)) } / Double(3 * 64 * 48)
        }
        let files = try [0, 0.5, 1].map { try XCTUnwrap(UIImage(cgImage: image).jpegData(compressionQuality: $0)) }
        XCTAssertLessThan(files[0].count, files[1].count)
        XCTAssertLessThan(files[1].count, files[2].count)
        XCTAssertLessThan(try error(files[2]), 1.5)
        XCTAssertGreaterThan(try error(files[0]), try error(files[1]))
        for orientation in UIImage.Orientation.allCases {
            let turned = UIImage(cgImage: image, scale: 2, orientation: orientation)
            XCTAssertEqual(UIImage(data: try XCTUnwrap(turned.jpegData(compressionQuality: 0.8)))?.imageOrientation, orientation)
            XCTAssertEqual(UIImage(data: try XCTUnwrap(turned.pngData()))?.imageOrientation, .up)
        }
        for quality in [-3, 7, CGFloat.nan, .infinity] { XCTAssertNotNil(UIImage(cgImage: image).jpegData(compressionQuality: quality)) }
    }

    /// Files larger than the encoders' first memory.
    func testLargeFiles() throws {
        var state: UInt32 = 1
        let noise = try bitmap(300, 400, CGBitmapInfo(alpha: .noneSkipLast)) { _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return [UInt8(state >> 24), UInt8(state >> 16 & 255), UInt8(state >> 8 & 255), 0]
        }
        let png = try XCTUnwrap(UIImage(cgImage: noise).pngData())
        XCTAssertGreaterThan(png.count, 300_000)
        XCTAssertEqual(try values(try decoded(png)), try values(noise))
        let jpeg = try XCTUnwrap(UIImage(cgImage: noise).jpegData(compressionQuality: 1))
        XCTAssertGreaterThan(jpeg.count, 200_000)
        let pairs = zip(try values(try decoded(jpeg)).flatMap { $0 }, try values(noise).flatMap { $0 })
        XCTAssertLessThan(pairs.reduce(0) { $0 + abs(Double($1.0) - Double($1.1)) } / 360_000, 3)
    }

    func testImagesThatCannotBeWritten() throws {
        let core = CIImage(cgImage: try bitmap(2, 2, []) { _, _ in [7] })
        XCTAssertNil(UIImage(ciImage: core).pngData())
        XCTAssertNil(UIImage(ciImage: core).jpegData(compressionQuality: 1))
        let wide = try bitmap(66_000, 1, []) { _, _ in [7] }
        XCTAssertNil(UIImage(cgImage: wide).jpegData(compressionQuality: 1), "JPEG has no such sides")
        XCTAssertNotNil(UIImage(cgImage: wide).pngData())
    }

    func testDestinations() throws {
        let image = try bitmap(12, 4, []) { x, y in [UInt8(x * 20 + y)] }
        let bytes = NSMutableData()
        let data = try XCTUnwrap(CGImageDestinationCreateWithData(bytes, "public.png", 1, nil))
        XCTAssertFalse(CGImageDestinationFinalize(data), "no picture yet")
        CGImageDestinationAddImage(data, image, [kCGImagePropertyOrientation: 6] as CFDictionary)
        XCTAssertTrue(CGImageDestinationFinalize(data))
        XCTAssertEqual(UIImage(data: bytes as Data)?.imageOrientation, .right)
        XCTAssertEqual(try values(try decoded(bytes as Data)), try values(image))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var sizes: [Int] = []
        for quality in [0.1, 0.95] {
            let file = folder.appendingPathComponent("\(quality).jpg")
            let destination = try XCTUnwrap(CGImageDestinationCreateWithURL(file as CFURL, "public.jpeg", 1, nil))
            let source = try XCTUnwrap(CGImageSourceCreateWithURL(url("exif_6.jpg") as CFURL, nil))
            CGImageDestinationAddImageFromSource(
                destination, source, 0, [kCGImageDestinationLossyCompressionQuality: quality] as CFDictionary)
            XCTAssertTrue(CGImageDestinationFinalize(destination))
            XCTAssertEqual(UIImage(contentsOfFile: file.path)?.imageOrientation, .right)
            sizes.append(try Data(contentsOf: file).count)
        }
        XCTAssertLessThan(sizes[0], sizes[1])
        let nowhere = try XCTUnwrap(CGImageDestinationCreateWithURL(folder.appendingPathComponent("no/x.png") as CFURL, "public.png", 1, nil))
        CGImageDestinationAddImage(nowhere, image, nil)
        XCTAssertFalse(CGImageDestinationFinalize(nowhere))
        XCTAssertNil(CGImageDestinationCreateWithData(bytes, "public.heic", 1, nil))
        XCTAssertNil(CGImageDestinationCreateWithData(bytes, "public.png", 2, nil))
        XCTAssertEqual(CGImageDestinationCopyTypeIdentifiers() as? [String], ["public.jpeg", "public.png"])
    }

    func testContextsWriteFiles() throws {
        let image = try bitmap(8, 6, CGBitmapInfo(alpha: .noneSkipLast)) { x, y in [UInt8(x * 30), UInt8(y * 40), 90, 0] }
        let (context, space) = (CIContext(), CGColorSpaceCreateDeviceRGB())
        let png = context.pngRepresentation(of: CIImage(cgImage: image), format: .RGBA8, colorSpace: space)
        XCTAssertEqual(try values(try decoded(png)), try values(image))
        let option = CIImageRepresentationOption(rawValue: kCGImageDestinationLossyCompressionQuality as String)
        let files = try [0.1, 1].map {
            try XCTUnwrap(context.jpegRepresentation(of: CIImage(cgImage: image), colorSpace: space, options: [option: $0]))
        }
        XCTAssertLessThan(files[0].count, files[1].count)
    }
}
