/// A contiguous row-major tensor in host memory. Copies share the bytes; once made, a tensor does not change.
package struct Tensor: Sendable {
    package let type: TensorType
    package let buffer: TensorBuffer
    /// Where the first element lies in `buffer`.
    package let byteOffset: Int

    package var shape: Shape { type.shape }
    package var dtype: DType { type.dtype }
    package var count: Int { type.shape.count }
    package var byteCount: Int { type.byteCount }

    /// A tensor over existing bytes. Throws when the buffer is too short.
    package init(_ type: TensorType, buffer: TensorBuffer, byteOffset: Int = 0) throws(TensorError) {
        let available = byteOffset < 0 ? 0 : max(0, buffer.byteCount - byteOffset)
        guard byteOffset >= 0, type.byteCount <= available else {
            throw TensorError.wrongByteCount(expected: type.byteCount, found: available)
        }
        self.type = type
        self.buffer = buffer
        self.byteOffset = byteOffset
    }

    /// A tensor of its own memory, filled by `body`, which gets the raw bytes (uninitialised).
    package init(
        _ type: TensorType, initializedBy body: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        let buffer = try TensorBuffer(byteCount: type.byteCount)
        try body(UnsafeMutableRawBufferPointer(start: buffer.base, count: type.byteCount))
        self.type = type
        self.buffer = buffer
        byteOffset = 0
    }

    /// A float32 tensor of its own memory, filled by `body`.
    package init(
        float32 shape: Shape, initializedBy body: (UnsafeMutableBufferPointer<Float>) throws -> Void
    ) throws {
        try self.init(.float32(shape)) { try body($0.bindMemory(to: Float.self)) }
    }

    /// A float32 tensor of `values`, row-major. Throws when their number is not the shape's.
    package init(_ shape: Shape, _ values: [Float]) throws {
        guard values.count == shape.count else {
            throw TensorError.wrongByteCount(expected: shape.count * 4, found: values.count * 4)
        }
        try self.init(float32: shape) { target in
            values.withUnsafeBufferPointer { if let base = $0.baseAddress { target.baseAddress!.update(from: base, count: $0.count) } }
        }
    }

    /// The same bytes under another shape of as many elements.
    package func reshaped(_ shape: Shape) throws(TensorError) -> Tensor {
        guard shape.count == count else { throw TensorError.wrongShape(expected: type.shape, found: shape) }
        return try Tensor(TensorType(dtype, shape), buffer: buffer, byteOffset: byteOffset)
    }

    /// The bytes, valid while the tensor lives: a local tensor whose last use this is needs `withExtendedLifetime`.
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: buffer.base + byteOffset, count: byteCount)
    }

    /// The elements of a float32 tensor, valid while the tensor lives, see `bytes`. The tensor must be float32.
    package var floats: UnsafeBufferPointer<Float> {
        assert(dtype == .float32)
        return bytes.bindMemory(to: Float.self)
    }

    /// The elements as an array of Float, converted from any element type.
    package func floatArray() -> [Float] {
        func convert<T>(_: T.Type, _ body: (T) -> Float) -> [Float] {
            (0..<count).map { body(bytes.loadUnaligned(fromByteOffset: $0 * MemoryLayout<T>.stride, as: T.self)) }
        }
        switch dtype {
        case .float32: return convert(Float.self) { $0 }
        case .float64: return convert(Double.self) { Float($0) }
        case .float16: return convert(UInt16.self) { HalfPrecision.float(fromHalf: $0) }
        case .bfloat16: return convert(UInt16.self) { Float(bitPattern: UInt32($0) << 16) }
        case .int8: return convert(Int8.self) { Float($0) }
        case .uint8: return convert(UInt8.self) { Float($0) }
        case .int16: return convert(Int16.self) { Float($0) }
        case .uint16: return convert(UInt16.self) { Float($0) }
        case .int32: return convert(Int32.self) { Float($0) }
        case .int64: return convert(Int64.self) { Float($0) }
        case .bool: return convert(UInt8.self) { $0 == 0 ? 0 : 1 }
        }
    }

    /// The same values as float32; the tensor itself when it is float32 already.
    package func asFloat32() throws -> Tensor { dtype == .float32 ? self : try Tensor(shape, floatArray()) }
}
