import CoreGraphics
import CoreImage
import Foundation
import ImageIO
import NTImage
import TestSupport
import UIKit
import XCTest

final class ImageSourceTests: XCTestCase {
    private func url(_ name: String) -> URL { Fixtures.folder.appendingPathComponent("NTImage").appendingPathComponent(name) }

    func testPropertiesAndPixels() throws {
        let source = try XCTUnwrap(CGImageSourceCreateWithURL(url("exif_6.jpg") as CFURL, nil))
        let properties = try XCTUnwrap(CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [String: Any])
        XCTAssertEqual(properties[kCGImagePropertyOrientation as String] as? UInt32, 6)
        XCTAssertEqual(properties[kCGImagePropertyPixelWidth as String] as? Int, 16)
        XCTAssertEqual(CGImageSourceGetType(source), "public.jpeg")
        let image = try XCTUnwrap(CGImageSourceCreateImageAtIndex(source, 0, nil))
        XCTAssertEqual([image.width, image.height], [16, 8])
        XCTAssertNil(CGImageSourceCreateImageAtIndex(source, 1, nil))
        XCTAssertNil(CGImageSourceCreateWithData(Data("nothing".utf8) as CFData, nil))
        XCTAssertNil(CGImageSourceCreateWithURL(url("absent.jpg") as CFURL, nil))
    }

    func testThumbnail() throws {
        let source = try XCTUnwrap(CGImageSourceCreateWithURL(url("exif_6.jpg") as CFURL, nil))
        let options =
            [
                kCGImageSourceCreateThumbnailFromImageAlways: true, kCGImageSourceCreateThumbnailWithTransform: true,
                kCGImageSourceThumbnailMaxPixelSize: 8,
            ] as [CFString: Any] as CFDictionary
        let thumbnail = try XCTUnwrap(CGImageSourceCreateThumbnailAtIndex(source, 0, options))
        XCTAssertEqual([thumbnail.width, thumbnail.height], [4, 8])
    }

    func testUIImageTakesTheOrientation() throws {
        let image = try XCTUnwrap(UIImage(contentsOfFile: url("exif_6.jpg").path))
        XCTAssertEqual(image.imageOrientation, .right)
        XCTAssertEqual(image.size, CGSize(width: 8, height: 16))
        XCTAssertEqual(image.cgImage?.width, 16)
        XCTAssertNil(UIImage(data: Data()))
        XCTAssertNil(UIImage(named: "no such picture"))
        let applied = try XCTUnwrap(CIImage(contentsOf: url("exif_6.jpg"), options: [.applyOrientationProperty: true]))
        XCTAssertEqual(applied.extent.size, CGSize(width: 8, height: 16))
        XCTAssertEqual(CIImage(contentsOf: url("exif_6.jpg"))?.extent.size, CGSize(width: 16, height: 8))
    }

    /// Layouts of bitmaps: the same picture however its bytes lie.
    func testBitmapLayouts() throws {
        let little = CGBitmapInfo.byteOrder32Little.rawValue
        let layouts: [(order: [Int], bits: Int, info: UInt32)] = [
            ([0, 1, 2, 3], 32, CGImageAlphaInfo.premultipliedLast.rawValue), ([3, 0, 1, 2], 32, CGImageAlphaInfo.first.rawValue),
            ([2, 1, 0, 3], 32, CGImageAlphaInfo.noneSkipFirst.rawValue | little), ([3, 2, 1, 0], 32, CGImageAlphaInfo.last.rawValue | little),
            ([0, 1, 2], 24, CGImageAlphaInfo.none.rawValue),
        ]
        let colors = Quadrants.colors.map(\.bytes)
        for layout in layouts {
            for wide in [false, true] {
                if wide, layout.info & little != 0 { continue }
                var bytes = Data()
                for color in colors {
                    let pixel = color + [9]
                    for index in layout.order { bytes.append(contentsOf: wide ? [pixel[index], 77] : [pixel[index]]) }
                    if color == colors[1] { bytes.append(contentsOf: [1, 2, 3]) }
                }
                let image = try XCTUnwrap(
                    CGImage(
                        width: 2, height: 2, bitsPerComponent: wide ? 16 : 8, bitsPerPixel: wide ? 2 * layout.bits : layout.bits,
                        bytesPerRow: 2 * layout.order.count * (wide ? 2 : 1) + 3, space: CGColorSpaceCreateDeviceRGB(),
                        bitmapInfo: CGBitmapInfo(rawValue: layout.info), provider: XCTUnwrap(CGDataProvider(data: bytes as CFData)),
                        decode: nil, shouldInterpolate: true, intent: .defaultIntent))
                let prepared = try ImagePreprocessor(geometry: ImageGeometry(width: 2, height: 2)).prepared(image)
                let found = prepared.withBytes { all in (0..<4).map { i in (0..<3).map { all[4 * i + $0] } } }
                XCTAssertEqual(found, colors, "\(layout) wide \(wide)")
                let corner = try XCTUnwrap(image.cropping(to: CGRect(x: 1, y: 1, width: 5, height: 5)))
                XCTAssertEqual([corner.width, corner.height], [1, 1])
                XCTAssertEqual(try Quadrants.corners(corner), ["white", "white", "white", "white"])
            }
        }
        XCTAssertNil(
            CGImage(
                width: 2, height: 2, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 8, space: CGColorSpaceCreateDeviceRGB(),
                bitmapInfo: [], provider: try XCTUnwrap(CGDataProvider(data: Data(count: 15) as CFData)), decode: nil,
                shouldInterpolate: true, intent: .defaultIntent))
    }
}
