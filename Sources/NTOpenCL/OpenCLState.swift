import NTRuntime

/// What one run at a time owns on the device: arena, kernels with their arguments, queues.
final class OpenCLState: PartitionState {
    /// Per storage.
    let buffers: [DeviceBuffer]
    /// The storages that lie in host memory, by number.
    let shared: [Int: SharedBuffer]
    let kernels: [DeviceKernel]
    let queue: CommandQueue
    /// All launches recorded, when the device took them.
    let recording: CommandBuffer?
    /// All launches as few; nil when they are queued one by one or replayed.
    let network: NetworkRun?
    /// What makes inputs from pictures' bytes.
    let pixels: PixelStage
    /// Zeros that clear the status flags; kept here because the copy to the device may outlast the call that starts it.
    let clearedStatus = [Int32](repeating: 0, count: 16)
    private var profiling: CommandQueue?

    init(
        buffers: [DeviceBuffer], shared: [Int: SharedBuffer], kernels: [DeviceKernel], queue: CommandQueue, recording: CommandBuffer?,
        network: NetworkRun?, pixels: PixelStage
    ) {
        (self.buffers, self.shared, self.kernels, self.queue) = (buffers, shared, kernels, queue)
        (self.recording, self.network, self.pixels) = (recording, network, pixels)
    }

    /// A queue whose events carry times, made when first asked for.
    func profilingQueue(_ context: DeviceContext) throws(OpenCLError) -> CommandQueue {
        if let profiling { return profiling }
        let queue = try CommandQueue(context, profiling: true)
        profiling = queue
        return queue
    }

    /// After a run that broke off and whose queue has been waited for: the host gets its memory back, so far as the device lets it.
    func reclaimMemory() { for (_, buffer) in shared { try? buffer.map(on: queue, waits: true) } }
}
