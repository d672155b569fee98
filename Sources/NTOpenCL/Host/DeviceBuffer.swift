import COpenCL
import NTRuntime

/// A buffer in device memory, or a part of one. Released with the last reference; a part keeps its whole alive.
final class DeviceBuffer: @unchecked Sendable {
    let memory: cl_mem
    let byteCount: Int
    private let api: OpenCLInterface
    private let whole: DeviceBuffer?
    private let offset: Int
    /// Host memory that this lies in and owns.
    private let host: HostMemory?

    /// The buffer that this is a part of, or itself, and the byte of it where this begins.
    var origin: (whole: DeviceBuffer, offset: Int) { (whole ?? self, offset) }

    /// Allocates at least 64 bytes; `contents`, when given, are copied in and decide nothing about the size.
    init(_ context: DeviceContext, byteCount: Int, contents: UnsafeRawBufferPointer? = nil, readOnly: Bool = false) throws(OpenCLError) {
        let size = max(64, byteCount)
        guard size <= context.device.maximumAllocationBytes else {
            throw OpenCLError.tooLarge(
                what: "a buffer", byteCount: size, limit: context.device.maximumAllocationBytes, device: context.device.name)
        }
        let flags = cl_mem_flags(readOnly ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE)
        let memory: cl_mem = try context.api.create("clCreateBuffer", kind: "mem") {
            clCreateBuffer(context.context, flags, size, nil, &$0)
        }
        self.memory = memory
        self.byteCount = size
        api = context.api
        (whole, self.offset, host) = (nil, 0, nil)
        if let contents, contents.count > 0 { try context.upload(contents, to: self) }
    }

    /// A buffer over all of `memory`.
    init(_ context: DeviceContext, over memory: HostMemory) throws(OpenCLError) {
        let flags = cl_mem_flags(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR)
        self.memory = try context.api.create("clCreateBuffer", kind: "mem") {
            clCreateBuffer(context.context, flags, memory.capacity, memory.base, &$0)
        }
        byteCount = memory.capacity
        api = context.api
        (whole, self.offset, host) = (nil, 0, memory)
    }

    /// A buffer of at least 64 bytes. Where the device is the host's processor, large ones lie in large pages of its memory.
    static func large(_ context: DeviceContext, byteCount: Int) throws(OpenCLError) -> DeviceBuffer {
        let device = context.device
        guard device.kind == .cpu, device.hasUnifiedMemory, byteCount >= 2 << 20, byteCount <= device.maximumAllocationBytes - 64,
            let memory = try? HostMemory(byteCount: byteCount)
        else { return try DeviceBuffer(context, byteCount: byteCount) }
        return try DeviceBuffer(context, over: memory)
    }

    /// Bytes `offset..<offset + byteCount` of `whole`; `offset` is aligned as the device demands.
    init(part whole: DeviceBuffer, offset: Int, byteCount: Int) throws(OpenCLError) {
        var region = cl_buffer_region(origin: offset, size: byteCount)
        memory = try whole.api.create("clCreateSubBuffer", kind: "mem") {
            clCreateSubBuffer(
                whole.memory, cl_mem_flags(CL_MEM_READ_WRITE), cl_buffer_create_type(CL_BUFFER_CREATE_TYPE_REGION), &region, &$0)
        }
        self.byteCount = byteCount
        (self.whole, self.offset, host) = (whole, offset, nil)
        api = whole.api
    }

    deinit { api.release(kind: "mem") { clReleaseMemObject(memory) } }
}
