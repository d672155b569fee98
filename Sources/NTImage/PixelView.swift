/// Pixels borrowed for the length of a call: where each plane begins and how far apart its rows are.
///
/// The memory belongs to someone else and must neither move nor change while the view is in use.
package struct PixelView {
    package let format: PixelFormat
    /// Columns and rows that are stored.
    package let width: Int
    package let height: Int
    /// First byte of the top row: of all channels, or of luma.
    package let base: UnsafeRawPointer
    package let bytesPerRow: Int
    /// First byte of the top row of interleaved Cb Cr.
    package let chromaBase: UnsafeRawPointer?
    package let chromaBytesPerRow: Int
    /// The part of the stored grid that the picture fills, from the left and the top, in stored pixels: less than the whole
    /// (by under one pixel) when a reduced-size decoder had to round up.
    package let extentWidth: Double
    package let extentHeight: Double

    /// - Throws: `ImageError` for empty or enormous sides, rows too short for the width, or a missing plane.
    package init(
        format: PixelFormat, width: Int, height: Int, base: UnsafeRawPointer, bytesPerRow: Int,
        chromaBase: UnsafeRawPointer? = nil, chromaBytesPerRow: Int = 0, extent: (Double, Double)? = nil
    ) throws {
        let needed = try PixelView.minimumBytesPerRow(format: format, width: width, height: height)
        guard bytesPerRow >= needed else {
            throw ImageError(.invalidArgument, "rows of \(bytesPerRow) bytes for \(width) \(format) pixels; expected at least \(needed)")
        }
        if format.isBiplanar {
            guard chromaBase != nil else { throw ImageError(.invalidArgument, "a \(format) picture without its chroma plane") }
            guard chromaBytesPerRow >= (width + 1) / 2 * 2 else {
                throw ImageError(
                    .invalidArgument, "chroma rows of \(chromaBytesPerRow) bytes; expected at least \((width + 1) / 2 * 2)")
            }
        }
        self.format = format
        self.width = width
        self.height = height
        self.base = base
        self.bytesPerRow = bytesPerRow
        self.chromaBase = chromaBase
        self.chromaBytesPerRow = chromaBytesPerRow
        extentWidth = min(Double(width), max(extent?.0 ?? Double(width), 1e-3))
        extentHeight = min(Double(height), max(extent?.1 ?? Double(height), 1e-3))
    }

    /// The fewest bytes a row of the first plane can have.
    /// - Throws: `ImageError` when a side is not in 1...`ImageLimits.maximumSide` or the product is over the pixel limit.
    package static func minimumBytesPerRow(format: PixelFormat, width: Int, height: Int) throws -> Int {
        guard width > 0, height > 0 else {
            throw ImageError(.invalidArgument, "a picture of \(width) x \(height) pixels; expected at least 1 x 1")
        }
        guard width <= ImageLimits.maximumSide, height <= ImageLimits.maximumSide, width * height <= ImageLimits.maximumPixelCount else {
            throw ImageError(
                .tooLarge, "\(width) x \(height) pixels; the limit is \(ImageLimits.maximumPixelCount) pixels")
        }
        return width * format.bytesPerPixel
    }
}
