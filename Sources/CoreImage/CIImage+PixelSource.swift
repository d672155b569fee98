import CoreGraphics
import CoreVideo
import Foundation
import NTImage

extension CIImage: PixelSource {
    /// The image is what it says it is: nothing more has to be turned.
    package var embeddedOrientation: ImageOrientation { .up }

    /// The whole bitmap turned by right angles, at its own size, needs no rendering: the preprocessor turns it.
    package var storedOrientation: ImageOrientation { simpleOrientation ?? .up }

    /// The bitmap's size.
    var baseSize: (width: Int, height: Int) {
        switch base {
        case .image(let image): (image.width, image.height)
        case .buffer(let buffer): buffer.pixelSize
        }
    }

    /// The bitmap's place in the plane.
    private var placed: CGRect { CGRect(x: 0, y: 0, width: baseSize.width, height: baseSize.height).applying(transform) }

    /// Nothing cropped, moved, scaled or turned.
    var isWholeBase: Bool { transform.isIdentity && placed == extent }

    /// The orientation, when that and a shift are all that was done to the bitmap.
    private var simpleOrientation: ImageOrientation? {
        guard [transform.a, transform.b, transform.c, transform.d].allSatisfy({ abs($0) == 1 || $0 == 0 }), placed == extent else { return nil }
        return transform.orientation
    }

    package func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        guard simpleOrientation != nil else { return try rendered(extent).withPixels(for: geometry, body) }
        switch base {
        case .image(let image): return try image.withPixels(for: geometry, body)
        case .buffer(let buffer): return try buffer.withPixels(for: geometry, body)
        }
    }

    /// The pixels of a region of the plane, as `AffineDrawing.render` gives them.
    /// - Throws: `ImageError`.
    package func rendered(_ region: CGRect) throws -> Image {
        guard !extent.isNull, !extent.isEmpty else { throw ImageError(.invalidArgument, "an image of empty extent") }
        let size = baseSize
        let visible = region.intersection(extent)
        guard visible != region, !visible.isNull else { return try renderedBase(region, size) }
        // The extent cuts the region: draw the part that is left into a transparent whole.
        let part = try CIImage(cgImage: CGImage(renderedBase(visible, size)))
            .transformed(by: CGAffineTransform(translationX: visible.minX, y: visible.minY))
        return try part.renderedBase(region, part.baseSize)
    }

    private func renderedBase(_ region: CGRect, _ size: (width: Int, height: Int)) throws -> Image {
        switch base {
        case .image(let image):
            try AffineDrawing.render(image, width: size.width, height: size.height, transform: transform, region: region)
        case .buffer(let buffer):
            try AffineDrawing.render(buffer, width: size.width, height: size.height, transform: transform, region: region)
        }
    }
}
