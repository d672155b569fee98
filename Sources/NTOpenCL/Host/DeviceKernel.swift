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
