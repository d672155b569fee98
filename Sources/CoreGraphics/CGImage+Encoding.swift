import Foundation
import NTImage

extension CGImage {
    /// The bitmap as a JPEG file, white where it is transparent. `quality` from 0 to 1, `orientation` as EXIF counts it. Throws `ImageError`.
    package func jpegData(quality: Double, orientation: ImageOrientation = .up) throws -> Data {
        try ImageEncoder.jpeg(try plainPixels(keepsAlpha: false), quality: quality, orientation: orientation)
    }

    /// The bitmap as a PNG file of 8 bits a channel, with alpha when it has any. `orientation` as EXIF counts it. Throws `ImageError`.
    package func pngData(orientation: ImageOrientation = .up) throws -> Data {
        try ImageEncoder.png(try plainPixels(keepsAlpha: true), orientation: orientation)
    }

    /// The pixels in grey, RGB, or RGBA with colours that are not multiplied by alpha. Without alpha, laid over white.
    private func plainPixels(keepsAlpha: Bool) throws -> Image {
        let multiplied = [.premultipliedFirst, .premultipliedLast].contains(alphaInfo)
        return try withPixels(for: nil) { view in
            let hasAlpha = view.format.alphaOffset != nil && (multiplied || [.first, .last].contains(alphaInfo))
            let format: PixelFormat = view.format == .gray8 ? .gray8 : hasAlpha && keepsAlpha ? .rgba8 : .rgb8
            return try Image(format: format, width: view.width, height: view.height) { memory, rowBytes in
                for y in 0..<view.height {
                    let from = view.base + y * view.bytesPerRow
                    let to = memory + y * rowBytes
                    if format == .gray8 {
                        to.copyMemory(from: from, byteCount: view.width)
                    } else {
                        Self.copyRow(
                            from, to, view, alpha: hasAlpha ? view.format.alphaOffset : nil, isMultiplied: multiplied, keepsAlpha: keepsAlpha)
                    }
                }
            }
        }
    }

    private static func copyRow(
        _ from: UnsafeRawPointer, _ to: UnsafeMutableRawPointer, _ view: PixelView, alpha: Int?, isMultiplied: Bool, keepsAlpha: Bool
    ) {
        let (red, green, blue) = view.format.channelOffsets
        let (step, channels) = (view.format.bytesPerPixel, alpha != nil && keepsAlpha ? 4 : 3)
        for x in 0..<view.width {
            let (pixel, target) = (from + x * step, to + x * channels)
            let opacity = alpha.map { Int(pixel.load(fromByteOffset: $0, as: UInt8.self)) } ?? 255
            for (place, offset) in [red, green, blue].enumerated() {
                var value = Int(pixel.load(fromByteOffset: offset, as: UInt8.self))
                if opacity < 255 {
                    if keepsAlpha {
                        if isMultiplied { value = opacity == 0 ? 0 : min(255, (value * 255 + opacity / 2) / opacity) }
                    } else {
                        value = min(255, (isMultiplied ? value : (value * opacity + 127) / 255) + 255 - opacity)
                    }
                }
                target.storeBytes(of: UInt8(value), toByteOffset: place, as: UInt8.self)
            }
            if channels == 4 { target.storeBytes(of: UInt8(opacity), toByteOffset: 3, as: UInt8.self) }
        }
    }
}
