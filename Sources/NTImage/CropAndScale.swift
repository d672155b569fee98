/// How a region is brought to a target of another shape.
package enum CropAndScale: Sendable, Hashable, CaseIterable {
    /// Scale so that the short side fits and cut the long one, centred. Nothing is distorted; the ends are lost.
    case centerCrop
    /// Scale so that the long side fits, centred; the rest is black. Nothing is distorted or lost.
    case scaleFit
    /// Stretch both sides to fit.
    case scaleFill
    /// Turn by 90 degrees counter-clockwise, then as `scaleFit`.
    case scaleFitRotate90CCW
    /// Turn by 90 degrees counter-clockwise, then as `scaleFill`.
    case scaleFillRotate90CCW

    /// Whether the region is turned first.
    package var rotates: Bool { self == .scaleFitRotate90CCW || self == .scaleFillRotate90CCW }
}
