import Foundation
import NTImage
import TestSupport
import XCTest

/// Pictures made by formula, the same that the fixtures' script makes, in any pixel format and with any padding.
enum FormulaImage {
    /// Channel `c` (red 0, green 1, blue 2) at (x, y).
    static func value(_ x: Int, _ y: Int, _ c: Int) -> UInt8 {
        let (square, other): (Int, Int) = (x * x * 3, y * y * 5)
        let sum: Int = square + other + x * y + c * 89
        return UInt8(truncatingIfNeeded: sum >> 2)
    }

    static func make(_ width: Int, _ height: Int, format: PixelFormat = .rgba8) throws -> Image {
        try Image(format: format, width: width, height: height) { memory, bytesPerRow in
            fill(memory, width, height, bytesPerRow: bytesPerRow, format: format)
        }
    }

    /// Writes the picture; fourth bytes get noise, which nobody may look at. Grey takes the luma.
    static func fill(_ memory: UnsafeMutableRawPointer, _ width: Int, _ height: Int, bytesPerRow: Int, format: PixelFormat) {
        let offsets = format.channelOffsets
        for y in 0..<height {
            for x in 0..<width {
                let p = (memory + y * bytesPerRow + x * format.bytesPerPixel).assumingMemoryBound(to: UInt8.self)
                let (r, g, b) = (value(x, y, 0), value(x, y, 1), value(x, y, 2))
                if format == .gray8 {
                    p[0] = luma(r, g, b)
                    continue
                }
                if let alpha = format.alphaOffset { p[alpha] = UInt8(truncatingIfNeeded: x * 31 + y * 17) }
                p[offsets.red] = r
                p[offsets.green] = g
                p[offsets.blue] = b
            }
        }
    }

    static func luma(_ r: UInt8, _ g: UInt8, _ b: UInt8) -> UInt8 {
        let (red, green, blue): (Int, Int, Int) = (Int(r) * 19595, Int(g) * 38470, Int(b) * 7471)
        return UInt8((red + green + blue + 32768) >> 16)
    }
}

/// Pixels in caller-owned memory between poisoned margins: rows padded, slack before and after.
final class PaddedBuffer: PixelSource {
    let format: PixelFormat
    let width: Int
    let height: Int
    let bytesPerRow: Int
    let memory: UnsafeMutableRawBufferPointer
    let embeddedOrientation = ImageOrientation.up

    init(_ width: Int, _ height: Int, format: PixelFormat, padding: Int, slack: Int = 64) {
        self.format = format
        self.width = width
        self.height = height
        let packed: Int = width * format.bytesPerPixel
        bytesPerRow = packed + padding
        memory = .allocate(byteCount: bytesPerRow * height + slack, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0xa5)
        if let base = memory.baseAddress, !format.isBiplanar {
            FormulaImage.fill(base, width, height, bytesPerRow: bytesPerRow, format: format)
        }
    }

    deinit { memory.deallocate() }

    func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        try body(
            PixelView(
                format: format, width: width, height: height, base: UnsafeRawPointer(XCTUnwrap(memory.baseAddress)),
                bytesPerRow: bytesPerRow))
    }
}

/// Pixels that someone else keeps.
struct LentPixels: PixelSource {
    var view: PixelView
    var embeddedOrientation: ImageOrientation { .up }
    func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result { try body(view) }
}

enum Fixture {
    static let folder = Fixtures.folder.appendingPathComponent("NTImage")

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent(name))
    }

    static func cases<Case: Decodable>(_ name: String, as type: Case.Type) throws -> [Case] {
        try JSONDecoder().decode([Case].self, from: data(name))
    }
}

/// Runs `body` under every ceiling of instruction sets, and lifts the ceiling afterwards.
func underEveryCeiling(_ body: (String) throws -> Void) rethrows {
    defer { setCeiling(UInt32.max) }
    for (name, ceiling) in ceilings {
        setCeiling(ceiling)
        try body(name)
    }
}
