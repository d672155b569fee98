import CoreGraphics
import CoreImage
import Foundation

/// The contexts that drawing goes to, a stack for each thread.
private enum ContextStack {
    private static let key = "Needletail.UIKit.contexts"

    final class Entry {
        let context: CGContext
        let scale: CGFloat
        init(_ context: CGContext, scale: CGFloat) { (self.context, self.scale) = (context, scale) }
    }

    static var entries: [Entry] {
        get { Thread.current.threadDictionary[key] as? [Entry] ?? [] }
        set { Thread.current.threadDictionary[key] = newValue }
    }
}

/// Makes a bitmap context of `size` points, origin at the top left, current. A scale of 0 is 1. An impossible size makes none.
public func UIGraphicsBeginImageContextWithOptions(_ size: CGSize, _ opaque: Bool, _ scale: CGFloat) {
    let scale = scale > 0 && scale.isFinite ? scale : 1
    guard let width = Int(exactly: (size.width * scale).rounded(.up)), let height = Int(exactly: (size.height * scale).rounded(.up)),
        let context = CGContext(
            data: nil, width: width, height: height, bitsPerComponent: 8, bytesPerRow: 0, space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.premultipliedFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue)
    else { return }
    context.translateBy(x: 0, y: CGFloat(height))
    context.scaleBy(x: scale, y: -scale)
    if opaque { context.fill(CGRect(origin: .zero, size: size)) }
    ContextStack.entries.append(.init(context, scale: scale))
}

/// As `UIGraphicsBeginImageContextWithOptions`, not opaque, at scale 1.
public func UIGraphicsBeginImageContext(_ size: CGSize) { UIGraphicsBeginImageContextWithOptions(size, false, 1) }

/// The current context's pixels.
public func UIGraphicsGetImageFromCurrentImageContext() -> UIImage? {
    guard let entry = ContextStack.entries.last, let image = entry.context.makeImage() else { return nil }
    return UIImage(cgImage: image, scale: entry.scale, orientation: .up)
}

/// Removes the current context.
public func UIGraphicsEndImageContext() { UIGraphicsPopContext() }

/// The current context.
public func UIGraphicsGetCurrentContext() -> CGContext? { ContextStack.entries.last?.context }

/// Makes a context current.
public func UIGraphicsPushContext(_ context: CGContext) { ContextStack.entries.append(.init(context, scale: 1)) }

/// Makes the one before current again.
public func UIGraphicsPopContext() { _ = ContextStack.entries.popLast() }

extension UIImage {
    /// Draws the picture upright into a rectangle of the current context, whose y grows downwards.
    public func draw(in rect: CGRect) {
        guard let context = UIGraphicsGetCurrentContext(), let plain = CIImage(image: self) else { return }
        let upright = plain.oriented(CGImagePropertyOrientation(imageOrientation))
        context.saveGState()
        context.translateBy(x: rect.minX, y: rect.maxY)
        context.scaleBy(x: 1, y: -1)
        // A picture that cannot be read draws nothing.
        try? context.draw(
            upright, width: Int(upright.extent.width.rounded()), height: Int(upright.extent.height.rounded()),
            in: CGRect(x: 0, y: 0, width: rect.width, height: rect.height))
        context.restoreGState()
    }

    /// Draws the picture at its own size.
    public func draw(at point: CGPoint) { draw(in: CGRect(origin: point, size: size)) }
}
