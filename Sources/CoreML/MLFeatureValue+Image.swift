import CoreGraphics
import CoreVideo
import Foundation
import ImageIO
import NTImage

/// How `MLFeatureValue` makes an image value.
public struct MLFeatureValueImageOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A `CGRect` in fractions of the upright image, origin at the lower left.
    public static let cropRect = MLFeatureValueImageOption(rawValue: "MLFeatureValueImageOptionCropRect")
    /// A `VNImageCropAndScaleOption`, or its raw value. Without it the image is stretched.
    public static let cropAndScale = MLFeatureValueImageOption(rawValue: "MLFeatureValueImageOptionCropAndScale")
}

extension MLFeatureValue {
    public typealias ImageOption = MLFeatureValueImageOption

    /// An image brought to the size and format of `constraint`. Throws `MLModelError` when it cannot be.
    public convenience init(
        cgImage: CGImage, constraint: MLImageConstraint, options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(cgImage: cgImage, orientation: .up, constraint: constraint, options: options)
    }

    /// The same for an image that is to be turned upright first.
    public convenience init(
        cgImage: CGImage, orientation: CGImagePropertyOrientation, constraint: MLImageConstraint,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(
            cgImage: cgImage, orientation: orientation, pixelsWide: constraint.pixelsWide, pixelsHigh: constraint.pixelsHigh,
            pixelFormatType: constraint.pixelFormatType, options: options)
    }

    /// An image brought to a size and format.
    public convenience init(
        cgImage: CGImage, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(
            cgImage: cgImage, orientation: .up, pixelsWide: pixelsWide, pixelsHigh: pixelsHigh,
            pixelFormatType: pixelFormatType, options: options)
    }

    /// The same for an image that is to be turned upright first.
    public convenience init(
        cgImage: CGImage, orientation: CGImagePropertyOrientation, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        self.init(
            pixelBuffer: try Self.buffer(cgImage, orientation.imageOrientation, pixelsWide, pixelsHigh, pixelFormatType, options))
    }

    /// An image file, turned upright as its EXIF says, brought to the size and format of `constraint`.
    public convenience init(
        imageAt url: URL, constraint: MLImageConstraint, options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(
            imageAt: url, pixelsWide: constraint.pixelsWide, pixelsHigh: constraint.pixelsHigh,
            pixelFormatType: constraint.pixelFormatType, options: options)
    }

    /// The same with an orientation that replaces the file's.
    public convenience init(
        imageAt url: URL, orientation: CGImagePropertyOrientation, constraint: MLImageConstraint,
        options: [ImageOption: Any]? = nil
    ) throws {
        try self.init(
            imageAt: url, orientation: orientation, pixelsWide: constraint.pixelsWide, pixelsHigh: constraint.pixelsHigh,
            pixelFormatType: constraint.pixelFormatType, options: options)
    }

    /// An image file, turned upright as its EXIF says, brought to a size and format.
    public convenience init(
        imageAt url: URL, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType, options: [ImageOption: Any]? = nil
    ) throws {
        let image = try MLModel.translating(.io) { try EncodedImage(contentsOf: url) }
        self.init(pixelBuffer: try Self.buffer(image, nil, pixelsWide, pixelsHigh, pixelFormatType, options))
    }

    /// The same with an orientation that replaces the file's.
    public convenience init(
        imageAt url: URL, orientation: CGImagePropertyOrientation, pixelsWide: Int, pixelsHigh: Int, pixelFormatType: OSType,
        options: [ImageOption: Any]? = nil
    ) throws {
        let image = try MLModel.translating(.io) { try EncodedImage(contentsOf: url) }
        self.init(
            pixelBuffer: try Self.buffer(image, orientation.imageOrientation, pixelsWide, pixelsHigh, pixelFormatType, options))
    }

    private static func buffer(
        _ source: some PixelSource, _ orientation: ImageOrientation?, _ width: Int, _ height: Int, _ format: OSType,
        _ options: [ImageOption: Any]?
    ) throws -> CVPixelBuffer {
        var region = NormalizedRect.full
        if let rect = options?[.cropRect] as? CGRect {
            region = NormalizedRect(
                x: Double(rect.origin.x), y: Double(rect.origin.y), width: Double(rect.size.width), height: Double(rect.size.height))
        }
        return try MLModel.translating(.generic) {
            let buffer = try CVPixelBuffer(width: width, height: height, pixelFormatType: format)
            try buffer.fill(
                from: source, cropAndScale: try cropAndScale(options?[.cropAndScale]), regionOfInterest: region,
                orientation: orientation)
            return buffer
        }
    }

    /// The option's value: anything with Vision's raw values.
    private static func cropAndScale(_ option: Any?) throws -> CropAndScale {
        let raw: UInt?
        switch option {
        case nil: return .scaleFill
        case let number as UInt: raw = number
        case let number as Int: raw = UInt(exactly: number)
        case let number as NSNumber: raw = number.uintValue
        case let value as any RawRepresentable: raw = value.rawValue as? UInt
        default: raw = nil
        }
        switch raw {
        case 0: return .centerCrop
        case 1: return .scaleFit
        case 2: return .scaleFill
        case 257: return .scaleFitRotate90CCW
        case 258: return .scaleFillRotate90CCW
        default: throw MLModelError(.generic, "the crop-and-scale option is none of Vision's")
        }
    }
}
