import CNTKernels
import CNTPlatform
import XCTest

/// What is float16's own: conversions, its multiply-add, the rounding and the range of its sums.
final class Float16KernelTests: XCTestCase {
    private let element = Int32(NT_ELEMENT_FLOAT16)

    private func requireInstructions() throws {
        try XCTSkipUnless(availableISA & UInt32(NT_ISA_AVX512) != 0, "this processor has no AVX-512")
    }

    /// The kernels of float16 that this processor can run.
    private var kernels: [UnsafePointer<nt_gemm_kernel>] {
        (0..<nt_gemm_kernel_count()).compactMap(nt_gemm_kernel_at).filter {
            $0.pointee.element == element && $0.pointee.isa & pairISA == $0.pointee.isa
        }
    }

    /// All 65536 numbers become float32 and come back, by the loops of one number and by the kernels of rows.
    func testEveryNumberConverts() throws {
        for bits in UInt16.min...UInt16.max {
            let value = nt_float16_value(bits)
            XCTAssertEqual(value.bitPattern, Float(Float16(bitPattern: bits)).bitPattern & (value.isNaN ? value.bitPattern : ~0))
            XCTAssertTrue(value.isNaN ? Float(nt_float16_value(nt_float16_bits(value))).isNaN : nt_float16_bits(value) == bits)
        }
        try requireInstructions()
        let count = 1 << 16
        let halves = KernelMemory(count / 2) { Float(bitPattern: UInt32(2 * $0) | UInt32(2 * $0 + 1) << 16) }
        let (floats, back) = (KernelMemory(count), KernelMemory(count / 2))
        nt_row_from_pairs(element, count, halves.start, floats.start)
        nt_row_to_pairs(element, count, floats.start, back.start)
        for bits in 0..<count {
            let expected = nt_float16_value(UInt16(bits))
            let found = UInt16(truncatingIfNeeded: back.start[bits / 2].bitPattern >> (bits % 2 == 0 ? 0 : 16))
            XCTAssertTrue(floats.start[bits] == expected || (floats.start[bits].isNaN && expected.isNaN))
            XCTAssertTrue(found == UInt16(bits) || (expected.isNaN && nt_float16_value(found).isNaN))
        }
    }

    /// float32 numbers at, below and above each number of float16 and the middle of each two round as the language's own type does.
    func testRoundingToEveryNumber() throws {
        var numbers: [Float] = [65519.996, 65520, 65536, 1e9, .infinity, .nan, 1e-8, 0x1p-25, 0x1.000002p-25, 1e-30]
        for bits in UInt16(0)..<0x7c00 {
            let (value, next) = (nt_float16_value(bits), bits == 0x7bff ? 65536 : nt_float16_value(bits + 1))
            let middle = (value + next) / 2
            numbers += [value, middle, middle.nextDown, middle.nextUp, value.nextUp]
        }
        numbers += numbers.map { -$0 }
        for number in numbers {
            let expected = Float16(number)
            XCTAssertTrue(nt_float16_bits(number) == expected.bitPattern || expected.isNaN, "\(number)")
        }
        try requireInstructions()
        let row = KernelMemory((numbers.count + 1) / 2)
        numbers.withUnsafeBufferPointer { nt_row_to_pairs(element, numbers.count, $0.baseAddress, row.start) }
        for (index, number) in numbers.enumerated() {
            let found = UInt16(truncatingIfNeeded: row.start[index / 2].bitPattern >> (index % 2 == 0 ? 0 : 16))
            XCTAssertTrue(found == nt_float16_bits(number) || (number.isNaN && nt_float16_value(found).isNaN), "\(number)")
        }
    }

    /// A product of m x k and k x n numbers by a kernel, in float32, with a bias of zeros.
    private func product(_ kernel: UnsafePointer<nt_gemm_kernel>, _ m: Int, _ n: Int, _ k: Int, _ a: (Int, Int) -> Float, _ b: [Float]) -> [Float] {
        let slots = nt_slots(element, k)
        let rows = PairMemory(element, rows: m, count: k, stride: slots + 1, a)
        let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
        let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { _ in 0 }
        let c = KernelMemory(m * n)
        nt_gemm_pack(kernel, n, 1, k, b, k, 0, 1, packed.start)
        nt_gemm_run(
            kernel, m, n, slots, rows.start, rows.stride, packed.start, bias.start, c.start, n, nil, 0, -.infinity, .infinity)
        XCTAssertTrue(c.isIntact && packed.isIntact)
        return c.values
    }

    /// The sum of one lane's chunk as the contract has it: each multiply-add rounded once. (Products are exact in double precision, and sums unless
    /// one part is too small to matter.)
    private static func chunk(_ a: [Float], _ b: [Float]) -> Float16 {
        zip(a, b).reduce(Float16(0)) { Float16(Double($1.0) * Double($1.1) + Double($0)) }
    }

    /// Every rounding of partial sums is the one of a fused multiply-add in float16: bits equal to the language's own, on numbers of every size.
    func testSumsAreRoundedAsTheContractSays() throws {
        try requireInstructions()
        for kernel in kernels {
            for (seed, k) in [(1, 1), (2, 2), (3, 31), (4, 64), (5, 65), (6, 128), (7, 200)] {
                var random = KernelNumbers(seed: seed)
                // Magnitudes over the whole range, subnormal ones too, of either sign.
                func number(_ low: Int, _ high: Int) -> Float {
                    random.unit() * Float(sign: .plus, exponent: Int(random.next(low...high)), significand: 1)
                }
                let (m, n) = (15, 33)
                let a = (0..<m).map { _ in (0..<k).map { _ in nt_float16_value(nt_float16_bits(number(-20, 15))) } }
                // The largest weight, 31 / 64, is packed as 31 / 32 of 2^-5: by a scale of 1 / 16.
                let b = (0..<(n * k)).map { $0 % k == 0 ? 0.484375 : 0.484375 * number(-20, 0) }
                let found = product(kernel, m, n, k, { a[$0][$1] }, b)
                for i in 0..<m {
                    for j in 0..<n {
                        let weights = (0..<k).map { nt_float16_value(nt_float16_bits(b[j * k + $0] / 16)) }
                        var (even, odd): (Float, Float) = (0, 0)
                        for start in stride(from: 0, to: k, by: 64) {
                            let terms = Array(start..<min(k, start + 64))
                            let (evens, odds) = (terms.filter { $0 % 2 == 0 }, terms.filter { $0 % 2 == 1 })
                            even += Float(Self.chunk(evens.map { a[i][$0] }, evens.map { weights[$0] }))
                            odd += Float(Self.chunk(odds.map { a[i][$0] }, odds.map { weights[$0] }))
                        }
                        let expected = (even + odd) * 16
                        guard found[i * n + j] == expected else {
                            return XCTFail("\(String(cString: kernel.pointee.name)) k \(k) [\(i), \(j)]: \(found[i * n + j]), expected \(expected)")
                        }
                    }
                }
            }
        }
    }

    /// Errors of long sums stay within the bound of the contract, and on average near the rounding of the weights alone.
    func testErrorBound() throws {
        try requireInstructions()
        var random = KernelNumbers(seed: 5)
        let (m, n, k) = (29, 70, 1153)
        let a = (0..<m).map { _ in (0..<k).map { _ in nt_float16_value(nt_float16_bits(random.unit() * 300)) } }
        let b = (0..<(n * k)).map { _ in random.unit() * 0.05 }
        let largest = a.joined().map(abs).max() ?? 0
        for kernel in kernels {
            let found = product(kernel, m, n, k, { a[$0][$1] }, b)
            var (squares, sizes) = (0.0, 0.0)
            for i in 0..<m {
                for j in 0..<n {
                    let weights = b[(j * k)..<((j + 1) * k)].map(Double.init)
                    let exact = zip(a[i], weights).reduce(0.0) { $0 + Double($1.0) * $1.1 }
                    let (sum, top) = (weights.reduce(0) { $0 + abs($1) }, weights.map(abs).max() ?? 0)
                    let bound = 0x1p-11 * 34 * Double(largest) * sum + 0x1p-19 * Double(k) * (1 + Double(largest)) * top
                    let error = abs(Double(found[i * n + j]) - exact)
                    XCTAssertLessThanOrEqual(error, bound)
                    squares += error * error
                    sizes += zip(a[i], weights).reduce(0.0) { $0 + Double($1.0) * Double($1.0) * $1.1 * $1.1 }
                }
            }
            XCTAssertLessThan((squares / sizes).squareRoot(), 0x1p-10, String(cString: kernel.pointee.name))
        }
    }

    /// Neither large weights nor the largest numbers of float16 overflow a sum; tiny weights keep their precision; a result beyond the range is
    /// infinite when written as float16, and what is not finite going in is not finite coming out.
    func testRange() throws {
        try requireInstructions()
        for kernel in kernels {
            let k = 128
            // Large and tiny weights, all of one sign: exact sums of 128 equal terms.
            for weight: Float in [1, 0x1p-120, 0x1p100, 3e38, 0x1.fp-3, -0x1.ep7] {
                let found = product(kernel, 3, 17, k, { _, _ in 1 }, [Float](repeating: weight, count: 17 * k))
                let expected = 128 * weight
                for value in found { XCTAssertTrue(value == expected || abs(value - expected) <= abs(expected) * 0x1p-9, "\(weight): \(value)") }
            }
            // The largest numbers times the largest weights, partial sums as large as they get.
            let found = product(kernel, 3, 17, k, { _, _ in 65504 }, [Float](repeating: 1.9375, count: 17 * k))
            for value in found { XCTAssertEqual(value, 128 * 65504 * 1.9375, accuracy: 128 * 65504 * 0x1p-9) }
            for (a, finite) in [(Float.infinity, false), (.nan, false), (60000, true)] {
                let sums = product(kernel, 2, 16, 3, { row, i in row == 0 && i == 1 ? a : 1 }, [Float](repeating: 1, count: 48))
                XCTAssertTrue(sums[0..<16].allSatisfy { $0.isFinite == finite } && sums[16...].allSatisfy(\.isFinite))
            }
            checkStoreBeyondTheRange(kernel)
        }
    }

    /// Results of 65504, 65519, 65520 and more, from the last but one of which on infinite; in place of their residual.
    private func checkStoreBeyondTheRange(_ kernel: UnsafePointer<nt_gemm_kernel>) {
        let signs: [Float] = [1, -1]
        let c = PairMemory(element, rows: 2, count: 5, stride: 4) { row, _ in signs[row] * 32752 }
        let a = PairMemory(element, rows: 2, count: 1, stride: 1) { row, _ in signs[row] * 32752 }
        let packed = KernelMemory(nt_gemm_packed_count(kernel, 5, 1, 1))
        let bias = KernelMemory(nt_gemm_bias_count(kernel, 5)) { $0 < 5 ? [0, 15, 15.99, 16, 1e6][$0] : 0 }
        nt_gemm_pack(kernel, 5, 1, 1, [Float](repeating: 1, count: 5), 1, 0, 1, packed.start)
        nt_gemm_run_to(
            element, kernel, 2, 5, 1, a.start, 1, packed.start, bias.start, c.start, 4, c.start, 4, -.infinity, .infinity)
        XCTAssertTrue(c.isIntact(rows: 2))
        XCTAssertEqual((0..<5).map { c[0, $0] }, [65504, 65504, 65504, .infinity, .infinity])
        XCTAssertEqual((0..<5).map { c[1, $0] }, [-65504, -65489, -65488.01, -65488, .infinity].map(rounded))
    }

    private func rounded(_ value: Float) -> Float { nt_float16_value(nt_float16_bits(value)) }

    /// Rows of weights that are zeros, infinite or no numbers are packed as they are.
    func testOddWeights() throws {
        try requireInstructions()
        for kernel in kernels {
            for weight: Float in [0, .infinity, .nan] {
                let found = product(kernel, 2, 3, 4, { _, _ in 2 }, [weight, 1, 1, 1, 1, 1, 1, 1, weight, weight, weight, weight])
                XCTAssertEqual(found[1], 8)
                XCTAssertTrue(weight == 0 ? found[0] == 6 && found[2] == 0 : !found[0].isFinite && !found[2].isFinite, "\(weight): \(found)")
            }
        }
    }

    /// An image's bits do not depend on the images beside it, with which it shares tiles: on small ones whole taps are padding in some tiles alone.
    func testNeighboursDoNotChangeBits() throws {
        try requireInstructions()
        for kernel in kernels {
            for (size, dilation, channels) in [(3, 1, 10), (2, 1, 50), (5, 3, 34)] {
                let window = ConvolutionKernelTests.Geometry(size, size, kernel: (3, 3), stride: 1, dilation: dilation, pad: dilation).window
                let alone = convolution(kernel, window, channels, images: [1])
                for images in [[2, 1], [3, 4, 5, 1], [1, 2]] {
                    let all = convolution(kernel, window, channels, images: images)
                    let first = images.firstIndex(of: 1)! * alone.count
                    XCTAssertEqual(Array(all[first..<(first + alone.count)]), alone, "\(size) \(images)")
                }
            }
        }
    }

    /// 20 outputs of a convolution over images of numbers that their seeds give, in float32.
    private func convolution(_ kernel: UnsafePointer<nt_gemm_kernel>, _ window: nt_window, _ channels: Int, images: [Int]) -> [Float] {
        let (slots, plane, outputs) = (nt_slots(element, channels), window.in_height * window.in_width, 20)
        var generators = images.map { KernelNumbers(seed: $0) }
        let x = PairMemory(element, rows: images.count * plane, count: channels, stride: slots) { row, _ in generators[row / plane].unit() }
        var random = KernelNumbers(seed: channels)
        let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, 9, channels))
        let bias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { _ in 0 }
        let zeros = KernelMemory(slots * 3) { _ in 0 }
        nt_gemm_pack(
            kernel, outputs, 9, channels, (0..<(outputs * 9 * channels)).map { _ in random.unit() }, 9 * channels, channels, 1, packed.start)
        var conv = nt_conv()
        (conv.window, conv.batch, conv.groups, conv.channels, conv.outputs) = (window, images.count, 1, slots, outputs)
        (conv.x_stride, conv.y_stride, conv.kernel, conv.packed) = (slots, outputs, kernel, UnsafePointer(packed.start))
        (conv.bias, conv.zeros, conv.block_rows) = (UnsafePointer(bias.start), UnsafePointer(zeros.start), 64)
        conv.activation = ConvolutionKernelTests.activation(isa: availableISA)
        let y = KernelMemory(images.count * plane * outputs)
        nt_conv_run(&conv, x.start, y.start, nil, 0, 1)
        XCTAssertTrue(y.isIntact)
        return withExtendedLifetime((packed, bias, zeros)) { y.values }
    }
}
