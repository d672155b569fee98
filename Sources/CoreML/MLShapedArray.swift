import Foundation
import NTTensor

/// A number that an `MLShapedArray` may hold.
public protocol MLShapedArrayScalar: Sendable {
    /// The element type of the multi-array that such an array becomes.
    static var multiArrayDataType: MLMultiArrayDataType { get }
    init(shapedArrayValue value: Double)
    var shapedArrayValue: Double { get }
}

extension Float: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .float32 }
    public init(shapedArrayValue value: Double) { self = Float(value) }
    public var shapedArrayValue: Double { Double(self) }
}

extension Double: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .double }
    public init(shapedArrayValue value: Double) { self = value }
    public var shapedArrayValue: Double { self }
}

extension Int32: MLShapedArrayScalar {
    public static var multiArrayDataType: MLMultiArrayDataType { .int32 }
    /// Rounded toward zero and clamped; NaN gives 0.
    public init(shapedArrayValue value: Double) {
        self = value.isNaN ? 0 : Int32(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
    public var shapedArrayValue: Double { Double(self) }
}

/// An array of numbers with value semantics: `shape`, outermost extent first, and `scalars` in row-major order.
public struct MLShapedArray<Scalar: MLShapedArrayScalar>: Sendable {
    public let shape: [Int]
    public private(set) var scalars: [Scalar]

    /// An array of the given scalars. Their number must be the shape's.
    public init(scalars: some Sequence<Scalar>, shape: [Int]) {
        self.scalars = Array(scalars)
        self.shape = shape
        precondition(
            shape.allSatisfy { $0 >= 0 } && self.scalars.count == shape.reduce(1, *), "\(self.scalars.count) scalars do not fill shape \(shape)")
    }

    /// An array of one repeated scalar.
    public init(repeating value: Scalar, shape: [Int]) {
        precondition(shape.allSatisfy { $0 >= 0 }, "an extent of \(shape) is negative")
        self.init(scalars: [Scalar](repeating: value, count: shape.reduce(1, *)), shape: shape)
    }

    /// The numbers of a multi-array, converted to `Scalar`.
    public init(_ multiArray: MLMultiArray) {
        shape = multiArray.extents
        scalars = (0..<multiArray.count).map { Scalar(shapedArrayValue: multiArray[$0].doubleValue) }
    }

    /// The same with the label of Apple's converting initialiser.
    public init(converting multiArray: MLMultiArray) { self.init(multiArray) }

    /// The number of scalars.
    public var scalarCount: Int { scalars.count }
    /// The only scalar of an array of rank 0; nil for others.
    public var scalar: Scalar? { shape.isEmpty ? scalars.first : nil }

    /// The scalar at a multidimensional index, each part of which must be in range.
    public subscript(scalarAt index: [Int]) -> Scalar {
        get { scalars[offset(of: index)] }
        set { scalars[offset(of: index)] = newValue }
    }

    /// The scalar at a multidimensional index, each part of which must be in range.
    public subscript(scalarAt index: Int...) -> Scalar {
        get { self[scalarAt: index] }
        set { self[scalarAt: index] = newValue }
    }

    /// Calls `body` with the scalars, the shape and the strides.
    public func withUnsafeShapedBufferPointer<Result>(
        _ body: (UnsafeBufferPointer<Scalar>, [Int], [Int]) throws -> Result
    ) rethrows -> Result {
        try scalars.withUnsafeBufferPointer { try body($0, shape, Shape(shape).strides) }
    }

    private func offset(of index: [Int]) -> Int {
        precondition(
            index.count == shape.count && zip(index, shape).allSatisfy { (0..<$1).contains($0) }, "index \(index) lies outside shape \(shape)")
        return zip(index, Shape(shape).strides).reduce(0) { $0 + $1.0 * $1.1 }
    }
}

extension MLShapedArray: Equatable where Scalar: Equatable {}

extension MLMultiArray {
    /// The numbers of a shaped array. Throws when the shape is too large.
    public convenience init<Scalar: MLShapedArrayScalar>(_ shapedArray: MLShapedArray<Scalar>) throws {
        try self.init(shape: shapedArray.shape.map { NSNumber(value: $0) }, dataType: Scalar.multiArrayDataType)
        for (index, scalar) in shapedArray.scalars.enumerated() { store(scalar.shapedArrayValue, at: index) }
    }
}

extension MLFeatureValue {
    /// A multi-array value of a shaped array's numbers. Throws when the shape is too large.
    public convenience init<Scalar: MLShapedArrayScalar>(shapedArray: MLShapedArray<Scalar>) throws {
        self.init(multiArray: try MLMultiArray(shapedArray))
    }

    /// A multi-array's numbers as a shaped array; nil for other values.
    public func shapedArrayValue<Scalar: MLShapedArrayScalar>(of type: Scalar.Type) -> MLShapedArray<Scalar>? {
        multiArrayValue.map { MLShapedArray<Scalar>($0) }
    }
}
