import COpenCL

/// An in-order queue of one device. Safe from any thread; the order is that of the calls.
final class CommandQueue: @unchecked Sendable {
    let queue: cl_command_queue
    let isProfiling: Bool
    private let api: OpenCLInterface

    init(_ context: DeviceContext, profiling: Bool = false) throws(OpenCLError) {
        api = context.api
        isProfiling = profiling
        let properties = cl_command_queue_properties(profiling ? CL_QUEUE_PROFILING_ENABLE : 0)
        queue = try api.create("clCreateCommandQueue", kind: "queue") {
            clCreateCommandQueue(context.context, context.device.id, properties, &$0)
        }
    }

    deinit { api.release(kind: "queue") { clReleaseCommandQueue(queue) } }

    /// Starts copying host bytes to a buffer, from byte `offset` of it on; they must stay as they are until the queue has come past this.
    func write(_ bytes: UnsafeRawBufferPointer, to buffer: DeviceBuffer, offset: Int = 0) throws(OpenCLError) {
        guard bytes.count > 0 else { return }
        try api.check("clEnqueueWriteBuffer") {
            clEnqueueWriteBuffer(queue, buffer.memory, cl_bool(CL_FALSE), offset, bytes.count, bytes.baseAddress, 0, nil, nil)
        }
    }

    /// Starts copying rows of host bytes, `bytesPerRow` apart, to a buffer, where they lie one after the other from `offset` on. They must stay as they are
    /// until the event that is returned has come.
    func write(
        rows: UnsafeRawPointer, bytesPerRow: Int, width: Int, height: Int, to buffer: DeviceBuffer, offset: Int
    ) throws(OpenCLError) -> DeviceEvent {
        var event: cl_event?
        if bytesPerRow == width || height == 1 {
            try api.check("clEnqueueWriteBuffer") {
                clEnqueueWriteBuffer(queue, buffer.memory, cl_bool(CL_FALSE), offset, width * height, rows, 0, nil, &event)
            }
        } else {
            let (origin, hostOrigin, region) = ([offset, 0, 0], [0, 0, 0], [width, height, 1])
            try api.check("clEnqueueWriteBufferRect") {
                clEnqueueWriteBufferRect(
                    queue, buffer.memory, cl_bool(CL_FALSE), origin, hostOrigin, region, width, width * height, bytesPerRow,
                    bytesPerRow * height, rows, 0, nil, &event)
            }
        }
        guard let event else { throw OpenCLError.call(name: "clEnqueueWriteBufferRect", code: CL_INVALID_EVENT) }
        return DeviceEvent(event, api: api)
    }

    /// Starts copying a buffer's first bytes to the host, to memory that is there until the queue has come past this.
    func read(_ buffer: DeviceBuffer, into bytes: UnsafeMutableRawBufferPointer) throws(OpenCLError) {
        guard bytes.count > 0 else { return }
        try api.check("clEnqueueReadBuffer") {
            clEnqueueReadBuffer(queue, buffer.memory, cl_bool(CL_FALSE), 0, bytes.count, bytes.baseAddress, 0, nil, nil)
        }
    }

    /// Queues that the host may read and write a buffer's first bytes at the address that is returned.
    func map(_ buffer: DeviceBuffer, byteCount: Int, waits: Bool) throws(OpenCLError) -> UnsafeMutableRawPointer {
        let flags = cl_map_flags(CL_MAP_READ | CL_MAP_WRITE)
        var address: UnsafeMutableRawPointer?
        try api.check("clEnqueueMapBuffer") {
            var code = cl_int(CL_SUCCESS)
            address = clEnqueueMapBuffer(queue, buffer.memory, cl_bool(waits ? CL_TRUE : CL_FALSE), flags, 0, byteCount, 0, nil, nil, &code)
            return code
        }
        guard let address else { throw OpenCLError.call(name: "clEnqueueMapBuffer", code: CL_MAP_FAILURE) }
        return address
    }

    /// Queues the end of a mapping.
    func unmap(_ buffer: DeviceBuffer, _ address: UnsafeMutableRawPointer) throws(OpenCLError) {
        try api.check("clEnqueueUnmapMemObject") { clEnqueueUnmapMemObject(queue, buffer.memory, address, 0, nil, nil) }
    }

    /// Queues a kernel. `global` is a multiple of `local` in every dimension.
    func launch(_ kernel: DeviceKernel, global: [Int], local: [Int]) throws(OpenCLError) {
        try api.check("clEnqueueNDRangeKernel") {
            clEnqueueNDRangeKernel(queue, kernel.kernel, cl_uint(global.count), nil, global, local, 0, nil, nil)
        }
    }

    /// Queues a kernel and returns the event that times it; the queue must be profiling.
    func timedLaunch(_ kernel: DeviceKernel, global: [Int], local: [Int]) throws(OpenCLError) -> DeviceEvent {
        var event: cl_event?
        try api.check("clEnqueueNDRangeKernel") {
            clEnqueueNDRangeKernel(queue, kernel.kernel, cl_uint(global.count), nil, global, local, 0, nil, &event)
        }
        guard let event else { throw OpenCLError.call(name: "clEnqueueNDRangeKernel", code: CL_INVALID_EVENT) }
        return DeviceEvent(event, api: api)
    }

    /// Waits until everything queued is done.
    func finish() throws(OpenCLError) { try api.check("clFinish") { clFinish(queue) } }

    /// Hands queued commands to the device.
    func flush() throws(OpenCLError) { try api.check("clFlush") { clFlush(queue) } }

    /// Waits whatever the interface would answer; what remains when a run breaks off and host memory must no longer be touched.
    func abandon() { _ = clFinish(queue) }
}

/// The event of a queued command.
final class DeviceEvent: @unchecked Sendable {
    private let event: cl_event
    private let api: OpenCLInterface

    init(_ event: cl_event, api: OpenCLInterface) {
        self.event = event
        self.api = api
        api.adopt(kind: "event")
    }

    deinit { api.release(kind: "event") { clReleaseEvent(event) } }

    /// Waits for the command.
    func wait() throws(OpenCLError) {
        var event: cl_event? = event
        try api.check("clWaitForEvents") { clWaitForEvents(1, &event) }
    }

    /// Seconds from start to end on the device's clock, for events of a profiling queue; valid once the event is complete.
    func seconds() throws(OpenCLError) -> Double {
        let span = try span()
        return Double(span.end - span.start) * 1e-9
    }

    /// Start and end in nanoseconds of the device's clock, the end not before the start; valid once the event is complete.
    func span() throws(OpenCLError) -> (start: UInt64, end: UInt64) {
        var (start, end): (cl_ulong, cl_ulong) = (0, 0)
        let size = MemoryLayout<cl_ulong>.size
        try api.check("clGetEventProfilingInfo") {
            clGetEventProfilingInfo(event, cl_profiling_info(CL_PROFILING_COMMAND_START), size, &start, nil)
        }
        try api.check("clGetEventProfilingInfo") {
            clGetEventProfilingInfo(event, cl_profiling_info(CL_PROFILING_COMMAND_END), size, &end, nil)
        }
        return (start, max(start, end))
    }
}
