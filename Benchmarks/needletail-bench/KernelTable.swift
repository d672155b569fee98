import CNTKernels
import CNTPlatform
import COpenBLAS
import NTCPU
import NTRuntime

/// Every GEMM kernel on one shape.
enum KernelTable {
    static func run(_ arguments: [String]) throws {
        let sizes = arguments.compactMap { Int($0) }
        guard sizes.count == 3, arguments.count == 3, sizes.allSatisfy({ (1...(1 << 20)).contains($0) }) else {
            throw UsageError(message: "kernels takes three sizes: M N K")
        }
        let (m, n, k) = (sizes[0], sizes[1], sizes[2])
        guard m * n < 1 << 30, m * k < 1 << 30, n * k < 1 << 30 else { throw UsageError(message: "the matrices are too large") }
        let peak = Peak.best()
        let halfPeaks = [(NT_ELEMENT_BFLOAT16, Arithmetic.bfloat16), (NT_ELEMENT_FLOAT16, .float16)].filter { CPUPeak.best($0.1, seconds: 0) != nil }
            .map { (element: $0.0, name: $0.1.rawValue, gigaflops: Peak.best($0.1)) }
        let chosen = nt_gemm_choose(m, n, k, nt_isa_bits())
        let half = halfPeaks.map { ", \(Column.number($0.gigaflops, 0, 1)) in \($0.name)" }.joined()
        print("\(m) x \(n) x \(k); peak \(Column.number(peak, 0, 1)) GFLOP/s in float32\(half)")
        for index in 0..<nt_gemm_kernel_count() {
            guard let kernel = nt_gemm_kernel_at(index), kernel.pointee.isa & nt_isa_bits() == kernel.pointee.isa else { continue }
            let seconds = time(kernel, m, n, k)
            let gflops = 2 * Double(m) * Double(n) * Double(k) / seconds / 1e9
            let peak = halfPeaks.first { $0.element == Int(kernel.pointee.element) }?.gigaflops ?? peak
            print(
                Column.left(String(cString: kernel.pointee.name), 18) + Column.number(seconds * 1e6, 11, 1) + " us"
                    + Column.number(gflops, 9, 1) + " GFLOP/s" + Column.number(gflops / peak * 100, 6, 0) + " %"
                    + (kernel == chosen ? "  <-" : ""))
        }
        let seconds = timeOpenBLAS(m, n, k)
        let gflops = 2 * Double(m) * Double(n) * Double(k) / seconds / 1e9
        print(
            Column.left("OpenBLAS sgemm", 18) + Column.number(seconds * 1e6, 11, 1) + " us" + Column.number(gflops, 9, 1) + " GFLOP/s"
                + Column.number(gflops / peak * 100, 6, 0) + " %")
    }

    /// The library's product of the same shape on one thread; its packing counts, since it packs at each call.
    private static func timeOpenBLAS(_ m: Int, _ n: Int, _ k: Int) -> Double {
        openblas_set_num_threads(1)
        let a = FloatMemory(m * k)
        let b = FloatMemory(n * k)
        let c = FloatMemory(m * n)
        return Stopwatch.best {
            cblas_sgemm(
                CblasRowMajor, CblasNoTrans, CblasNoTrans, blasint(m), blasint(n), blasint(k), 1, a.start, blasint(k), b.start,
                blasint(n), 0, c.start, blasint(n))
        }
    }

    private static func time(_ kernel: UnsafePointer<nt_gemm_kernel>, _ m: Int, _ n: Int, _ k: Int) -> Double {
        // The stride the backend gives to pixels of this many channels.
        let depth = nt_slots(kernel.pointee.element, k)
        let stride = depth % 512 == 0 ? depth + 16 : depth
        let a = FloatMemory(m * stride)
        let b = FloatMemory(n * k)
        let c = FloatMemory(m * n)
        let packed = FloatMemory(nt_gemm_packed_count(kernel, n, 1, k))
        let bias = FloatMemory(nt_gemm_bias_count(kernel, n))
        nt_gemm_pack(kernel, n, 1, k, b.start, k, 0, 1, packed.start)
        return Stopwatch.best {
            nt_gemm_run(
                kernel, m, n, depth, a.start, stride, packed.start, bias.start, c.start, n, nil, 0, -.infinity, .infinity)
        }
    }
}

/// Floats aligned to cache lines, small whole numbers.
final class FloatMemory {
    let start: UnsafeMutablePointer<Float>

    init(_ count: Int) {
        guard let memory = nt_aligned_alloc(64, max(64, count * 4)) else { fatalError("out of memory for \(count) floats") }
        start = memory.bindMemory(to: Float.self, capacity: count)
        for index in 0..<count { start[index] = Float(index % 7) - 3 }
    }

    deinit { nt_aligned_free(start) }
}
