import CNTPlatform
@_exported import CoreGraphics
import Foundation
import NTImage

/// An image buffer; here the only kind of buffer.
public typealias CVImageBuffer = CVPixelBuffer
/// A buffer; here the only kind of buffer.
public typealias CVBuffer = CVPixelBuffer
/// Called when a buffer made from the caller's bytes goes away.
public typealias CVPixelBufferReleaseBytesCallback = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void
/// Called when a buffer made from the caller's planes goes away.
public typealias CVPixelBufferReleasePlanarBytesCallback =
    @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int, Int, UnsafeMutablePointer<UnsafeRawPointer?>?) -> Void

/// Pixels in main memory, one or two planes, rows padded. Reference-counted.
///
/// Any thread may hold it; whoever writes pixels must see to it that no one reads them meanwhile, as on Apple's systems.
public final class CVPixelBuffer: @unchecked Sendable, Hashable {
    struct Plane {
        var base: UnsafeMutableRawPointer
        var width: Int
        var height: Int
        var bytesPerRow: Int
    }

    let width: Int
    let height: Int
    let pixelFormatType: OSType
    let isPlanar: Bool
    let planes: [Plane]
    let byteCount: Int
    private let release: () -> Void

    init(width: Int, height: Int, pixelFormatType: OSType, isPlanar: Bool, planes: [Plane], byteCount: Int, release: @escaping () -> Void) {
        (self.width, self.height, self.pixelFormatType) = (width, height, pixelFormatType)
        (self.isPlanar, self.planes, self.byteCount, self.release) = (isPlanar, planes, byteCount, release)
    }

    deinit { release() }

    public static func == (a: CVPixelBuffer, b: CVPixelBuffer) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Zeroed memory of its own, rows on 64-byte borders.
    /// - Throws: `ImageError`, `.unsupported` for an unknown format.
    package convenience init(width: Int, height: Int, pixelFormatType: OSType) throws {
        guard let layout = PixelLayout(pixelFormatType) else {
            throw ImageError(.unsupported, "pixel format \(PixelLayout.name(pixelFormatType))")
        }
        _ = try PixelView.minimumBytesPerRow(format: .gray8, width: width, height: height)
        func padded(_ count: Int) -> Int { (count + 63) / 64 * 64 }
        let rowBytes = padded(width * layout.bytesPerPixel)
        let chroma = (width: (width + 1) / 2, height: (height + 1) / 2)
        let chromaRowBytes = padded(2 * chroma.width)
        let first = rowBytes * height
        let total = first + (layout.isBiplanar ? chromaRowBytes * chroma.height : 0)
        guard let memory = nt_aligned_alloc(64, total) else { throw ImageError(.outOfMemory, "no memory for a pixel buffer of \(total) bytes") }
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: total)
        var planes = [Plane(base: memory, width: width, height: height, bytesPerRow: rowBytes)]
        if layout.isBiplanar {
            planes.append(Plane(base: memory + first, width: chroma.width, height: chroma.height, bytesPerRow: chromaRowBytes))
        }
        nonisolated(unsafe) let owned = memory
        self.init(
            width: width, height: height, pixelFormatType: pixelFormatType, isPlanar: layout.isBiplanar, planes: planes, byteCount: total
        ) { nt_aligned_free(owned) }
    }
}
