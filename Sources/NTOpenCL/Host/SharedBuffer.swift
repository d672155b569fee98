import COpenCL
import NTRuntime

/// A buffer over host memory. The host may touch the memory while the buffer is mapped, which it is between runs; kernels may while it is not. Used by one
/// thread at a time. Where host and device do not in fact share memory, mapping and unmapping copy.
final class SharedBuffer {
    let buffer: DeviceBuffer
    let memory: HostMemory
    private let api: OpenCLInterface
    private let queue: CommandQueue
    private(set) var isMapped = false

    /// `queue` is what the mapping is undone on at the end. The buffer is mapped when this returns.
    init(_ context: DeviceContext, memory: HostMemory, queue: CommandQueue) throws(OpenCLError) {
        buffer = try DeviceBuffer(context, over: memory)
        (self.memory, self.queue, api) = (memory, queue, context.api)
        try map(on: queue, waits: true)
    }

    deinit {
        guard isMapped else { return }
        api.release(kind: "map") { clEnqueueUnmapMemObject(queue.queue, buffer.memory, memory.base, 0, nil, nil) }
        queue.abandon()
    }

    /// Gives the memory to the device, for commands queued after this.
    func unmap(on queue: CommandQueue) throws(OpenCLError) {
        guard isMapped else { return }
        try queue.unmap(buffer, memory.base)
        isMapped = false
        api.forget(kind: "map")
    }

    /// Gives the memory back to the host, once the queue has come past this; with `waits` when it returns.
    func map(on queue: CommandQueue, waits: Bool) throws(OpenCLError) {
        guard !isMapped else { return }
        let address = try queue.map(buffer, byteCount: memory.capacity, waits: waits)
        isMapped = true
        api.adopt(kind: "map")
        // What a buffer over host memory promises.
        guard address == memory.base else { throw OpenCLError.call(name: "clEnqueueMapBuffer", code: CL_MAP_FAILURE) }
    }
}
