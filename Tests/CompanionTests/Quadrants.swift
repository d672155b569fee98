import CoreGraphics
import Foundation
import NTImage
import XCTest

/// Pictures of four colours: red top left, green top right, blue bottom left, white bottom right.
enum Quadrants {
    static let colors: [(name: String, bytes: [UInt8])] = [
        ("red", [255, 0, 0]), ("green", [0, 255, 0]), ("blue", [0, 0, 255]), ("white", [255, 255, 255]),
    ]

    static func image(width: Int, height: Int) throws -> CGImage {
        var bytes = Data()
        for y in 0..<height {
            for x in 0..<width {
                bytes.append(contentsOf: colors[(x >= width / 2 ? 1 : 0) + (y >= height / 2 ? 2 : 0)].bytes + [7])
            }
        }
        return try XCTUnwrap(
            CGImage(
                width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 32, bytesPerRow: 4 * width,
                space: CGColorSpaceCreateDeviceRGB(), bitmapInfo: CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipLast.rawValue),
                provider: XCTUnwrap(CGDataProvider(data: bytes as CFData)), decode: nil, shouldInterpolate: false, intent: .defaultIntent))
    }

    /// The names of the colours in the corners, row by row from the top left; "black" for none and "?" for any other colour.
    static func corners(_ source: some PixelSource) throws -> [String] {
        let preprocessor = ImagePreprocessor(geometry: ImageGeometry(width: 16, height: 16))
        var out = [Float](repeating: -1, count: preprocessor.elementCount)
        try out.withUnsafeMutableBufferPointer { try preprocessor.writeInterleaved(source, into: $0) }
        return [(0, 0), (15, 0), (0, 15), (15, 15)].map { x, y in
            let pixel = (0..<3).map { UInt8(out[(y * 16 + x) * 3 + $0]) }
            if pixel == [0, 0, 0] { return "black" }
            return colors.first { $0.bytes == pixel }?.name ?? "?"
        }
    }
}
