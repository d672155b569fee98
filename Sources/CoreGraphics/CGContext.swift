import Foundation
import NTImage

/// A bitmap to draw pictures and plain rectangles into: 8-bit grey or four bytes a pixel. Not thread-safe.
///
/// The origin is the lower-left corner. Pictures are drawn opaque: alpha is not blended.
public final class CGContext {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int
    public let bitsPerComponent = 8
    public let colorSpace: CGColorSpace?
    public let bitmapInfo: CGBitmapInfo
    /// Accepted; drawing always uses the antialiased linear filter.
    public var interpolationQuality = CGInterpolationQuality.default
    /// From user space to pixels counted from the lower-left corner.
    public private(set) var ctm = CGAffineTransform.identity
    private var saved: [CGAffineTransform] = []
    private var fillColor: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 255)
    let format: PixelFormat
    private let memory: UnsafeMutableRawPointer
    private let ownsMemory: Bool

    /// Draws into `data`, which must hold `height` rows and outlive the context, or into memory of its own, zeroed. `bytesPerRow` 0
    /// chooses one. Nil for layouts other than 8-bit grey and 32-bit colour, and for impossible sizes.
    public init?(
        data: UnsafeMutableRawPointer?, width: Int, height: Int, bitsPerComponent: Int, bytesPerRow: Int, space: CGColorSpace?,
        bitmapInfo: UInt32
    ) {
        let info = CGBitmapInfo(rawValue: bitmapInfo)
        let little = info.byteOrder == .byteOrder32Little
        switch (space?.model ?? .monochrome, info.alphaInfo) {
        case (.monochrome, .none), (.monochrome, .alphaOnly): format = .gray8
        case (.rgb, .premultipliedLast), (.rgb, .noneSkipLast), (.rgb, .last): format = little ? .abgr8 : .rgba8
        case (.rgb, .premultipliedFirst), (.rgb, .noneSkipFirst), (.rgb, .first): format = little ? .bgra8 : .argb8
        default: return nil
        }
        guard bitsPerComponent == 8, let needed = try? PixelView.minimumBytesPerRow(format: format, width: width, height: height)
        else { return nil }
        let stride = bytesPerRow == 0 ? (needed + 63) / 64 * 64 : bytesPerRow
        let (total, overflow) = stride.multipliedReportingOverflow(by: height)
        guard stride >= needed, !overflow else { return nil }
        (self.width, self.height, self.bytesPerRow) = (width, height, stride)
        (colorSpace, self.bitmapInfo) = (space, info)
        ownsMemory = data == nil
        memory = data ?? .allocate(byteCount: total, alignment: 64)
        if data == nil { memory.initializeMemory(as: UInt8.self, repeating: 0, count: total) }
    }

    deinit { if ownsMemory { memory.deallocate() } }

    /// The first byte of the top row.
    public var data: UnsafeMutableRawPointer? { memory }

    /// Pushes the transform.
    public func saveGState() { saved.append(ctm) }
    /// Pops the transform.
    public func restoreGState() { ctm = saved.popLast() ?? ctm }
    public func translateBy(x: CGFloat, y: CGFloat) { ctm = ctm.translatedBy(x: x, y: y) }
    public func scaleBy(x: CGFloat, y: CGFloat) { ctm = ctm.scaledBy(x: x, y: y) }
    public func rotate(by angle: CGFloat) { ctm = ctm.rotated(by: angle) }
    public func concatenate(_ transform: CGAffineTransform) { ctm = transform.concatenating(ctm) }

    /// Sets the colour of `fill`, components 0...1.
    public func setFillColor(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        func byte(_ value: CGFloat) -> UInt8 { value.isFinite ? UInt8((min(max(value, 0), 1) * 255).rounded()) : 0 }
        fillColor = (byte(red), byte(green), byte(blue), byte(alpha))
    }
    public func setFillColor(gray: CGFloat, alpha: CGFloat) { setFillColor(red: gray, green: gray, blue: gray, alpha: alpha) }

    /// Fills the rectangle around the image of `rect` with the fill colour, opaque.
    public func fill(_ rect: CGRect) {
        guard let (columns, rows) = pixels(of: rect.standardized.applying(ctm)) else { return }
        for y in rows { for x in columns { set(x, y, fillColor) } }
    }

    /// Makes all bytes of a rectangle 0.
    public func clear(_ rect: CGRect) {
        guard let (columns, rows) = pixels(of: rect.standardized.applying(ctm)) else { return }
        let bytes = format.bytesPerPixel
        for y in rows {
            (memory + y * bytesPerRow + columns.lowerBound * bytes).initializeMemory(as: UInt8.self, repeating: 0, count: columns.count * bytes)
        }
    }

    /// Draws the whole image into a rectangle of user space. An image that cannot be read draws nothing.
    public func draw(_ image: CGImage, in rect: CGRect) {
        try? draw(image, width: image.width, height: image.height, in: rect)
    }

    /// Draws any source, as `draw(_:in:)`.
    /// - Throws: `ImageError`.
    package func draw(_ source: some PixelSource, width sourceWidth: Int, height sourceHeight: Int, in rect: CGRect) throws {
        let rect = rect.standardized
        let place = CGAffineTransform(scaleX: rect.width / CGFloat(sourceWidth), y: rect.height / CGFloat(sourceHeight))
            .concatenating(CGAffineTransform(translationX: rect.minX, y: rect.minY)).concatenating(ctm)
        guard let (columns, rows) = pixels(of: rect.applying(ctm)) else { return }
        let region = CGRect(
            x: CGFloat(columns.lowerBound), y: CGFloat(height - rows.upperBound), width: CGFloat(columns.count), height: CGFloat(rows.count))
        let drawn = try AffineDrawing.render(source, width: sourceWidth, height: sourceHeight, transform: place, region: region)
        drawn.withBytes { bytes in
            for y in rows {
                for x in columns {
                    let at = (y - rows.lowerBound) * drawn.bytesPerRow + 4 * (x - columns.lowerBound)
                    if bytes[at + 3] != 0 { set(x, y, (bytes[at], bytes[at + 1], bytes[at + 2], 255)) }
                }
            }
        }
    }

    /// A copy of the pixels as they are now.
    public func makeImage() -> CGImage? {
        let copy = Data(bytes: memory, count: bytesPerRow * (height - 1) + width * format.bytesPerPixel)
        return CGImage(
            width: width, height: height, bitsPerComponent: 8, bitsPerPixel: 8 * format.bytesPerPixel, bytesPerRow: bytesPerRow,
            space: colorSpace ?? CGColorSpaceCreateDeviceGray(), bitmapInfo: bitmapInfo, provider: CGDataProvider(copy), decode: nil,
            shouldInterpolate: true, intent: .defaultIntent)
    }

    /// The pixels a device rectangle touches by half or more.
    private func pixels(of rect: CGRect) -> (Range<Int>, Range<Int>)? {
        let part = rect.intersection(CGRect(x: 0, y: 0, width: width, height: height))
        guard !part.isNull, part.minX.isFinite else { return nil }
        let (left, right) = (Int(part.minX.rounded()), Int(part.maxX.rounded()))
        let (top, bottom) = (height - Int(part.maxY.rounded()), height - Int(part.minY.rounded()))
        guard left < right, top < bottom else { return nil }
        return (left..<right, top..<bottom)
    }

    private func set(_ x: Int, _ y: Int, _ color: (UInt8, UInt8, UInt8, UInt8)) {
        let p = (memory + y * bytesPerRow + x * format.bytesPerPixel).assumingMemoryBound(to: UInt8.self)
        if format == .gray8 {
            let (red, green, blue): (Int, Int, Int) = (Int(color.0) * 19595, Int(color.1) * 38470, Int(color.2) * 7471)
            p[0] = UInt8((red + green + blue + 32768) >> 16)
            return
        }
        let offsets = format.channelOffsets
        (p[offsets.red], p[offsets.green], p[offsets.blue]) = (color.0, color.1, color.2)
        if let alpha = format.alphaOffset { p[alpha] = color.3 }
    }
}
