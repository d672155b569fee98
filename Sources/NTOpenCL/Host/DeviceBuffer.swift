import COpenCL
import NTRuntime

/// A buffer in device memory, or a part of one. Released with the last reference; a part keeps its whole alive.
final class DeviceBuffer: @unchecked Sendable {
    let memory: cl_mem
    let byteCount: Int
    private let api: OpenCLInterface
    private let whole: DeviceBuffer?

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
        whole = nil
        if let contents, contents.count > 0 { try context.upload(contents, to: self) }
    }

    /// A buffer over all of `memory`, which must outlive it.
    init(_ context: DeviceContext, over memory: HostMemory) throws(OpenCLError) {
        let flags = cl_mem_flags(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR)
        self.memory = try context.api.create("clCreateBuffer", kind: "mem") {
            clCreateBuffer(context.context, flags, memory.capacity, memory.base, &$0)
        }
        byteCount = memory.capacity
        api = context.api
        whole = nil
    }

    /// Bytes `offset..<offset + byteCount` of `whole`; `offset` is aligned as the device demands.
    init(part whole: DeviceBuffer, offset: Int, byteCount: Int) throws(OpenCLError) {
        var region = cl_buffer_region(origin: offset, size: byteCount)
        memory = try whole.api.create("clCreateSubBuffer", kind: "mem") {
            clCreateSubBuffer(
                whole.memory, cl_mem_flags(CL_MEM_READ_WRITE), cl_buffer_create_type(CL_BUFFER_CREATE_TYPE_REGION), &region, &$0)
        }
        self.byteCount = byteCount
        self.whole = whole
        api = whole.api
    }

    deinit { api.release(kind: "mem") { clReleaseMemObject(memory) } }
}
