import Foundation
import NTImage

extension CGAffineTransform {
    /// The orientation that this map applies to a picture, when it only scales, mirrors and turns by right angles.
    package var orientation: ImageOrientation? {
        // What is left of sines and cosines of right angles counts as nothing.
        let slack = 1e-9 * max(abs(a), abs(b), abs(c), abs(d))
        func snapped(_ value: CGFloat) -> CGFloat { abs(value) > slack ? value : 0 }
        let (a, b, c, d) = (snapped(self.a), snapped(self.b), snapped(self.c), snapped(self.d))
        if b == 0, c == 0, a != 0, d != 0 { return ImageOrientation(transposed: false, flipsX: a < 0, flipsY: d < 0) }
        // y grows upwards here and downwards in pixels, so each exchange of axes also turns one of them round.
        if a == 0, d == 0, b != 0, c != 0 { return ImageOrientation(transposed: true, flipsX: c > 0, flipsY: b > 0) }
        return nil
    }
}

/// Draws pictures through affine maps: antialiased where the map keeps the axes, bilinear where it does not.
package enum AffineDrawing {
    /// What lies in `region` of the plane when `source`, a `width` x `height` picture with its lower-left corner in the origin, is placed by
    /// `transform`. The result has the region's size rounded to whole pixels; the fourth byte is 255 where there is a picture, and
    /// all four are 0 elsewhere.
    /// - Throws: `ImageError`.
    package static func render(
        _ source: some PixelSource, width: Int, height: Int, transform: CGAffineTransform, region: CGRect
    ) throws -> Image {
        guard region.width.isFinite, region.height.isFinite, region.width >= 0.5, region.height >= 0.5, region.width < 1e6, region.height < 1e6
        else {
            throw ImageError(.invalidArgument, "a region of \(region.width) x \(region.height) pixels")
        }
        let size = (width: Int(region.width.rounded()), height: Int(region.height.rounded()))
        let placed = CGRect(x: 0, y: 0, width: CGFloat(width), height: CGFloat(height)).applying(transform)
        guard let orientation = transform.orientation else {
            return try sampled(source, width: width, height: height, transform: transform, region: region, size: size)
        }
        let part = region.intersection(placed)
        let left = part.isNull ? 0 : min(max(Int((part.minX - region.minX).rounded()), 0), size.width)
        let right = part.isNull ? 0 : min(max(Int((part.maxX - region.minX).rounded()), 0), size.width)
        let top = part.isNull ? 0 : min(max(Int((region.maxY - part.maxY).rounded()), 0), size.height)
        let bottom = part.isNull ? 0 : min(max(Int((region.maxY - part.minY).rounded()), 0), size.height)
        return try Image(format: .rgba8, width: size.width, height: size.height) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow * size.height)
            guard left < right, top < bottom else { return }
            let roi = NormalizedRect(
                x: (part.minX - placed.minX) / placed.width, y: (part.minY - placed.minY) / placed.height,
                width: part.width / placed.width, height: part.height / placed.height)
            let geometry = ImageGeometry(
                width: right - left, height: bottom - top, cropAndScale: .scaleFill, regionOfInterest: roi, orientation: orientation)
            let start = memory + top * bytesPerRow + 4 * left
            let all = UnsafeMutableRawBufferPointer(start: start, count: bytesPerRow * (size.height - top) - 4 * left)
            try ImagePreprocessor(geometry: geometry).writePixels(source, into: all, bytesPerRow: bytesPerRow, format: .rgba8)
        }
    }

    /// One bilinear sample for each pixel's centre.
    private static func sampled(
        _ source: some PixelSource, width: Int, height: Int, transform: CGAffineTransform, region: CGRect, size: (width: Int, height: Int)
    ) throws -> Image {
        let determinant = transform.a * transform.d - transform.b * transform.c
        guard determinant.isFinite, determinant != 0 else { throw ImageError(.invalidArgument, "a transform that has no inverse") }
        let back = transform.inverted()
        let upright = try ImagePreprocessor(geometry: ImageGeometry(width: width, height: height)).prepared(source)
        return try Image(format: .rgba8, width: size.width, height: size.height) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow * size.height)
            upright.withBytes { pixels in
                for y in 0..<size.height {
                    for x in 0..<size.width {
                        let point = CGPoint(x: region.minX + CGFloat(x) + 0.5, y: region.maxY - CGFloat(y) - 0.5).applying(back)
                        guard point.x >= 0, point.y >= 0, point.x < CGFloat(width), point.y < CGFloat(height) else { continue }
                        let (u, v) = (point.x - 0.5, CGFloat(height) - point.y - 0.5)
                        let (left, top) = (u.rounded(.down), v.rounded(.down))
                        let (fx, fy) = (u - left, v - top)
                        let (x0, y0) = (min(max(Int(left), 0), width - 1), min(max(Int(top), 0), height - 1))
                        let (x1, y1) = (min(max(Int(left) + 1, 0), width - 1), min(max(Int(top) + 1, 0), height - 1))
                        let out = memory + y * bytesPerRow + 4 * x
                        for c in 0..<3 {
                            func at(_ x: Int, _ y: Int) -> CGFloat { CGFloat(pixels[y * upright.bytesPerRow + 4 * x + c]) }
                            let upper = at(x0, y0) * (1 - fx) + at(x1, y0) * fx
                            let lower = at(x0, y1) * (1 - fx) + at(x1, y1) * fx
                            out.storeBytes(of: UInt8((upper * (1 - fy) + lower * fy).rounded()), toByteOffset: c, as: UInt8.self)
                        }
                        out.storeBytes(of: 255, toByteOffset: 3, as: UInt8.self)
                    }
                }
            }
        }
    }
}
