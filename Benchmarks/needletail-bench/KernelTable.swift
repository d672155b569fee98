import CNTKernels
import CNTPlatform
import COpenBLAS
import NTCPU
import NTRuntime

/// Every GEMM kernel on one shape, by arithmetic, Strassen's method and OpenBLAS beside them.
struct KernelTable {
    /// The longest side, and the most multiply-adds and floats that a table is made for: some seconds for each kernel, and 1 GiB.
    private static let (maximumSide, maximumProducts, maximumFloats) = (1 << 20, 1 << 36, 1 << 28)

    private let shape: ProductShape

    static func run(_ arguments: [String]) throws { try KernelTable(shape: try shape(arguments)).print() }

    private static func shape(_ arguments: [String]) throws -> ProductShape {
        guard arguments.count == 3 else { throw UsageError(message: "kernels takes three sizes, M N K, found \(arguments.count)") }
        let sizes = try zip(["M", "N", "K"], arguments).map { name, text in
            guard let size = Int(text), (1...maximumSide).contains(size) else {
                throw UsageError(message: "kernels: \(name): expected a whole number from 1 to \(maximumSide), found '\(text)'")
            }
            return size
        }
        let (m, n, k) = (sizes[0], sizes[1], sizes[2])
        guard m * n * k <= maximumProducts else {
            throw UsageError(message: "kernels: \(m) x \(n) x \(k) are \(m * n * k) multiply-adds, expected at most \(maximumProducts)")
        }
        guard m * n + m * k + n * k <= maximumFloats else {
            throw UsageError(message: "kernels: three matrices of \(m * n + m * k + n * k) numbers, expected at most \(maximumFloats)")
        }
        return ProductShape(m: m, n: n, taps: 1, channels: k)
    }

    private func print() throws {
        Swift.print("\(shape.m) x \(shape.n) x \(shape.k); the arrow marks what is chosen at each precision")
        for element in [NT_ELEMENT_FLOAT32, NT_ELEMENT_BFLOAT16, NT_ELEMENT_FLOAT16] {
            let kernels = ProductTrial.kernels(of: element)
            guard !kernels.isEmpty else { continue }
            let arithmetic = CPUPeak.arithmetic(Int32(element))
            let peak = Peak.best(arithmetic)
            Swift.print("\n\(arithmetic.rawValue), peak \(Column.number(peak, 0, 1)) GFLOP/s")
            let choice = ProductTrial.chosen(shape, element)
            for kernel in kernels {
                let trial = try ProductTrial(kernel, shape)
                Stopwatch.repeated { trial.time() }
                row(String(cString: kernel.pointee.name), trial.best, peak, isChosen: kernel == choice)
            }
            if element == NT_ELEMENT_FLOAT32 { try printOthers(peak) }
        }
    }

    /// What multiplies in float32 besides.
    private func printOthers(_ peak: Double) throws {
        let (height, width) = StrassenTrial.sides(shape.m)
        let (kernel, seconds) = try StrassenTrial.chosen(shape.m, shape.n, shape.k)
        let image = "an image of \(height) x \(width)"
        if let seconds {
            row(kernel, seconds, peak, share: 7.0 / 8, isChosen: true, note: "at float32-winograd, for \(image)")
        } else if let other = try StrassenTrial.asOneBlock(shape.m, shape.n, shape.k) {
            row(
                other.kernel, other.seconds, peak, share: 7.0 / 8, isChosen: false,
                note: "as one block; at float32-winograd, for \(image), plain sums are chosen")
        }
        let (own, isHigher) = Peak.withoutCeiling()
        row(
            "OpenBLAS sgemm", try openBLASSeconds(), own, isChosen: false,
            note: isHigher ? "not bound by NEEDLETAIL_MAX_ISA: of \(Column.number(own, 0, 1)) GFLOP/s" : "")
    }

    /// `share` of the multiply-adds are done, which is what is held to the peak.
    private func row(_ name: String, _ seconds: Double, _ peak: Double, share: Double = 1, isChosen: Bool, note: String = "") {
        let (time, gigaflops) = (seconds * 1e6, 2 * Double(shape.m) * Double(shape.n) * Double(shape.k) / seconds / 1e9)
        let mark = [isChosen ? "<-" : "", note].filter { !$0.isEmpty }.map { "  " + $0 }.joined()
        Swift.print(
            Column.left(name, 26) + Column.number(time, 11, time < 100 ? 4 : 1) + " us" + Column.number(gigaflops, 9, gigaflops < 10 ? 3 : 1)
                + " GFLOP/s" + Column.number(gigaflops * share / peak * 100, 6, 0) + " %" + mark)
    }

    /// The library's product of the same shape on one thread; its packing counts, since it packs at each call.
    private func openBLASSeconds() throws -> Double {
        openblas_set_num_threads(1)
        let (m, n, k) = (shape.m, shape.n, shape.k)
        let (a, b, c) = (try FloatMemory(m * k), try FloatMemory(n * k), try FloatMemory(m * n))
        return Stopwatch.best {
            cblas_sgemm(
                CblasRowMajor, CblasNoTrans, CblasNoTrans, blasint(m), blasint(n), blasint(k), 1, a.start, blasint(k), b.start,
                blasint(n), 0, c.start, blasint(n))
        }
    }
}
