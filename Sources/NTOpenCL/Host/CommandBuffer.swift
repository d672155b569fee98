import COpenCL

/// The calls of cl_khr_command_buffer, which a platform gives by name.
struct CommandBufferCalls: @unchecked Sendable {
    let create: nt_create_command_buffer
    let finalize: nt_finalize_command_buffer
    let release: nt_release_command_buffer
    let enqueue: nt_enqueue_command_buffer
    let launch: nt_command_ndrange_kernel

    /// Nil when the device does not list the extension or the platform lacks one of the calls.
    init?(_ device: OpenCLDevice, api: OpenCLInterface) {
        guard device.extensions.contains("cl_khr_command_buffer") else { return nil }
        func address(_ name: String) -> UnsafeMutableRawPointer? {
            var found: UnsafeMutableRawPointer?
            let status = api.status("clGetExtensionFunctionAddressForPlatform") {
                found = clGetExtensionFunctionAddressForPlatform(device.platform, name)
                return CL_SUCCESS
            }
            return status == CL_SUCCESS ? found : nil
        }
        guard let create = address("clCreateCommandBufferKHR"), let finalize = address("clFinalizeCommandBufferKHR"),
            let release = address("clReleaseCommandBufferKHR"), let enqueue = address("clEnqueueCommandBufferKHR"),
            let launch = address("clCommandNDRangeKernelKHR")
        else { return nil }
        self.create = unsafeBitCast(create, to: nt_create_command_buffer.self)
        self.finalize = unsafeBitCast(finalize, to: nt_finalize_command_buffer.self)
        self.release = unsafeBitCast(release, to: nt_release_command_buffer.self)
        self.enqueue = unsafeBitCast(enqueue, to: nt_enqueue_command_buffer.self)
        self.launch = unsafeBitCast(launch, to: nt_command_ndrange_kernel.self)
    }
}

/// Launches recorded once, with the arguments their kernels have then, and queued again by one call. One replay must be over before the next begins.
/// Used by one thread at a time; the queue and the kernels stay alive as long.
final class CommandBuffer {
    private let calls: CommandBufferCalls
    private let api: OpenCLInterface
    private let queue: CommandQueue
    private let kernels: [DeviceKernel]
    private let buffer: nt_command_buffer

    /// Records launches for `queue`. Throws when the device takes any of them not.
    init(
        _ calls: CommandBufferCalls, api: OpenCLInterface, queue: CommandQueue,
        launches: [(kernel: DeviceKernel, global: [Int], local: [Int])]
    ) throws(OpenCLError) {
        (self.calls, self.api, self.queue, kernels) = (calls, api, queue, launches.map(\.kernel))
        buffer = try api.create("clCreateCommandBufferKHR", kind: "command buffer") {
            var target: cl_command_queue? = queue.queue
            return calls.create(1, &target, nil, &$0)
        }
        for launch in launches {
            try api.check("clCommandNDRangeKernelKHR") {
                calls.launch(
                    buffer, nil, nil, launch.kernel.kernel, cl_uint(launch.global.count), nil, launch.global, launch.local, 0, nil, nil, nil)
            }
        }
        try api.check("clFinalizeCommandBufferKHR") { calls.finalize(buffer) }
    }

    deinit { api.release(kind: "command buffer") { calls.release(buffer) } }

    /// Queues all launches, in order.
    func replay() throws(OpenCLError) {
        try api.check("clEnqueueCommandBufferKHR") { calls.enqueue(0, nil, buffer, 0, nil, nil) }
    }
}
