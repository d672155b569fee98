import CNTKernels
import CNTPlatform

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
    init(_ kernel: UnsafePointer<nt_gemm_kernel>, _ shape: ProductShape) throws {
        self.kernel = kernel
        self.shape = shape
        let slots = nt_slots(kernel.pointee.element, shape.channels)
        depth = shape.taps * slots
        // Pixels lie as the backend lays them. A window's taps are taken as neighbours, so its rows overlap as they do in an image.
        stride = shape.taps == 1 && slots % 512 == 0 ? slots + 16 : slots
        let b = try FloatMemory(shape.n * shape.k)
        a = try FloatMemory(shape.m * stride + depth)
        c = try FloatMemory(shape.m * shape.n)
        packed = try FloatMemory(nt_gemm_packed_count(kernel, shape.n, shape.taps, shape.channels))
        bias = try FloatMemory(nt_gemm_bias_count(kernel, shape.n))
        nt_gemm_pack(kernel, shape.n, shape.taps, shape.channels, b.start, shape.k, shape.channels, 1, packed.start)
        once()
        // The clock takes as long as the smallest products: more calls until it does not count.
        time()
        while best * Double(calls) < 1e-4, calls < 1 << 24 {
            calls *= 2
            best = .infinity
            time()
        }
    }

    /// The kernels of an element type, NT_ELEMENT_, that this processor runs.
    static func kernels(of element: Int) -> [UnsafePointer<nt_gemm_kernel>] {
        (0..<nt_gemm_kernel_count()).compactMap { index in
            guard let kernel = nt_gemm_kernel_at(index), Int(kernel.pointee.element) == element,
                kernel.pointee.isa & nt_isa_bits() == kernel.pointee.isa
            else { return nil }
            return kernel
        }
    }

    /// The one of them that is chosen for a product.
    static func chosen(_ shape: ProductShape, _ element: Int) -> UnsafePointer<nt_gemm_kernel>? {
        nt_gemm_choose_element(Int32(element), shape.m, shape.n, shape.taps * nt_slots(Int32(element), shape.channels), nt_isa_bits())
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
