import Foundation
import NTImage
import XCTest

/// Every pixel format, with padded rows, gives what the plain picture gives.
final class PixelFormatTests: XCTestCase {
    private func run(_ source: some PixelSource, _ preprocessor: ImagePreprocessor) throws -> [Float] {
        var out = [Float](repeating: .nan, count: preprocessor.elementCount)
        try out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(source, into: $0) }
        return out
    }

    private var geometries: [ImageGeometry] {
        [(9, 7, ImageOrientation.up), (40, 50, .right), (5, 5, .down), (31, 3, .leftMirrored)].map {
            ImageGeometry(width: $0.0, height: $0.1, cropAndScale: .centerCrop, orientation: $0.2)
        }
    }

    func testFormatsAndPadding() throws {
        let formats: [PixelFormat] = [.rgb8, .bgr8, .rgba8, .bgra8, .argb8, .abgr8]
        try underEveryCeiling { ceiling in
            for (width, height) in [(33, 21), (3, 2), (64, 17)] {
                let plain = try FormulaImage.make(width, height)
                for geometry in geometries {
                    for color in ImageColor.allCases {
                        let preprocessor = ImagePreprocessor(geometry: geometry, color: color)
                        let expected = try run(plain, preprocessor)
                        for format in formats {
                            for padding in [0, 5, 64] {
                                let buffer = PaddedBuffer(width, height, format: format, padding: padding)
                                XCTAssertEqual(
                                    try run(buffer, preprocessor), expected, "\(format) \(width)x\(height) \(geometry) \(color) \(ceiling)")
                            }
                        }
                    }
                    let grey = PaddedBuffer(width, height, format: .gray8, padding: 7)
                    let one = try run(grey, ImagePreprocessor(geometry: geometry, color: .grayscale))
                    XCTAssertEqual(try run(plain, ImagePreprocessor(geometry: geometry, color: .grayscale)), one)
                    XCTAssertEqual(try run(grey, ImagePreprocessor(geometry: geometry, color: .bgr)), one + one + one)
                }
            }
        }
    }

    /// No byte after the last pixel is read: the last row ends where a page does that may not be touched.
    func testNothingIsReadPastTheEnd() throws {
        let page = Int(getpagesize())
        let pages = try XCTUnwrap(mmap(nil, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
        XCTAssertNotEqual(pages, MAP_FAILED)
        defer { munmap(pages, 3 * page) }
        XCTAssertEqual(mprotect(pages, page, PROT_NONE), 0)
        XCTAssertEqual(mprotect(pages + 2 * page, page, PROT_NONE), 0)
        struct Guarded: PixelSource {
            var view: PixelView
            var embeddedOrientation: ImageOrientation { .up }
            func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result { try body(view) }
        }
        try underEveryCeiling { _ in
            for format in [PixelFormat.gray8, .rgb8, .bgra8] {
                for (width, height) in [(1, 1), (2, 3), (7, 5), (19, 11), (30, 30)] {
                    let count = width * height * format.bytesPerPixel
                    // Once up to the end of the page, once from its beginning.
                    for base in [pages + 2 * page - count, pages + page] {
                        FormulaImage.fill(base, width, height, bytesPerRow: width * format.bytesPerPixel, format: format)
                        let view = try PixelView(
                            format: format, width: width, height: height, base: UnsafeRawPointer(base),
                            bytesPerRow: width * format.bytesPerPixel)
                        let plain = try FormulaImage.make(width, height, format: format == .gray8 ? .gray8 : .rgba8)
                        for geometry in geometries {
                            for color in ImageColor.allCases {
                                let preprocessor = ImagePreprocessor(geometry: geometry, color: color)
                                XCTAssertEqual(try run(Guarded(view: view), preprocessor), try run(plain, preprocessor))
                            }
                        }
                    }
                }
            }
        }
    }

    /// Two planes against BT.601 in double precision.
    func testBiplanarFormats() throws {
        let (width, height) = (21, 13)
        let chromaStride = (width + 1) / 2 * 2 + 6
        let lumaStride = width + 11
        var luma = [UInt8](repeating: 0, count: lumaStride * height)
        var chroma = [UInt8](repeating: 0, count: chromaStride * ((height + 1) / 2))
        for i in luma.indices { luma[i] = UInt8(truncatingIfNeeded: i * 37 + i * i / 5) }
        for i in chroma.indices { chroma[i] = UInt8(truncatingIfNeeded: i * 91 + i * i / 3) }
        try underEveryCeiling { ceiling in
            for format in [PixelFormat.nv12FullRange, .nv12VideoRange] {
                try luma.withUnsafeBytes { luma in
                    try chroma.withUnsafeBytes { chroma in
                        let view = try PixelView(
                            format: format, width: width, height: height, base: XCTUnwrap(luma.baseAddress), bytesPerRow: lumaStride,
                            chromaBase: chroma.baseAddress, chromaBytesPerRow: chromaStride)
                        let rgb = try Image(format: .rgba8, width: width, height: height) { memory, bytesPerRow in
                            for y in 0..<height {
                                for x in 0..<width {
                                    let at = y / 2 * chromaStride + x / 2 * 2
                                    let color = Self.bt601(luma[y * lumaStride + x], chroma[at], chroma[at + 1], video: format == .nv12VideoRange)
                                    for c in 0..<3 { (memory + y * bytesPerRow + 4 * x + c).storeBytes(of: color[c], as: UInt8.self) }
                                }
                            }
                        }
                        for geometry in geometries + [ImageGeometry(width: width, height: height)] {
                            for color in ImageColor.allCases {
                                let preprocessor = ImagePreprocessor(geometry: geometry, color: color)
                                let found = try run(LentPixels(view: view), preprocessor)
                                let expected = try run(rgb, preprocessor)
                                let worst = zip(found, expected).map { abs($0 - $1) }.max() ?? 0
                                XCTAssertLessThanOrEqual(worst, 1, "\(format) \(geometry) \(color) \(ceiling)")
                            }
                        }
                    }
                }
            }
        }
    }

    private static func bt601(_ y: UInt8, _ cb: UInt8, _ cr: UInt8, video: Bool) -> [UInt8] {
        let luma = video ? (Double(y) - 16) * 255 / 219 : Double(y)
        let u = (Double(cb) - 128) * (video ? 255 / 224.0 : 1)
        let v = (Double(cr) - 128) * (video ? 255 / 224.0 : 1)
        return [luma + 1.402 * v, luma - 0.344136 * u - 0.714136 * v, luma + 1.772 * u].map { UInt8(min(max($0.rounded(), 0), 255)) }
    }

    func testImpossibleViewsAreErrors() throws {
        let bytes = [UInt8](repeating: 0, count: 64)
        try bytes.withUnsafeBytes { raw in
            let base = try XCTUnwrap(raw.baseAddress)
            XCTAssertThrowsError(try PixelView(format: .bgra8, width: 4, height: 1, base: base, bytesPerRow: 15))
            XCTAssertThrowsError(try PixelView(format: .bgra8, width: 0, height: 1, base: base, bytesPerRow: 16))
            XCTAssertThrowsError(try PixelView(format: .nv12FullRange, width: 4, height: 1, base: base, bytesPerRow: 4))
            XCTAssertThrowsError(
                try PixelView(
                    format: .nv12FullRange, width: 3, height: 1, base: base, bytesPerRow: 4, chromaBase: base, chromaBytesPerRow: 3))
        }
    }

    /// Pixels written as bytes are the floats, in every format, with the fourth byte opaque and the padding untouched.
    func testBytesOut() throws {
        let source = try FormulaImage.make(31, 22)
        for geometry in geometries + [ImageGeometry(width: 12, height: 20, cropAndScale: .scaleFit)] {
            for format in [PixelFormat.gray8, .rgb8, .bgr8, .rgba8, .bgra8, .argb8, .abgr8] {
                let preprocessor = ImagePreprocessor(geometry: geometry, color: format == .gray8 ? .grayscale : .rgb)
                let floats = try run(source, preprocessor)
                let bytesPerRow = geometry.width * format.bytesPerPixel + 3
                var bytes = [UInt8](repeating: 0x77, count: bytesPerRow * geometry.height)
                try bytes.withUnsafeMutableBytes { try preprocessor.writePixels(source, into: $0, bytesPerRow: bytesPerRow, format: format) }
                let offsets = [format.channelOffsets.red, format.channelOffsets.green, format.channelOffsets.blue]
                let plane = geometry.width * geometry.height
                for y in 0..<geometry.height {
                    for x in 0..<geometry.width {
                        let at = y * bytesPerRow + x * format.bytesPerPixel
                        for c in 0..<preprocessor.color.channelCount {
                            XCTAssertEqual(Float(bytes[at + offsets[c]]), floats[c * plane + y * geometry.width + x])
                        }
                        if let alpha = format.alphaOffset { XCTAssertEqual(bytes[at + alpha], 255) }
                    }
                    XCTAssertEqual(bytes[(y + 1) * bytesPerRow - 3..<(y + 1) * bytesPerRow], [0x77, 0x77, 0x77])
                }
            }
        }
        var small = [UInt8](repeating: 0, count: 10)
        try small.withUnsafeMutableBytes { raw in
            XCTAssertThrowsError(
                try ImagePreprocessor(geometry: ImageGeometry(width: 4, height: 4)).writePixels(source, into: raw, bytesPerRow: 16, format: .bgra8))
        }
    }
}
