import Foundation
import NTImage

extension CGImage: PixelSource {
    /// A bitmap carries no orientation.
    package var embeddedOrientation: ImageOrientation { .up }

    /// The layout as the preprocessor knows it; nil for 16-bit components and layouts that are not known.
    private var pixelFormat: PixelFormat? {
        guard bitsPerComponent == 8 else { return nil }
        let little = bitmapInfo.byteOrder == .byteOrder32Little
        switch (bitsPerPixel, alphaInfo) {
        case (8, _): return .gray8
        case (24, _): return .rgb8
        case (32, .last), (32, .premultipliedLast), (32, .noneSkipLast): return little ? .abgr8 : .rgba8
        case (32, .first), (32, .premultipliedFirst), (32, .noneSkipFirst): return little ? .bgra8 : .argb8
        default: return nil
        }
    }

    package func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        try withBacking { bytes in
            let skipped = originY * bytesPerRow + originX * (bitsPerPixel / 8)
            guard let base = bytes.baseAddress, skipped < bytes.count else {
                throw ImageError(.invalidArgument, "an image without pixels")
            }
            if let format = pixelFormat {
                return try body(
                    PixelView(format: format, width: width, height: height, base: base + skipped, bytesPerRow: bytesPerRow))
            }
            return try narrowed(base + skipped).withPixels(for: geometry, body)
        }
    }

    /// Components of 16 bits cut to their high bytes; grey with alpha without it.
    private func narrowed(_ base: UnsafeRawPointer) throws -> Image {
        let components = bitsPerPixel / bitsPerComponent
        guard bitmapInfo.isDisjoint(with: .floatComponents), !(components == 4 && alphaInfo == .none) else {
            throw ImageError(.unsupported, "a bitmap of \(components) components of \(bitsPerComponent) bits; expected grey or red, green, blue")
        }
        let step = bitsPerComponent / 8
        let high = step == 2 && bitmapInfo.byteOrder == .byteOrder16Little ? 1 : 0
        let alphaFirst = [.first, .premultipliedFirst, .noneSkipFirst].contains(alphaInfo) ? 1 : 0
        let grey = components <= 2
        return try Image(format: grey ? .gray8 : .rgb8, width: width, height: height) { memory, rowBytes in
            let channels = grey ? 1 : 3
            for y in 0..<height {
                let row = base + y * bytesPerRow
                for x in 0..<width {
                    for c in 0..<channels {
                        let value = row.load(
                            fromByteOffset: ((x * components) + (components > channels ? alphaFirst : 0) + c) * step + high, as: UInt8.self)
                        memory.storeBytes(of: value, toByteOffset: y * rowBytes + x * channels + c, as: UInt8.self)
                    }
                }
            }
        }
    }
}
