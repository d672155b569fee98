import COpenCL

/// A kernel with its arguments. Used by one thread at a time.
final class DeviceKernel: @unchecked Sendable {
    let kernel: cl_kernel
    private let api: OpenCLInterface
    /// Buffers that arguments point to.
    private var held: [DeviceBuffer] = []

    init(_ program: DeviceProgram, entry: String) throws(OpenCLError) {
        api = program.api
        kernel = try api.create("clCreateKernel", kind: "kernel") { clCreateKernel(program.program, entry, &$0) }
    }

    /// What the device allows this kernel, and what the kernel takes. Zeros, which some drivers answer, and failed queries say nothing.
    struct Limits: Sendable {
        /// Work-items of a group.
        var workItems = Int.max
        /// Bytes of local memory that the kernel takes.
        var localBytes = 0
    }

    func limits(on device: OpenCLDevice) -> Limits {
        var (limits, size, bytes) = (Limits(), 0, cl_ulong(0))
        let sizeStatus = api.status("clGetKernelWorkGroupInfo") {
            clGetKernelWorkGroupInfo(
                kernel, device.id, cl_kernel_work_group_info(CL_KERNEL_WORK_GROUP_SIZE), MemoryLayout<Int>.size, &size, nil)
        }
        if sizeStatus == CL_SUCCESS, size > 0 { limits.workItems = size }
        let bytesStatus = api.status("clGetKernelWorkGroupInfo") {
            clGetKernelWorkGroupInfo(
                kernel, device.id, cl_kernel_work_group_info(CL_KERNEL_LOCAL_MEM_SIZE), MemoryLayout<cl_ulong>.size, &bytes, nil)
        }
        if bytesStatus == CL_SUCCESS { limits.localBytes = Int(clamping: bytes) }
        return limits
    }

    deinit { api.release(kind: "kernel") { clReleaseKernel(kernel) } }

    /// Lets go of the buffers that arguments point to, before others take their places.
    func releaseBuffers() { held = [] }

    func set(_ index: Int, _ buffer: DeviceBuffer) throws(OpenCLError) {
        var memory: cl_mem? = buffer.memory
        try api.check("clSetKernelArg") {
            clSetKernelArg(kernel, cl_uint(index), MemoryLayout<cl_mem?>.size, &memory)
        }
        held.append(buffer)
    }

    func set(_ index: Int, _ value: Int32) throws(OpenCLError) {
        var value = value
        try api.check("clSetKernelArg") { clSetKernelArg(kernel, cl_uint(index), MemoryLayout<Int32>.size, &value) }
    }

    func set(_ index: Int, _ value: Float) throws(OpenCLError) {
        var value = value
        try api.check("clSetKernelArg") { clSetKernelArg(kernel, cl_uint(index), MemoryLayout<Float>.size, &value) }
    }
}
