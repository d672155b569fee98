import CNTKernels

/// One kernel on one product, ready to be timed again and again.
final class ProductTrial {
    let kernel: UnsafePointer<nt_gemm_kernel>
    /// The least seconds of one product so far.
    private(set) var best = Double.infinity
    private let shape: ProductShape
    private let depth: Int
    private let stride: Int
    private let (a, c, packed, bias): (FloatMemory, FloatMemory, FloatMemory, FloatMemory)
    private var calls = 1

    /// Packs the weights and runs once.
    init(_ kernel: UnsafePointer<nt_gemm_kernel>, _ shape: ProductShape) {
        self.kernel = kernel
        self.shape = shape
        let slots = nt_slots(kernel.pointee.element, shape.channels)
        depth = shape.taps * slots
        // Pixels lie as the backend lays them. A window's taps are taken as neighbours, so its rows overlap as they do in an image.
        stride = shape.taps == 1 && slots % 512 == 0 ? slots + 16 : slots
        let b = FloatMemory(shape.n * shape.k)
        a = FloatMemory(shape.m * stride + depth)
        c = FloatMemory(shape.m * shape.n)
        packed = FloatMemory(nt_gemm_packed_count(kernel, shape.n, shape.taps, shape.channels))
        bias = FloatMemory(nt_gemm_bias_count(kernel, shape.n))
        nt_gemm_pack(kernel, shape.n, shape.taps, shape.channels, b.start, shape.k, shape.channels, 1, packed.start)
        once()
        time()
        calls = max(1, Int(1e-4 / max(best, 1e-9)))
    }

    /// Times a few products, about a tenth of a millisecond at least.
    func time() {
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<calls { once() }
        best = min(best, (clock.now - start) / .seconds(1) / Double(calls))
    }

    private func once() {
        nt_gemm_run(
            kernel, shape.m, shape.n, depth, a.start, stride, packed.start, bias.start, c.start, shape.n, nil, 0, -.infinity, .infinity)
    }
}
