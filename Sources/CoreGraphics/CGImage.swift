import Foundation
import NTImage

/// An immutable bitmap. Sendable; shares its memory with the images cropped from it.
public final class CGImage: Sendable {
    /// What holds the pixels.
    enum Backing: Sendable {
        case decoded(Image)
        case bytes(Data)
    }

    public let width: Int
    public let height: Int
    public let bitsPerComponent: Int
    public let bitsPerPixel: Int
    public let bytesPerRow: Int
    public let colorSpace: CGColorSpace?
    public let bitmapInfo: CGBitmapInfo
    public let shouldInterpolate: Bool
    public let renderingIntent: CGColorRenderingIntent
    let backing: Backing
    /// Where the first pixel lies in the backing.
    let originX: Int
    let originY: Int

    /// Alpha's place.
    public var alphaInfo: CGImageAlphaInfo { bitmapInfo.alphaInfo }

    /// Bits per pixel component, layout and bytes as on Apple's systems; nil when the sizes do not fit together or the provider has too
    /// few bytes. `decode` is accepted and must be nil to have a meaning.
    public init?(
        width: Int, height: Int, bitsPerComponent: Int, bitsPerPixel: Int, bytesPerRow: Int, space: CGColorSpace,
        bitmapInfo: CGBitmapInfo, provider: CGDataProvider, decode: UnsafePointer<CGFloat>?, shouldInterpolate: Bool,
        intent: CGColorRenderingIntent
    ) {
        guard width > 0, height > 0, [8, 16].contains(bitsPerComponent), bitsPerPixel % 8 == 0,
            (1...4).contains(bitsPerPixel / bitsPerComponent), decode == nil,
            (try? PixelView.minimumBytesPerRow(format: .gray8, width: width, height: height)) != nil
        else { return nil }
        let needed = width * (bitsPerPixel / 8)
        let (before, overflow) = bytesPerRow.multipliedReportingOverflow(by: height - 1)
        guard bytesPerRow >= needed, !overflow, provider.bytes.count >= needed, before <= provider.bytes.count - needed else { return nil }
        (self.width, self.height, self.bytesPerRow) = (width, height, bytesPerRow)
        (self.bitsPerComponent, self.bitsPerPixel) = (bitsPerComponent, bitsPerPixel)
        (colorSpace, self.bitmapInfo, self.shouldInterpolate, renderingIntent) = (space, bitmapInfo, shouldInterpolate, intent)
        backing = .bytes(provider.bytes)
        (originX, originY) = (0, 0)
    }

    /// A decoded picture as it is; its own orientation is not applied.
    package init(_ image: Image) {
        (width, height, bytesPerRow) = (image.width, image.height, image.bytesPerRow)
        (bitsPerComponent, bitsPerPixel) = (8, 8 * image.format.bytesPerPixel)
        (colorSpace, bitmapInfo) = CGImage.description(of: image.format)
        (shouldInterpolate, renderingIntent) = (true, .defaultIntent)
        backing = .decoded(image)
        (originX, originY) = (0, 0)
    }

    private init(_ image: CGImage, x: Int, y: Int, width: Int, height: Int) {
        (self.width, self.height, bytesPerRow) = (width, height, image.bytesPerRow)
        (bitsPerComponent, bitsPerPixel) = (image.bitsPerComponent, image.bitsPerPixel)
        (colorSpace, bitmapInfo, shouldInterpolate) = (image.colorSpace, image.bitmapInfo, image.shouldInterpolate)
        (renderingIntent, backing) = (image.renderingIntent, image.backing)
        (originX, originY) = (image.originX + x, image.originY + y)
    }

    /// The part inside `rect` (pixels, origin at the top left), edges moved outwards to whole pixels; nil when there is none.
    public func cropping(to rect: CGRect) -> CGImage? {
        let part = rect.standardized.integral.intersection(CGRect(x: 0, y: 0, width: width, height: height))
        guard !part.isNull, part.width >= 1, part.height >= 1 else { return nil }
        return CGImage(self, x: Int(part.minX), y: Int(part.minY), width: Int(part.width), height: Int(part.height))
    }

    /// An image of its own memory with the same pixels.
    public func copy() -> CGImage? { self }

    /// The pixels' bytes: `height` rows of `bytesPerRow`, of the whole image that this one was cropped from no more than its own rows.
    public var dataProvider: CGDataProvider? {
        let skipped = originY * bytesPerRow + originX * (bitsPerPixel / 8)
        let count = (height - 1) * bytesPerRow + width * (bitsPerPixel / 8)
        return withBacking { bytes in
            guard skipped + count <= bytes.count else { return nil }
            let whole = min(height * bytesPerRow, bytes.count - skipped)
            return CGDataProvider(Data(UnsafeRawBufferPointer(rebasing: bytes[skipped..<skipped + whole])))
        }
    }

    func withBacking<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        switch backing {
        case .bytes(let data): try data.withUnsafeBytes(body)
        case .decoded(let image): try image.withBytes(body)
        }
    }

    private static func description(of format: PixelFormat) -> (CGColorSpace, CGBitmapInfo) {
        let rgb = CGColorSpaceCreateDeviceRGB()
        switch format {
        case .gray8, .nv12FullRange, .nv12VideoRange: return (CGColorSpaceCreateDeviceGray(), [])
        case .rgb8, .bgr8: return (rgb, [])
        case .rgba8: return (rgb, CGBitmapInfo(alpha: .noneSkipLast))
        case .argb8: return (rgb, CGBitmapInfo(alpha: .noneSkipFirst))
        case .bgra8: return (rgb, CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue))
        case .abgr8: return (rgb, CGBitmapInfo(rawValue: CGImageAlphaInfo.noneSkipLast.rawValue | CGBitmapInfo.byteOrder32Little.rawValue))
        }
    }
}
