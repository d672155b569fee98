/// An element type and a shape.
package struct TensorType: Sendable, Hashable, CustomStringConvertible {
    package var dtype: DType
    package var shape: Shape

    package init(_ dtype: DType, _ shape: Shape) {
        self.dtype = dtype
        self.shape = shape
    }

    /// A float32 tensor type, what nearly every value of an image network is.
    package static func float32(_ shape: Shape) -> TensorType { TensorType(.float32, shape) }

    /// Bytes of the contiguous tensor.
    package var byteCount: Int { shape.count * dtype.byteCount }

    package var description: String { "\(dtype.rawValue) \(shape)" }
}
