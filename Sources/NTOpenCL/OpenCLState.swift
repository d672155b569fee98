import NTRuntime

/// What one run at a time owns on the device: arena, kernels with their arguments, queues.
final class OpenCLState: PartitionState {
    let buffers: [DeviceBuffer]
    let kernels: [DeviceKernel]
    let queue: CommandQueue
    /// Zeros that clear the status flags; kept here because the copy to the device may outlast the call that starts it.
    let clearedStatus = [Int32](repeating: 0, count: 16)
    /// What makes inputs from pictures' bytes.
    let pixels: PixelStage
    private var profiling: CommandQueue?

    init(buffers: [DeviceBuffer], kernels: [DeviceKernel], queue: CommandQueue, pixels: PixelStage) {
        (self.buffers, self.kernels, self.queue, self.pixels) = (buffers, kernels, queue, pixels)
    }

    /// A queue whose events carry times, made when first asked for.
    func profilingQueue(_ context: DeviceContext) throws(OpenCLError) -> CommandQueue {
        if let profiling { return profiling }
        let queue = try CommandQueue(context, profiling: true)
        profiling = queue
        return queue
    }
}
