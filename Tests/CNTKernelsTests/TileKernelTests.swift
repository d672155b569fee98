import CNTKernels
import CNTPlatform
import XCTest

/// What is AMX's own: the order of its sums, special numbers, when it is chosen. On the software model of its tiles, and on them where there are any.
final class TileKernelTests: XCTestCase {
    private let element = Int32(NT_ELEMENT_BFLOAT16)

    private func requireInstructions() throws {
        try XCTSkipUnless(availableISA & UInt32(NT_ISA_AVX512_BF16) != 0, "this processor has no AVX512-BF16")
    }

    private func rounded(_ value: Float) -> Float { nt_bfloat16_value(nt_bfloat16_bits(value)) }

    private func slots(_ channels: Int) -> Int { nt_slots(element, channels) }

    /// Kernels on AMX's tiles add what a tap's 16 slots come to, lower and upper numbers apart, and a row's sum does not depend on its neighbours.
    func testOrderOfSumsOnTiles() throws {
        try requireInstructions()
        XCTAssertTrue(testedKernels(element).contains { nt_gemm_chunk($0) == 16 })
        for kernel in testedKernels(element) where nt_gemm_chunk(kernel) == 16 {
            var random = KernelNumbers(seed: 3)
            let (m, n, k) = (37, 19, 71)
            let a = PairMemory(element, rows: m, count: k, stride: slots(k)) { _, _ in random.unit() }
            let b = (0..<(n * k)).map { _ in rounded(random.unit()) }
            let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
            let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { _ in random.unit() }
            nt_gemm_pack(kernel, n, 1, k, b, k, 0, 1, packed.start)
            let c = KernelMemory(m * n)
            nt_gemm_run(kernel, m, n, slots(k), a.start, a.stride, packed.start, bias.start, c.start, n, nil, 0, -.infinity, .infinity)
            for i in 0..<m {
                for j in 0..<n {
                    var sum = bias.start[j]
                    for first in stride(from: 0, to: k, by: 32) {
                        var (lower, upper) = (Float(0), Float(0))
                        for p in stride(from: first, to: min(k, first + 32), by: 2) {
                            lower += a[i, p] * b[j * k + p]
                            if p + 1 < k { upper += a[i, p + 1] * b[j * k + p + 1] }
                        }
                        sum += lower + upper
                    }
                    XCTAssertEqual(c.start[i * n + j].bitPattern, sum.bitPattern, "\(i), \(j)")
                }
            }
        }
    }

    /// Infinite numbers, NaN and numbers next to zero go through tiles as through vectors.
    func testSpecialNumbersOnTiles() throws {
        try requireInstructions()
        let special: [Float] = [.infinity, -.infinity, .nan, Float(bitPattern: 0x0012_0000), 3e38, 1]
        for kernel in testedKernels(element) where nt_gemm_chunk(kernel) == 16 {
            for value in special {
                let (m, n, k) = (20, 5, 40)
                let a = PairMemory(element, rows: m, count: k, stride: slots(k)) { row, index in row == 17 && index == 33 ? value : 0.5 }
                let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
                let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { _ in 0 }
                nt_gemm_pack(kernel, n, 1, k, [Float](repeating: 2, count: n * k), k, 0, 1, packed.start)
                let c = KernelMemory(m * n)
                nt_gemm_run(kernel, m, n, slots(k), a.start, a.stride, packed.start, bias.start, c.start, n, nil, 0, -.infinity, .infinity)
                for i in 0..<(m * n) {
                    let expected = i / n == 17 ? Float(k - 1) + 2 * (value.isSubnormal ? 0 : rounded(value)) : Float(k)
                    XCTAssertTrue(c.start[i] == expected || (c.start[i].isNaN && expected.isNaN), "\(value): \(c.start[i]), expected \(expected)")
                }
            }
        }
    }

    /// The model of tiles is no processor's, and is never chosen.
    func testModelIsNeverChosen() {
        XCTAssertEqual(availableISA & UInt32(NT_ISA_AMX_MODEL), 0)
        for m in [1, 49, 12544] {
            guard let kernel = nt_gemm_choose_element(element, m, 256, 256, availableISA) else { continue }
            XCTAssertFalse(String(cString: kernel.pointee.name).hasPrefix("amx-model"))
        }
    }

    /// Where a processor has tiles they take what they are made for, and leave single rows and narrow taps to vectors.
    func testChoiceOfTiles() {
        let isa = UInt32(NT_ISA_AVX512 | NT_ISA_AVX512_BF16 | NT_ISA_AMX_BF16)
        for (m, n, taps, depth, expected) in [
            (3136, 64, 1, 16, "amx 32x32"), (196, 512, 1, 256, "amx 32x32"), (49, 1024, 1, 512, "amx 32x32"), (784, 128, 9, 64, "amx 32x32"),
            (1, 1000, 1, 512, "avx512bf16"), (12544, 8, 49, 1, "avx512bf16"),
        ] {
            let name = String(cString: nt_gemm_choose_taps(element, m, n, taps, depth, isa)!.pointee.name)
            XCTAssertTrue(name.hasPrefix(expected), "\(m)x\(n)x\(taps)x\(depth): \(name)")
        }
    }
}
