@_exported import CNTAppleTypes
@_exported import CoreGraphics
import NTImage

extension CGImagePropertyOrientation {
    /// As the preprocessor knows it; 0 and anything unknown is up.
    package var imageOrientation: ImageOrientation { ImageOrientation(exif: rawValue) }

    package init(_ orientation: ImageOrientation) {
        self = CGImagePropertyOrientation(rawValue: orientation.rawValue) ?? .up
    }
}
