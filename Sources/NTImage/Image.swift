import CNTPlatform

/// An immutable decoded picture. Reference-counted, safe to share between threads.
package final class Image: Sendable, PixelSource {
    package let format: PixelFormat
    /// Stored columns and rows.
    package let width: Int
    package let height: Int
    /// Distance between rows of the first plane.
    package let bytesPerRow: Int
    /// The size of the picture in the file; larger than the stored one when it was decoded at reduced size.
    package let originalWidth: Int
    package let originalHeight: Int
    package let embeddedOrientation: ImageOrientation
    private let extent: (Double, Double)
    private nonisolated(unsafe) let storage: UnsafeMutableRawPointer

    /// Allocates and lets `fill` write all rows; what it leaves is zero only where it says so.
    /// - Throws: `ImageError` for an impossible size, lack of memory, and whatever `fill` throws.
    package init(
        format: PixelFormat, width: Int, height: Int, originalSize: (width: Int, height: Int)? = nil,
        extent: (Double, Double)? = nil, orientation: ImageOrientation = .up,
        fill: (UnsafeMutableRawPointer, _ bytesPerRow: Int) throws -> Void
    ) throws {
        precondition(!format.isBiplanar, "pictures of two planes stay in their buffers")
        bytesPerRow = try PixelView.minimumBytesPerRow(format: format, width: width, height: height)
        guard let memory = nt_aligned_alloc(64, bytesPerRow * height) else {
            throw ImageError(.outOfMemory, "no memory for \(width) x \(height) pixels")
        }
        self.format = format
        self.width = width
        self.height = height
        originalWidth = originalSize?.width ?? width
        originalHeight = originalSize?.height ?? height
        self.extent = extent ?? (Double(width), Double(height))
        embeddedOrientation = orientation
        storage = memory
        try fill(memory, bytesPerRow)
    }

    deinit { nt_aligned_free(storage) }

    package func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
        try body(
            PixelView(
                format: format, width: width, height: height, base: UnsafeRawPointer(storage), bytesPerRow: bytesPerRow, extent: extent))
    }

    /// Lends all stored bytes: `height` rows of `bytesPerRow`.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: storage, count: bytesPerRow * height))
    }
}
