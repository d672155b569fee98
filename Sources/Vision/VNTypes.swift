import CoreGraphics
import Foundation
import NTImage

/// A figure from 0 to 1.
public typealias VNConfidence = Float

/// Called when a request is done, on the thread that performs it.
public typealias VNRequestCompletionHandler = (VNRequest, (any Error)?) -> Void

/// How an image is brought to the size that a model wants, numbered as on Apple's systems.
public enum VNImageCropAndScaleOption: UInt, Sendable, CaseIterable {
    /// Scale so that the short side fits and cut the long one, centred.
    case centerCrop = 0
    /// Scale so that the long side fits, centred; the model sees black in the rest.
    case scaleFit = 1
    /// Stretch both sides to fit.
    case scaleFill = 2
    /// Turn by 90 degrees counter-clockwise, then as `scaleFit`.
    case scaleFitRotate90CCW = 257
    /// Turn by 90 degrees counter-clockwise, then as `scaleFill`.
    case scaleFillRotate90CCW = 258

    var imageOption: CropAndScale {
        switch self {
        case .centerCrop: .centerCrop
        case .scaleFit: .scaleFit
        case .scaleFill: .scaleFill
        case .scaleFitRotate90CCW: .scaleFitRotate90CCW
        case .scaleFillRotate90CCW: .scaleFillRotate90CCW
        }
    }
}

/// Keys of the options that image handlers take. All are accepted; none changes a classification.
public struct VNImageOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let properties = VNImageOption(rawValue: "VNImageOptionProperties")
    public static let cameraIntrinsics = VNImageOption(rawValue: "VNImageOptionCameraIntrinsics")
    public static let ciContext = VNImageOption(rawValue: "VNImageOptionCIContext")
}

/// The whole image.
public let VNNormalizedIdentityRect = CGRect(x: 0, y: 0, width: 1, height: 1)

/// The first revision of `VNCoreMLRequest`.
public let VNCoreMLRequestRevision1 = 1
