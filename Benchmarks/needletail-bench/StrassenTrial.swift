import CNTKernels
import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import NTTensor

/// A product as a 1x1 convolution at float32-winograd: whether Strassen's method is chosen for it, and its time in either case.
enum StrassenTrial {
    /// The sides of an image of `pixels`, as near to a square as they go: the method's blocks are whole rows of it.
    static func sides(_ pixels: Int) -> (height: Int, width: Int) {
        let height = (1...max(1, Int(Double(pixels).squareRoot()))).last { pixels % $0 == 0 } ?? 1
        return (height, pixels / height)
    }

    /// The kernel that a plan at float32-winograd takes and, when it is Strassen's, the best seconds of its step.
    static func chosen(_ m: Int, _ n: Int, _ k: Int) throws -> (kernel: String, seconds: Double?) {
        let (height, width) = sides(m)
        var builder = GraphBuilder(name: "product")
        let x = builder.input("x", .float32([1, k, height, width]))
        let weights = try builder.constant(try Tensor(float32: [n, k, 1, 1]) { fill($0) })
        let op = Convolution(strides: Size2D(1, 1), padding: .zero, groups: 1, hasBias: false, activation: .identity)
        guard let y = try builder.apply(op, [x, weights], layer: "product").first else { throw GraphError("no output") }
        try builder.output(y, name: "y")
        let plan = try ExecutionPlan(builder.graph, backend: CPUBackend(threadCount: 1), options: CompileOptions(precision: .float32Winograd))
        guard let index = plan.steps.firstIndex(where: { $0.step.operators == [op.kind] }) else { throw GraphError("no step computes the product") }
        let kernel = plan.steps[index].step.kernel
        guard kernel.hasPrefix("strassen") else { return (kernel, nil) }
        let state = try plan.makeState()
        let profile = RunProfile(stepCount: plan.steps.count)
        var best = Double.infinity
        try Stopwatch.repeated {
            profile.reset()
            try plan.run(state, profile: profile)
            best = min(best, profile.seconds[index])
        }
        return (kernel, best)
    }

    /// The best seconds of the method over all rows as one block; nil when a side that it halves is odd.
    static func asOneBlock(_ m: Int, _ n: Int, _ k: Int) throws -> (kernel: String, seconds: Double)? {
        guard m > 1, n % 2 == 0, k % 2 == 0, let gemm = nt_gemm_choose((m + 1) / 2, n / 2, k / 2, nt_isa_bits()) else { return nil }
        var product = nt_strassen()
        (product.depth, product.outputs, product.block_rows, product.gemm) = (k, n, m, gemm)
        product.kernel = nt_strassen_choose(nt_isa_bits())
        let (a, b, c) = (try FloatMemory(m * k), try FloatMemory(n * k), try FloatMemory(m * n))
        let packed = try FloatMemory(nt_strassen_packed_count(gemm, k, n))
        let bias = try FloatMemory(2 * nt_strassen_bias_stride(n))
        let scratch = try FloatMemory(max(nt_strassen_scratch_count(&product), n / 2 * (k / 2)))
        nt_strassen_pack(gemm, k, n, b.start, scratch.start, packed.start)
        (product.packed, product.bias) = (UnsafePointer(packed.start), UnsafePointer(bias.start))
        var activation = nt_activation(lo: -.infinity, hi: .infinity, function: -1, alpha: 0, beta: 0, elementwise: nil)
        let seconds = withExtendedLifetime((packed, bias)) {
            Stopwatch.best {
                nt_strassen_run(&product, &activation, m, a.start, k, c.start, n, nil, 0, scratch.start, 0, 1)
            }
        }
        return ("strassen 1x1 " + String(cString: gemm.pointee.name), seconds)
    }

    private static func fill(_ values: UnsafeMutableBufferPointer<Float>) {
        for index in values.indices { values[index] = Float(index % 7) - 3 }
    }
}
