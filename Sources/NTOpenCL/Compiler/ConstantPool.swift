/// Constants side by side in few buffers, so that one launch can be given all of them.
struct ConstantPool {
    private let context: DeviceContext
    private let alignment: Int
    /// Bytes of the next buffer, at least.
    private var nextByteCount: Int
    private var chunk: DeviceBuffer?
    private var used = 0

    /// `expected` is how many bytes there will be, about.
    init(_ context: DeviceContext, expected: Int) {
        (self.context, alignment) = (context, max(64, context.device.subBufferAlignment))
        nextByteCount = min(max(expected, 1 << 16), context.device.maximumAllocationBytes)
    }

    /// A part of a buffer that holds the bytes.
    mutating func place(_ bytes: UnsafeRawBufferPointer) throws(OpenCLError) -> DeviceBuffer {
        let size = (max(bytes.count, 64) + alignment - 1) / alignment * alignment
        if let chunk, used + size <= chunk.byteCount { return try put(bytes, size, in: chunk) }
        let chunk = try DeviceBuffer.large(context, byteCount: max(size, nextByteCount))
        (self.chunk, used, nextByteCount) = (chunk, 0, max(1 << 20, nextByteCount / 4))
        return try put(bytes, size, in: chunk)
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer, _ size: Int, in chunk: DeviceBuffer) throws(OpenCLError) -> DeviceBuffer {
        let part = try DeviceBuffer(part: chunk, offset: used, byteCount: size)
        try context.upload(bytes, to: chunk, offset: used)
        used += size
        return part
    }
}
