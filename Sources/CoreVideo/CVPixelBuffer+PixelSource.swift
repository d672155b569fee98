import CoreGraphics
import NTImage

extension CVPixelBuffer: PixelSource {
    /// A pixel buffer carries no orientation.
    package var embeddedOrientation: ImageOrientation { .up }

    /// Columns and rows.
    package var pixelSize: (width: Int, height: Int) { (width, height) }

    /// The code's name for messages, such as 'BGRA'.
    package static func formatName(_ code: OSType) -> String { PixelLayout.name(code) }

    package func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        guard let format = PixelLayout(pixelFormatType)?.format, let first = planes.first else {
            throw ImageError(.unsupported, "a pixel buffer of format \(PixelLayout.name(pixelFormatType)); expected 8-bit components")
        }
        let chroma = format.isBiplanar && planes.count > 1 ? planes[1] : nil
        return try withExtendedLifetime(self) {
            try body(
                PixelView(
                    format: format, width: width, height: height, base: UnsafeRawPointer(first.base), bytesPerRow: first.bytesPerRow,
                    chromaBase: chroma.map { UnsafeRawPointer($0.base) }, chromaBytesPerRow: chroma?.bytesPerRow ?? 0))
        }
    }

    /// Fills this buffer, which must be of one plane and 8-bit components, with a prepared picture of its own size.
    /// - Throws: `ImageError`.
    package func fill(
        from source: some PixelSource, cropAndScale: CropAndScale, regionOfInterest: NormalizedRect = .full, orientation: ImageOrientation? = nil
    ) throws {
        guard let format = PixelLayout(pixelFormatType)?.format, !format.isBiplanar, let plane = planes.first else {
            throw ImageError(.unsupported, "filling a pixel buffer of format \(PixelLayout.name(pixelFormatType))")
        }
        let geometry = ImageGeometry(
            width: width, height: height, cropAndScale: cropAndScale, regionOfInterest: regionOfInterest, orientation: orientation)
        let all = UnsafeMutableRawBufferPointer(start: plane.base, count: (height - 1) * plane.bytesPerRow + width * format.bytesPerPixel)
        try ImagePreprocessor(geometry: geometry, color: format == .gray8 ? .grayscale : .rgb)
            .writePixels(source, into: all, bytesPerRow: plane.bytesPerRow, format: format)
    }
}
