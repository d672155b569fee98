import CNTKernels
import CNTPlatform
import XCTest

final class GEMMTests: XCTestCase {
    private func sizes(_ tile: Int) -> [Int] { Array(Set([1, max(1, tile - 1), tile, tile + 1, 2 * tile + 3])).sorted() }

    /// Every kernel at the borders of its tile in each dimension, exact data, poisoned slack, odd strides, with and without residual.
    func testTileBorders() {
        for index in 0..<nt_gemm_kernel_count() {
            let kernel = nt_gemm_kernel_at(index)!
            guard kernel.pointee.element == NT_ELEMENT_FLOAT32, kernel.pointee.isa & availableISA == kernel.pointee.isa else { continue }
            for m in sizes(Int(kernel.pointee.rows)) {
                for n in sizes(Int(kernel.pointee.vectors * kernel.pointee.lanes)) + sizes(Int(kernel.pointee.lanes)) {
                    for k in [1, 2, 7, 16] { check(kernel, m, n, k, residual: (m + n + k) % 2 == 0) }
                }
            }
        }
    }

    private func check(_ kernel: UnsafePointer<nt_gemm_kernel>, _ m: Int, _ n: Int, _ k: Int, residual: Bool) {
        var random = KernelNumbers(seed: m * 10007 + n * 101 + k)
        let (strideA, strideC, strideR) = (k + 3, n + 5, n + 1)
        let a = KernelMemory(m * strideA, offset: 1) { $0 % strideA < k ? random.next(-4...4) : .nan }
        let b = (0..<(n * k)).map { _ in random.next(-4...4) }
        let r = KernelMemory(m * strideR) { $0 % strideR < n ? random.next(-9...9) : .nan }
        let c = KernelMemory((m - 1) * strideC + n, offset: 2)
        let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
        let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { $0 < n ? random.next(-9...9) : 0 }
        nt_gemm_pack(kernel, n, 1, k, b, k, 0, 1, packed.start)
        nt_gemm_run(
            kernel, m, n, k, a.start, strideA, packed.start, bias.start, c.start, strideC, residual ? r.start : nil, strideR,
            -50, 60)
        let name = String(cString: kernel.pointee.name)
        XCTAssertTrue(c.isIntact && packed.isIntact, "\(name) \(m)x\(n)x\(k) wrote outside")
        for i in 0..<m {
            for j in 0..<strideC where i * strideC + j < c.count {
                let found = c.start[i * strideC + j]
                guard j < n else {
                    XCTAssertTrue(found.isNaN, "\(name) \(m)x\(n)x\(k) wrote past row \(i)")
                    continue
                }
                var sum = bias.start[j] + (residual ? r.start[i * strideR + j] : 0)
                for p in 0..<k { sum += a.start[i * strideA + p] * b[j * k + p] }
                if found != min(60, max(-50, sum)) {
                    XCTFail("\(name) \(m)x\(n)x\(k) [\(i), \(j)]: \(found), expected \(min(60, max(-50, sum)))")
                    return
                }
            }
        }
    }

    /// Packed weights stand where the contract says, for weights whose taps lie inside channels, channels inside taps, and neither.
    func testPackingOrder() {
        for index in 0..<nt_gemm_kernel_count() {
            let kernel = nt_gemm_kernel_at(index)!
            let width = Int(kernel.pointee.vectors * kernel.pointee.lanes)
            let element = kernel.pointee.element
            let (isPairs, isScaled) = (element != NT_ELEMENT_FLOAT32, element == NT_ELEMENT_FLOAT16)
            for (n, taps, depth) in [(1, 1, 1), (3, 2, 5), (width - 1, 9, 4), (width + 5, 1, 67), (2 * width, 3, 22), (7, 49, 3)] {
                for (column, tap, channel) in [(taps * depth, 1, taps), (taps * depth, depth, 1), (1, n, n * taps), (taps * depth + 3, depth, 1)] {
                    let weights = (0..<(n * taps * depth + 3 * n)).map { Float($0) }
                    let packed = KernelMemory(nt_gemm_packed_count(kernel, n, taps, depth))
                    nt_gemm_pack(kernel, n, taps, depth, weights, column, tap, channel, packed.start)
                    let name = "\(String(cString: kernel.pointee.name)) \(n) \(taps) \(depth)"
                    XCTAssertTrue(packed.isIntact, name)
                    var place = 0
                    for first in stride(from: 0, to: n, by: width) {
                        let columns = nt_gemm_bias_count(kernel, min(width, n - first))
                        // Of each column: what brings the largest weight to at most 31 / 32 of 2^-5.
                        let scales = (first..<(first + columns)).map { j -> Float in
                            var (largest, scale): (Float, Float) = (0, 1)
                            for t in 0..<taps where isScaled && j < n {
                                for k in 0..<depth { largest = max(largest, weights[j * column + t * tap + k * channel]) }
                            }
                            while largest > 0 && largest * scale > 0x1p-5 * 31 / 32 { scale /= 2 }
                            while largest > 0 && largest * scale * 2 <= 0x1p-5 * 31 / 32 { scale *= 2 }
                            return scale
                        }
                        for t in 0..<taps {
                            for k in stride(from: 0, to: depth, by: isPairs ? 2 : 1) {
                                for j in first..<(first + columns) {
                                    func weight(_ k: Int) -> Float { j < n && k < depth ? weights[j * column + t * tap + k * channel] : 0 }
                                    let (lower, upper) = (weight(k) * scales[j - first], weight(k + 1) * scales[j - first])
                                    let pair = UInt32(nt_half_bits(element, lower)) | UInt32(nt_half_bits(element, upper)) << 16
                                    let expected = isPairs ? pair : weight(k).bitPattern
                                    if packed.start[place].bitPattern != expected { return XCTFail("\(name): \(j), \(t), \(k)") }
                                    place += 1
                                }
                            }
                        }
                        for scale in scales where isScaled {
                            if packed.start[place] != 1 / scale { return XCTFail("\(name): the scale \(packed.start[place])") }
                            place += 1
                        }
                    }
                }
            }
        }
    }

    /// A NaN in A reaches its row through the clamp, and no other row.
    func testNaNPassesTheClamp() {
        for index in 0..<nt_gemm_kernel_count() {
            let kernel = nt_gemm_kernel_at(index)!
            guard kernel.pointee.element == NT_ELEMENT_FLOAT32, kernel.pointee.isa & availableISA == kernel.pointee.isa else { continue }
            let (m, n, k) = (5, 9, 3)
            let a = KernelMemory(m * k) { $0 == 2 * k + 1 ? .nan : 1 }
            let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
            let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { _ in 0 }
            let c = KernelMemory(m * n)
            nt_gemm_pack(kernel, n, 1, k, [Float](repeating: 1, count: n * k), k, 0, 1, packed.start)
            nt_gemm_run(kernel, m, n, k, a.start, k, packed.start, bias.start, c.start, n, nil, 0, 0, 6)
            for i in 0..<(m * n) { XCTAssertEqual(c.start[i].isNaN, i / n == 2) }
        }
    }

    /// The choice depends on the estimate alone: walking the list backwards, or with any one kernel taken out that was not chosen, gives the same kernel.
    func testChoiceDoesNotDependOnOrder() {
        for (m, n, k) in [(12544, 32, 27), (3136, 64, 64), (784, 128, 1152), (196, 512, 512), (49, 1024, 1024), (1, 1000, 1024), (3, 5, 7)] {
            let chosen = nt_gemm_choose(m, n, k, availableISA)!
            let cost = nt_gemm_cost(chosen, m, n, k)
            for index in (0..<nt_gemm_kernel_count()).reversed() {
                let other = nt_gemm_kernel_at(index)!
                guard other.pointee.isa & availableISA == other.pointee.isa, other.pointee.element == chosen.pointee.element, other != chosen
                else { continue }
                let rival = nt_gemm_cost(other, m, n, k)
                XCTAssertTrue(
                    rival > cost || (rival == cost && other.pointee.rows < chosen.pointee.rows),
                    "\(m)x\(n)x\(k): \(String(cString: other.pointee.name)) ties with the chosen kernel")
            }
        }
    }

    /// At each ceiling the choice stays within what the ceiling allows.
    func testChoiceObeysCeilings() {
        for ceiling in [0, UInt32(NT_ISA_AVX2), UInt32(NT_ISA_AVX2 | NT_ISA_AVX512)] {
            let kernel = nt_gemm_choose(196, 256, 256, ceiling)!
            XCTAssertEqual(kernel.pointee.isa & ceiling, kernel.pointee.isa)
        }
    }
}
