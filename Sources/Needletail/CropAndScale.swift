import NTImage

/// How a picture is brought to the size that a model wants.
public enum CropAndScale: String, Sendable, CaseIterable {
    /// Scale so that the short side fits and cut the long one, centred.
    case centerCrop
    /// Scale so that the long side fits, centred; the rest is black.
    case scaleFit
    /// Stretch both sides to fit.
    case scaleFill
    /// Turn by 90 degrees counter-clockwise, then as `scaleFit`.
    case scaleFitRotate90CCW
    /// Turn by 90 degrees counter-clockwise, then as `scaleFill`.
    case scaleFillRotate90CCW

    package var imageOption: NTImage.CropAndScale {
        switch self {
        case .centerCrop: .centerCrop
        case .scaleFit: .scaleFit
        case .scaleFill: .scaleFill
        case .scaleFitRotate90CCW: .scaleFitRotate90CCW
        case .scaleFillRotate90CCW: .scaleFillRotate90CCW
        }
    }
}
