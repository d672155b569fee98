import CoreVideo
import Foundation
import Needletail

/// What a feature must look like.
public final class MLFeatureDescription: NSObject, @unchecked Sendable {
    public let name: String
    public let type: MLFeatureType
    public let isOptional: Bool
    public let imageConstraint: MLImageConstraint?
    public let multiArrayConstraint: MLMultiArrayConstraint?
    public let dictionaryConstraint: MLDictionaryConstraint?
    public let sequenceConstraint: MLSequenceConstraint?

    init(_ feature: ModelDescription.Feature) {
        name = feature.name
        isOptional = feature.isOptional
        var image: MLImageConstraint?
        var array: MLMultiArrayConstraint?
        var dictionary: MLDictionaryConstraint?
        var sequence: MLSequenceConstraint?
        switch feature.kind {
        case .image(let width, let height, let colorSpace, let flexibility):
            type = .image
            image = MLImageConstraint(width: width, height: height, colorSpace: colorSpace, flexibility: flexibility)
        case .multiArray(let shape, let elementType, let flexibility):
            type = .multiArray
            array = MLMultiArrayConstraint(shape: shape, elementType: elementType, flexibility: flexibility)
        case .double: type = .double
        case .int64: type = .int64
        case .string: type = .string
        case .dictionary(let keysAreIntegers):
            type = .dictionary
            dictionary = MLDictionaryConstraint(keyType: keysAreIntegers ? .int64 : .string)
        case .sequence(let ofIntegers):
            type = .sequence
            sequence = MLSequenceConstraint(elementType: ofIntegers ? .int64 : .string)
        case .state: type = .state
        case .unknown: type = .invalid
        }
        imageConstraint = image
        multiArrayConstraint = array
        dictionaryConstraint = dictionary
        sequenceConstraint = sequence
    }

    /// Whether a value may be given for this feature.
    public func isAllowedValue(_ value: MLFeatureValue) -> Bool { refusal(of: value) == nil }

    /// Why a value is refused, worded as on Apple's systems where the wording is known; nil when it is allowed.
    func refusal(of value: MLFeatureValue) -> String? {
        if value.isUndefined { return isOptional ? nil : "the value is missing" }
        switch (type, value.storage) {
        case (.image, .image(let buffer)): return imageConstraint?.refusal(of: buffer)
        case (.multiArray, .multiArray(let array)): return multiArrayConstraint?.refusal(of: array)
        case (.double, .double), (.double, .int64), (.int64, .int64), (.string, .string), (.dictionary, .dictionary),
            (.sequence, .sequence):
            return nil
        default: return "expected a value of type \(type), found \(value.type)"
        }
    }

    public override var description: String { "\(name) : \(type)\(isOptional ? " (optional)" : "")" }
}

/// How sizes of images may vary.
public enum MLImageSizeConstraintType: Int, Sendable {
    case unspecified = 0
    case enumerated = 2
    case range = 3
}

/// A width and a height in pixels.
public final class MLImageSize: NSObject, @unchecked Sendable {
    public let pixelsWide: Int
    public let pixelsHigh: Int

    init(_ width: Int, _ height: Int) { (pixelsWide, pixelsHigh) = (width, height) }
}

/// Which sizes of images are allowed besides the default one.
public final class MLImageSizeConstraint: NSObject, @unchecked Sendable {
    public let type: MLImageSizeConstraintType
    public let pixelsWideRange: NSRange
    public let pixelsHighRange: NSRange
    public let enumeratedImageSizes: [MLImageSize]

    init(width: Int, height: Int, _ flexibility: ModelDescription.Flexibility) {
        func range(_ bounds: (lower: Int, upper: Int?)) -> NSRange {
            NSRange(location: bounds.lower, length: bounds.upper.map { max(0, $0 - bounds.lower + 1) } ?? Int.max - bounds.lower)
        }
        switch flexibility {
        case .enumerated(let sizes):
            type = .enumerated
            enumeratedImageSizes = sizes.filter { $0.count == 2 }.map { MLImageSize($0[0], $0[1]) }
            pixelsWideRange = NSRange(location: width, length: 1)
            pixelsHighRange = NSRange(location: height, length: 1)
        case .range(let bounds) where bounds.count == 2:
            type = .range
            enumeratedImageSizes = []
            pixelsWideRange = range(bounds[0])
            pixelsHighRange = range(bounds[1])
        default:
            type = .unspecified
            enumeratedImageSizes = [MLImageSize(width, height)]
            pixelsWideRange = NSRange(location: width, length: 1)
            pixelsHighRange = NSRange(location: height, length: 1)
        }
    }
}

/// What an image must look like.
public final class MLImageConstraint: NSObject, @unchecked Sendable {
    public let pixelsWide: Int
    public let pixelsHigh: Int
    /// `kCVPixelFormatType_32BGRA`, or `kCVPixelFormatType_OneComponent8` for grey.
    public let pixelFormatType: OSType
    public let sizeConstraint: MLImageSizeConstraint

    init(width: Int, height: Int, colorSpace: ModelDescription.ColorSpace, flexibility: ModelDescription.Flexibility) {
        pixelsWide = width
        pixelsHigh = height
        pixelFormatType = colorSpace.channelCount == 1 ? kCVPixelFormatType_OneComponent8 : kCVPixelFormatType_32BGRA
        sizeConstraint = MLImageSizeConstraint(width: width, height: height, flexibility)
    }

    func refusal(of buffer: CVPixelBuffer) -> String? {
        let (width, height) = (CVPixelBufferGetWidth(buffer), CVPixelBufferGetHeight(buffer))
        switch sizeConstraint.type {
        case .enumerated:
            let sizes = sizeConstraint.enumeratedImageSizes.map { ($0.pixelsWide, $0.pixelsHigh) } + [(pixelsWide, pixelsHigh)]
            if sizes.contains(where: { $0 == (width, height) }) { return nil }
            return "Image is not valid size \(sizes[0].0) x \(sizes[0].1) or another listed one, instead is \(width) x \(height)"
        case .range:
            guard sizeConstraint.pixelsWideRange.contains(width) else {
                return "Image is not valid width \(sizeConstraint.pixelsWideRange), instead is \(width)"
            }
            guard sizeConstraint.pixelsHighRange.contains(height) else {
                return "Image is not valid height \(sizeConstraint.pixelsHighRange), instead is \(height)"
            }
            return nil
        case .unspecified:
            if width != pixelsWide { return "Image is not valid width \(pixelsWide), instead is \(width)" }
            if height != pixelsHigh { return "Image is not valid height \(pixelsHigh), instead is \(height)" }
            return nil
        }
    }
}

/// How shapes of multi-arrays may vary.
public enum MLMultiArrayShapeConstraintType: Int, Sendable {
    case unspecified = 1
    case enumerated = 2
    case range = 3
}

/// Which shapes are allowed besides the default one.
public final class MLMultiArrayShapeConstraint: NSObject, @unchecked Sendable {
    public let type: MLMultiArrayShapeConstraintType
    public let sizeRangeForDimension: [NSValue] = []
    public let enumeratedShapes: [[NSNumber]]
    let ranges: [(lower: Int, upper: Int?)]

    init(_ flexibility: ModelDescription.Flexibility) {
        switch flexibility {
        case .fixed: (type, enumeratedShapes, ranges) = (.unspecified, [], [])
        case .enumerated(let shapes):
            (type, enumeratedShapes, ranges) = (.enumerated, shapes.map { $0.map { NSNumber(value: $0) } }, [])
        case .range(let bounds): (type, enumeratedShapes, ranges) = (.range, [], bounds)
        }
    }
}

/// What a multi-array must look like.
public final class MLMultiArrayConstraint: NSObject, @unchecked Sendable {
    public let shape: [NSNumber]
    public let dataType: MLMultiArrayDataType
    public let shapeConstraint: MLMultiArrayShapeConstraint

    init(shape: [Int], elementType: String, flexibility: ModelDescription.Flexibility) {
        self.shape = shape.map { NSNumber(value: $0) }
        switch elementType {
        case "float64": dataType = .double
        case "float16": dataType = .float16
        case "int32": dataType = .int32
        case "int8": dataType = .int8
        default: dataType = .float32
        }
        shapeConstraint = MLMultiArrayShapeConstraint(flexibility)
    }

    func refusal(of array: MLMultiArray) -> String? {
        let declared = shape.map(\.intValue)
        switch shapeConstraint.type {
        case .enumerated:
            let shapes = shapeConstraint.enumeratedShapes.map { $0.map(\.intValue) } + [declared]
            return shapes.contains(array.extents) ? nil : "MultiArray shape \(array.extents) is none of \(shapes)"
        case .range:
            let fits =
                shapeConstraint.ranges.count == array.extents.count
                && zip(shapeConstraint.ranges, array.extents).allSatisfy { $1 >= $0.lower && $1 <= $0.upper ?? .max }
            return fits ? nil : "MultiArray shape \(array.extents) lies outside the allowed ranges"
        case .unspecified:
            let count = declared.reduce(1, *)
            if declared.isEmpty || array.extents == declared || array.count == count { return nil }
            return "MultiArray shape \(array.extents) does not match the shape \(declared) specified in the model description"
        }
    }
}

/// What a dictionary must look like.
public final class MLDictionaryConstraint: NSObject, @unchecked Sendable {
    public let keyType: MLFeatureType

    init(keyType: MLFeatureType) { self.keyType = keyType }
}

/// What a sequence must look like.
public final class MLSequenceConstraint: NSObject, @unchecked Sendable {
    public let elementType: MLFeatureType

    init(elementType: MLFeatureType) { self.elementType = elementType }
}
