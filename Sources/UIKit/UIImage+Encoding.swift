import Foundation
import ImageIO

extension UIImage {
    /// The bitmap as a JPEG file with the image's orientation, white where it is transparent; nil when the image was made from a `CIImage` or cannot be
    /// encoded. `compressionQuality` runs from 0, the smallest file, to 1, the best.
    public func jpegData(compressionQuality: CGFloat) -> Data? {
        try? cgImage?.jpegData(
            quality: Double(compressionQuality), orientation: CGImagePropertyOrientation(imageOrientation).imageOrientation)
    }

    /// The bitmap as a PNG file, with alpha when it has any; nil when the image was made from a `CIImage` or cannot be encoded. The file does not tell
    /// the orientation: draw the image first to turn its pixels.
    public func pngData() -> Data? { try? cgImage?.pngData() }
}
