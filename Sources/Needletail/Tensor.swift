import NTTensor

/// A float32 tensor: extents, outermost first, and elements in row-major order. Copies share the elements.
public struct Tensor: Sendable {
    package let storage: NTTensor.Tensor

    package init(_ storage: NTTensor.Tensor) throws { self.storage = try storage.asFloat32() }

    /// A tensor of `shape`, for example `[1, 3, 224, 224]` (N C H W), holding `elements` in row-major order.
    /// Throws `NeedletailError` when an extent is negative, the tensor is too large, or the number of elements is not the shape's.
    public init(shape: [Int], elements: [Float]) throws {
        do {
            storage = try NTTensor.Tensor(try Shape(checking: shape), elements)
        } catch let error as TensorError {
            throw NeedletailError(.invalidInput, error.description)
        }
    }

    /// The extents, outermost first.
    public var shape: [Int] { storage.shape.dims }

    /// The number of elements.
    public var count: Int { storage.count }

    /// The elements in row-major order, as a copy.
    public var elements: [Float] { storage.floatArray() }

    /// Calls `body` with the elements in place, row-major; the pointer is valid during the call.
    public func withUnsafeElements<Result>(_ body: (UnsafeBufferPointer<Float>) throws -> Result) rethrows -> Result {
        try body(storage.floats)
    }
}
