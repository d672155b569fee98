import CNTKernels
import CNTPlatform
import XCTest

/// Kernels on images of two numbers in a slot, bfloat16 and float16: whole numbers, whose sums are exact, so that a result is the exact sum
/// rounded once. What AVX512-FP16 does is computed by its model as well, and by that alone where the processor has no such instructions.
final class PairKernelTests: XCTestCase {
    private typealias Geometry = ConvolutionKernelTests.Geometry
    private var element = Int32(NT_ELEMENT_BFLOAT16)

    /// The elements that this processor has kernels for.
    static var elements: [Int32] {
        [NT_ELEMENT_BFLOAT16, NT_ELEMENT_FLOAT16].map { Int32($0) }.filter { nt_gemm_choose_element($0, 1, 1, 1, pairISA) != nil }
    }

    /// Runs a test for each of them.
    private func eachElement(_ test: () throws -> Void) throws {
        try XCTSkipIf(Self.elements.isEmpty, "this processor has neither AVX512-BF16 nor AVX-512")
        for element in Self.elements {
            self.element = element
            try test()
        }
    }

    private func rounded(_ value: Float) -> Float { nt_half_value(element, nt_half_bits(element, value)) }

    private func slots(_ channels: Int) -> Int { nt_slots(element, channels) }

    func testConversions() throws { try eachElement(checkConversions) }

    private func checkConversions() {
        let special: [Float] = [0, -0.0, 1, 1.00390625, 1.01171875, -2.5, .infinity, -.infinity, .nan, 3.4e38, 1e-38, 65504, 1 / 3]
        for count in [1, 2, 15, 16, 17, 33] {
            let x = KernelMemory(2 * (count + 1)) { special[$0 % special.count] }
            var conversion = nt_conversion(rows: 2, count: count, x_stride: count + 1, y_stride: slots(count) + 2, element: element, to_pairs: 1)
            let y = PairMemory(element, rows: 2, count: count, stride: slots(count) + 2)
            for part in 0..<3 { nt_conversion_run(&conversion, x.start, y.start, part, 3) }
            XCTAssertTrue(y.isIntact(rows: 2))
            let back = KernelMemory(2 * (count + 3))
            conversion = nt_conversion(rows: 2, count: count, x_stride: y.stride, y_stride: count + 3, element: element, to_pairs: 0)
            nt_conversion_run(&conversion, y.start, back.start, 0, 1)
            XCTAssertTrue(back.isIntact)
            for row in 0..<2 {
                for i in 0..<count {
                    let value = x.start[row * (count + 1) + i]
                    // Subnormal numbers count as zero in the processor's conversion to bfloat16.
                    let expected = value.magnitude < 1.2e-38 ? 0 : rounded(value)
                    let found = back.start[row * (count + 3) + i]
                    XCTAssertTrue(found == expected || (found.isNaN && expected.isNaN), "\(value): \(found), expected \(expected)")
                    XCTAssertTrue(y[row, i] == found || found.isNaN)
                }
                for i in count..<(count + 3) { XCTAssertTrue(back.start[row * (count + 3) + i].isNaN) }
            }
        }
    }

    /// Three planes become pixels, nothing is read past a plane or written past the last slot.
    func testPlanesToPairs() throws { try eachElement(checkPlanesToPairs) }

    private func checkPlanesToPairs() {
        for count in [1, 2, 5, 6, 10, 11, 15, 16, 17, 31, 32, 50] {
            let planes = (0..<3).map { plane in KernelMemory(count, offset: plane) { Float(3 * $0 + plane) / 7 } }
            let y = PairMemory(element, rows: 1, count: 3 * count, stride: slots(3 * count) + 3)
            withExtendedLifetime(planes) { nt_planes_to_pairs(element, count, planes.map { UnsafePointer($0.start) }, y.start) }
            XCTAssertTrue(y.isIntact(rows: 1))
            for i in 0..<(3 * count) { XCTAssertEqual(y[0, i], rounded(Float(i) / 7)) }
        }
    }

    /// Every GEMM kernel at the borders of its tile, with results in pairs and in float32.
    func testTileBorders() throws { try eachElement(checkTileBorders) }

    private func checkTileBorders() {
        for kernel in testedKernels(element) {
            let (rows, columns) = (Int(kernel.pointee.rows), Int(kernel.pointee.vectors * 16))
            let heights = [1, rows - 1, rows, rows + 1, 2 * rows + 3] + (rows > 16 ? [15, 16, 17] : [])
            let depths = [1, 2, 7, 16] + (nt_gemm_chunk(kernel) > 1 ? [31, 32, 33, 70] : [])
            for m in heights {
                for n in [1, 2, 15, 16, 17, columns - 1, columns, columns + 1, 2 * columns + 3] {
                    for k in depths { checkProduct(kernel, m, n, k) }
                }
            }
        }
    }

    private func checkProduct(_ kernel: UnsafePointer<nt_gemm_kernel>, _ m: Int, _ n: Int, _ k: Int) {
        var random = KernelNumbers(seed: m * 10007 + n * 101 + k)
        let a = PairMemory(element, rows: m, count: k, stride: slots(k) + 3, offset: 1) { _, _ in random.next(-9...9) }
        let b = (0..<(n * k)).map { _ in random.next(-9...9) }
        let packed = KernelMemory(nt_gemm_packed_count(kernel, n, 1, k))
        let bias = KernelMemory(nt_gemm_bias_count(kernel, n)) { $0 < n ? random.next(-9...9) : 0 }
        nt_gemm_pack(kernel, n, 1, k, b, k, 0, 1, packed.start)
        let residual = PairMemory(element, rows: m, count: n, stride: slots(n) + 1) { _, _ in random.next(-9...9) }
        let floats = KernelMemory(m * (n + 1)) { $0 % (n + 1) < n ? Float($0 % 7) : .nan }
        let pairs = PairMemory(element, rows: m, count: n, stride: slots(n) + 2)
        let c = KernelMemory(m * (n + 3))
        nt_gemm_run_to(
            element, kernel, m, n, slots(k), a.start, a.stride, packed.start, bias.start, pairs.start, pairs.stride, residual.start,
            residual.stride, -300, 900)
        nt_gemm_run(
            kernel, m, n, slots(k), a.start, a.stride, packed.start, bias.start, c.start, n + 3, floats.start, n + 1, -300, 900)
        let name = "\(String(cString: kernel.pointee.name)) \(m)x\(n)x\(k)"
        XCTAssertTrue(pairs.isIntact(rows: m) && c.isIntact && packed.isIntact, "\(name) wrote outside")
        for i in 0..<m {
            for j in n..<(n + 3) { XCTAssertTrue(c.start[i * (n + 3) + j].isNaN, "\(name) wrote past row \(i)") }
            for j in 0..<n {
                let sum = (0..<k).reduce(bias.start[j]) { $0 + a[i, $1] * b[j * k + $1] }
                let expected = rounded(min(900, max(-300, sum + residual[i, j])))
                let exact = min(900, max(-300, sum + floats.start[i * (n + 1) + j]))
                guard pairs[i, j] == expected, c.start[i * (n + 3) + j] == exact else {
                    XCTFail("\(name) [\(i), \(j)]: \(pairs[i, j]) and \(c.start[i * (n + 3) + j]), expected \(expected) and \(exact)")
                    return
                }
            }
        }
    }

    func testConvolution() throws { try eachElement(checkConvolutions) }

    private func checkConvolutions() {
        for (geometry, channels, outputs, groups) in [
            (Geometry(7, 7, kernel: (1, 1), stride: 1, dilation: 1, pad: 0), 16, 70, 1),
            (Geometry(9, 7, kernel: (1, 1), stride: 2, dilation: 1, pad: 0), 7, 33, 1),
            (Geometry(8, 9, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 5, 17, 1),
            (Geometry(9, 31, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 4, 18, 1),
            (Geometry(9, 11, kernel: (3, 2), stride: 2, dilation: 2, pad: 2), 3, 20, 1),
            (Geometry(15, 13, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 12, 132, 2),
            (Geometry(12, 12, kernel: (8, 8), stride: 1, dilation: 1, pad: 4), 2, 6, 1),
            (Geometry(9, 10, kernel: (9, 8), stride: 1, dilation: 1, pad: 4), 6, 7, 1),
            (Geometry(6, 41, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 64, 33, 1),
            (Geometry(7, 37, kernel: (3, 3), stride: 2, dilation: 1, pad: 0), 38, 40, 1),
        ] {
            for kernel in testedKernels(element) {
                for (writesPairs, isDense) in [(true, true), (true, false), (false, false)]
                where !writesPairs || geometry.window.kernel_height * geometry.window.kernel_width <= 64 {
                    checkConvolution(kernel, geometry.window, channels, outputs, groups, writesPairs: writesPairs, isDense: isDense)
                }
            }
        }
    }

    private func checkConvolution(
        _ kernel: UnsafePointer<nt_gemm_kernel>, _ window: nt_window, _ channels: Int, _ outputs: Int, _ groups: Int, writesPairs: Bool,
        isDense: Bool
    ) {
        var random = KernelNumbers(seed: channels * 31 + outputs)
        let batch = 2
        let (inputs, pixels) = (batch * window.in_height * window.in_width, batch * window.out_height * window.out_width)
        let taps = window.kernel_height * window.kernel_width
        let (depth, perGroup) = (channels / groups, outputs / groups)
        let x = PairMemory(element, rows: inputs, count: channels, stride: slots(channels) + (isDense ? 0 : 2)) { _, _ in random.next(-3...3) }
        let weights = (0..<(outputs * taps * depth)).map { _ in random.next(-3...3) }
        let bias = (0..<outputs).map { _ in random.next(-5...5) }
        let (packedStride, biasStride) = (nt_gemm_packed_count(kernel, perGroup, taps, depth), nt_gemm_bias_count(kernel, perGroup))
        let packed = KernelMemory(packedStride * groups)
        let packedBias = KernelMemory(biasStride * groups) { _ in 0 }
        for g in 0..<groups {
            let first = g * perGroup * taps * depth
            nt_gemm_pack(
                kernel, perGroup, taps, depth, Array(weights[first...]), taps * depth, depth, 1, packed.start + g * packedStride)
            for o in 0..<perGroup { packedBias.start[g * biasStride + o] = bias[g * perGroup + o] }
        }
        let zeros = KernelMemory(slots(channels) * window.kernel_width) { _ in 0 }
        let sums = ConvolutionKernelTests.reference(
            window, batch: batch, channels: channels, outputs: outputs, groups: groups, x: { x[$0 / channels, $0 % channels] },
            strideX: channels, weights: weights, bias: bias, lo: -.infinity, hi: .infinity)
        let stride = writesPairs ? slots(outputs) + 1 : outputs + 1
        var conv = nt_conv(
            window: window, batch: batch, groups: groups, channels: slots(depth), outputs: perGroup, x_stride: x.stride,
            y_stride: stride, residual_stride: 0, y_element: writesPairs ? element : Int32(NT_ELEMENT_FLOAT32), kernel: kernel,
            packed: packed.start, packed_stride: packedStride, bias: packedBias.start, bias_stride: biasStride, zeros: zeros.start,
            activation: ConvolutionKernelTests.activation(-200, 900, isa: availableISA), block_rows: 0)
        conv.block_rows = nt_conv_block_rows(&conv, 1 << 13)
        for parts in [1, 2, 5] {
            let pairs = PairMemory(element, rows: pixels, count: outputs, stride: stride)
            for part in 0..<parts { nt_conv_run(&conv, x.start, pairs.start, nil, part, parts) }
            XCTAssertTrue(writesPairs ? pairs.isIntact(rows: pixels) : pairs.slots.isIntact)
            for pixel in 0..<pixels {
                for o in 0..<outputs {
                    let exact = min(900, max(-200, sums[pixel * outputs + o]))
                    let found = writesPairs ? pairs[pixel, o] : pairs.start[pixel * stride + o]
                    if found != (writesPairs ? rounded(exact) : exact) {
                        let name = String(cString: kernel.pointee.name)
                        XCTFail(
                            "\(name) \(window) channels \(channels) parts \(parts) pairs \(writesPairs): [\(pixel), \(o)] is \(found), not \(exact)")
                        return
                    }
                }
            }
        }
    }

    /// Activations that are no clamp go through float32 and come back rounded.
    func testActivation() throws { try eachElement(checkActivation) }

    private func checkActivation() {
        for columns in [1, 5, 256, 300] {
            let y = PairMemory(element, rows: 2, count: columns, stride: slots(columns) + 1) { row, i in Float(i % 9) - 4 + Float(row) }
            let before = (0..<2).map { row in (0..<columns).map { y[row, $0] } }
            var activation = nt_activation(
                lo: -.infinity, hi: .infinity, function: Int32(NT_UNARY_LEAKY_RELU), alpha: 0.3, beta: 0,
                elementwise: nt_elementwise_choose(pairISA))
            nt_activation_apply(&activation, element, 2, columns, y.start, y.stride)
            XCTAssertTrue(y.isIntact(rows: 2))
            for row in 0..<2 {
                for i in 0..<columns {
                    XCTAssertEqual(y[row, i], rounded(before[row][i] < 0 ? 0.3 * before[row][i] : before[row][i]))
                }
            }
        }
    }

    func testDepthwise() throws { try eachElement(checkDepthwiseImages) }

    private func checkDepthwiseImages() {
        for channels in [1, 3, 16, 31, 32, 33, 65] {
            for (kernel, stride, dilation, pad) in [
                ((3, 3), 1, 1, 1), ((3, 3), 2, 1, 1), ((3, 3), 2, 1, 0), ((3, 3), 1, 2, 2), ((5, 5), 2, 1, 2), ((3, 1), 3, 1, 1),
            ] {
                for (h, w) in [(7, 7), (8, 13), (9, 5)] {
                    checkDepthwise(Geometry(h, w, kernel: kernel, stride: stride, dilation: dilation, pad: pad).window, channels)
                }
            }
        }
    }

    private func checkDepthwise(_ window: nt_window, _ channels: Int) {
        var random = KernelNumbers(seed: channels)
        let batch = 2
        let taps = window.kernel_height * window.kernel_width
        let kernel = nt_depthwise_choose_pairs(element, pairISA)
        let x = PairMemory(element, rows: batch * window.in_height * window.in_width, count: channels, stride: slots(channels) + 1, offset: 3) {
            _, _ in
            random.next(-9...9)
        }
        let weights = (0..<(channels * taps)).map { _ in random.next(-9...9) }
        let biases = (0..<channels).map { _ in random.next(-9...9) }
        let packed = KernelMemory(nt_depthwise_padded(channels) * taps)
        let bias = KernelMemory(nt_depthwise_padded(channels))
        nt_depthwise_pack(kernel, channels, taps, weights, packed.start)
        nt_depthwise_pack(kernel, channels, 1, biases, bias.start)
        XCTAssertTrue(packed.isIntact && bias.isIntact)
        var image = nt_depthwise_image(
            window: window, batch: batch, channels: channels, x_stride: x.stride, y_stride: slots(channels) + 2, kernel: kernel,
            weights: packed.start, bias: bias.start, activation: ConvolutionKernelTests.activation(-300, 400, isa: availableISA))
        let expected = ConvolutionKernelTests.reference(
            window, batch: batch, channels: channels, outputs: channels, groups: channels, x: { x[$0 / channels, $0 % channels] },
            strideX: channels, weights: weights, bias: biases, lo: -300, hi: 400)
        let pixels = batch * window.out_height * window.out_width
        for parts in [1, 3] {
            let y = PairMemory(element, rows: pixels, count: channels, stride: slots(channels) + 2)
            for part in 0..<parts { nt_depthwise_image_run(&image, x.start, y.start, part, parts) }
            XCTAssertTrue(y.isIntact(rows: pixels))
            for pixel in 0..<pixels {
                for c in 0..<channels where y[pixel, c] != rounded(expected[pixel * channels + c]) {
                    XCTFail("\(window) channels \(channels): [\(pixel), \(c)] is \(y[pixel, c]), not \(expected[pixel * channels + c])")
                    return
                }
            }
        }
    }

    /// A first convolution writes the rounded values of its float32 self.
    func testStem() throws { try eachElement(checkStem) }

    private func checkStem() {
        let window = Geometry(14, 37, kernel: (3, 3), stride: 2, dilation: 1, pad: 1).window
        for (channels, outputs) in [(3, 32), (1, 7), (3, 65), (2, 131)] {
            var random = KernelNumbers(seed: outputs)
            let x = KernelMemory(window.in_height * window.in_width * channels) { _ in random.unit() }
            let kernel = nt_gemm_choose(window.out_height * window.out_width, outputs, channels * 9, pairISA)!
            let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, channels * 3, 3))
            let bias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { $0 < outputs ? random.unit() : 0 }
            nt_gemm_pack(
                kernel, outputs, channels * 3, 3, (0..<(outputs * channels * 9)).map { _ in random.unit() }, channels * 9, 3, 1, packed.start)
            let pixels = window.out_height * window.out_width
            var stem = nt_stem(
                window: window, batch: 1, channels: channels, outputs: outputs, y_stride: outputs, y_element: Int32(NT_ELEMENT_FLOAT32),
                kernel: kernel, packed: packed.start, bias: bias.start, scale: nil, offset: nil,
                activation: ConvolutionKernelTests.activation(0, 6, isa: availableISA), strip_rows: 3)
            let scratch = KernelMemory(nt_stem_scratch_count(&stem))
            let floats = KernelMemory(pixels * outputs)
            nt_stem_run(&stem, x.start, floats.start, scratch.start, 0, 1)
            let pairs = PairMemory(element, rows: pixels, count: outputs, stride: slots(outputs) + 1)
            (stem.y_element, stem.y_stride) = (element, pairs.stride)
            for part in 0..<2 { nt_stem_run(&stem, x.start, pairs.start, scratch.start, part, 2) }
            XCTAssertTrue(pairs.isIntact(rows: pixels) && scratch.isIntact)
            for pixel in 0..<pixels {
                for o in 0..<outputs { XCTAssertEqual(pairs[pixel, o], rounded(floats.start[pixel * outputs + o])) }
            }
        }
    }

    /// A first convolution of stride 2 in pairs, on whole numbers: exact sums, rounded once when written in pairs.
    func testStemOfPairs() throws { try eachElement(checkStemsOfPairs) }

    private func checkStemsOfPairs() {
        for (geometry, channels, outputs) in [
            (Geometry(11, 13, kernel: (3, 3), stride: 2, dilation: 1, pad: 1), 3, 32),
            (Geometry(14, 62, kernel: (7, 7), stride: 2, dilation: 1, pad: 3), 3, 65),
            (Geometry(9, 9, kernel: (3, 3), stride: 2, dilation: 1, pad: 0), 4, 5),
            (Geometry(11, 35, kernel: (3, 3), stride: 2, dilation: 1, pad: 0), 3, 40),
            (Geometry(12, 34, kernel: (5, 5), stride: 2, dilation: 1, pad: 2), 3, 24),
            (Geometry(10, 8, kernel: (4, 4), stride: 2, dilation: 1, pad: 1), 1, 7),
            (Geometry(6, 7, kernel: (2, 1), stride: 2, dilation: 1, pad: 0), 2, 131),
            (Geometry(5, 120, kernel: (3, 40), stride: 2, dilation: 1, pad: 1), 1, 20),
            (Geometry(5, 150, kernel: (3, 3), stride: 4, dilation: 1, pad: 1), 3, 33),
            (Geometry(5, 150, kernel: (3, 3), stride: 6, dilation: 1, pad: 1), 3, 33),
        ] {
            for kernel in testedKernels(element) {
                for (writesPairs, scales) in [(false, true), (true, true), (true, false)] {
                    checkStemOfPairs(kernel, geometry.window, channels, outputs, writesPairs, scales)
                }
            }
        }
    }

    private func checkStemOfPairs(
        _ kernel: UnsafePointer<nt_gemm_kernel>, _ window: nt_window, _ channels: Int, _ outputs: Int, _ writesPairs: Bool, _ scales: Bool
    ) {
        var random = KernelNumbers(seed: outputs)
        let (batch, plane, taps) = (2, window.in_height * window.in_width, window.kernel_height * window.kernel_width)
        let x = KernelMemory(batch * plane * channels) { _ in random.next(0...9) }
        let weights = (0..<(outputs * channels * taps)).map { _ in random.next(-4...4) }
        let scale: [Float] = (0..<channels).map { scales ? Float($0 + 2) : 1 }, offset: [Float] = (0..<channels).map { scales ? Float($0 - 1) : 0 }
        let pixels = batch * window.out_height * window.out_width
        let bias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { $0 < outputs ? random.next(-4...4) : 0 }
        var reordered = [Float](repeating: 0, count: weights.count)
        for o in 0..<outputs {
            for c in 0..<channels {
                for t in 0..<taps { reordered[(o * taps + t) * channels + c] = weights[(o * channels + c) * taps + t] }
            }
        }
        var (size, interleaved) = (window, [Float](repeating: 0, count: weights.count))
        nt_stem_interleave(&size, channels, outputs, weights, &interleaved)
        XCTAssertEqual(interleaved, reordered)
        let (rows, width) = (window.kernel_height, window.kernel_width * channels)
        let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, rows, width))
        nt_gemm_pack(kernel, outputs, rows, width, reordered, rows * width, width, 1, packed.start)
        let expected = ConvolutionKernelTests.reference(
            window, batch: batch, channels: channels, outputs: outputs, groups: 1,
            x: { index in
                let (pixel, c) = (index / channels, index % channels)
                return x.start[(pixel / plane * channels + c) * plane + pixel % plane] * scale[c] + offset[c]
            }, strideX: channels, weights: reordered, bias: bias.values, lo: 0, hi: .infinity)
        let type = writesPairs ? element : Int32(NT_ELEMENT_FLOAT32)
        let stride = nt_slots(type, outputs) + 1
        scale.withUnsafeBufferPointer { scale in
            offset.withUnsafeBufferPointer { offset in
                for (strip, parts) in [(1, 1), (3, 1), (2, 3)] {
                    var stem = nt_stem(
                        window: window, batch: batch, channels: channels, outputs: outputs, y_stride: stride, y_element: type, kernel: kernel,
                        packed: packed.start, bias: bias.start,
                        scale: scales ? scale.baseAddress : nil, offset: scales ? offset.baseAddress : nil,
                        activation: ConvolutionKernelTests.activation(0, isa: availableISA), strip_rows: strip)
                    let scratch = KernelMemory(nt_stem_scratch_count(&stem))
                    let y = PairMemory(element, rows: pixels, count: outputs, stride: stride)
                    for part in 0..<parts { nt_stem_run(&stem, x.start, y.start, scratch.start, part, parts) }
                    XCTAssertTrue(y.slots.isIntact && scratch.isIntact && (!writesPairs || y.isIntact(rows: pixels)))
                    for index in expected.indices {
                        let (pixel, o) = (index / outputs, index % outputs)
                        let found = writesPairs ? y[pixel, o] : y.start[pixel * stride + o]
                        if found != (writesPairs ? rounded(expected[index]) : expected[index]) {
                            return XCTFail("\(window) [\(pixel), \(o)] is \(found), not \(expected[index])")
                        }
                    }
                }
            }
        }
    }

    /// The fused kernel gives the bits of its stages, on data that rounds, with results of either type.
    func testSeparableEqualsItsStages() throws { try eachElement(checkSeparableEqualsItsStages) }

    private func checkSeparableEqualsItsStages() {
        let window = Geometry(15, 13, kernel: (3, 3), stride: 2, dilation: 1, pad: 1).window
        for kernel in testedKernels(element) {
            for expansion in [false, true] {
                for strip in [1, 3, 8] {
                    for writesPairs in [false, true] {
                        checkSeparable(kernel, window, strip: strip, expansion: expansion, writesPairs: writesPairs)
                    }
                }
            }
        }
    }

    private func checkSeparable(
        _ kernel: UnsafePointer<nt_gemm_kernel>, _ window: nt_window, strip: Int, expansion: Bool, writesPairs: Bool
    ) {
        var random = KernelNumbers(seed: strip)
        let (narrow, outputs) = (6, 21)
        let wide = expansion ? 37 : narrow
        let (inputs, pixels) = (window.in_height * window.in_width, window.out_height * window.out_width)
        let depthwiseKernel = nt_depthwise_choose_pairs(element, pairISA)
        var kept: [KernelMemory] = []
        func pointwise(_ from: Int, _ to: Int, _ lo: Float, _ hi: Float) -> nt_pointwise {
            let packed = KernelMemory(nt_gemm_packed_count(kernel, to, 1, from))
            let bias = KernelMemory(nt_gemm_bias_count(kernel, to)) { $0 < to ? random.unit() : 0 }
            nt_gemm_pack(kernel, to, 1, from, (0..<(from * to)).map { _ in random.unit() }, from, 0, 1, packed.start)
            kept += [packed, bias]
            return nt_pointwise(
                channels: slots(from), outputs: to, kernel: kernel, packed: packed.start, bias: bias.start,
                activation: ConvolutionKernelTests.activation(lo, hi, isa: availableISA), strassen: nil)
        }
        let expand = pointwise(narrow, wide, 0, 6)
        let project = pointwise(wide, outputs, -.infinity, .infinity)
        let weights = KernelMemory(nt_depthwise_padded(wide) * 9)
        let bias = KernelMemory(nt_depthwise_padded(wide))
        nt_depthwise_pack(depthwiseKernel, wide, 9, (0..<(wide * 9)).map { _ in random.unit() }, weights.start)
        nt_depthwise_pack(depthwiseKernel, wide, 1, (0..<wide).map { _ in random.unit() }, bias.start)
        let x = PairMemory(element, rows: inputs, count: narrow, stride: slots(narrow)) { _, _ in random.unit() }
        var depthwise = nt_depthwise_image(
            window: window, batch: 1, channels: wide, x_stride: slots(wide), y_stride: slots(wide), kernel: depthwiseKernel,
            weights: weights.start, bias: bias.start, activation: ConvolutionKernelTests.activation(0, 6, isa: availableISA))
        let type = writesPairs ? element : Int32(NT_ELEMENT_FLOAT32)
        let stride = nt_slots(type, outputs)
        let residual = KernelMemory(pixels * stride) { _ in 1.0078125 }
        let expanded = KernelMemory(inputs * slots(wide))
        let middle = KernelMemory(pixels * slots(wide))
        let expected = KernelMemory(pixels * stride)
        if expansion {
            nt_gemm_run_to(
                element, kernel, inputs, wide, slots(narrow), x.start, x.stride, expand.packed, expand.bias, expanded.start, slots(wide),
                nil, 0, 0, 6)
        }
        nt_depthwise_image_run(&depthwise, expansion ? expanded.start : x.start, middle.start, 0, 1)
        nt_gemm_run_to(
            type, kernel, pixels, outputs, slots(wide), middle.start, slots(wide), project.packed, project.bias, expected.start, stride,
            residual.start, stride, -.infinity, .infinity)
        var fused = nt_separable(
            has_expansion: expansion ? 1 : 0, expand: expand, stem: nil, before: nil, depthwise: depthwise, project: project, x_stride: x.stride,
            y_stride: stride, residual_stride: stride, y_element: type, strip_rows: strip)
        for parts in [1, 3] {
            let scratch = KernelMemory(nt_separable_scratch_count(&fused))
            let y = KernelMemory(pixels * stride)
            for part in 0..<parts { nt_separable_run(&fused, x.start, y.start, residual.start, scratch.start, part, parts) }
            XCTAssertTrue(y.isIntact && scratch.isIntact)
            XCTAssertEqual(y.values.map(\.bitPattern), expected.values.map(\.bitPattern), "strip \(strip), expansion \(expansion)")
        }
        withExtendedLifetime(kept) {}
    }

    func testPool() throws { try eachElement(checkPools) }

    private func checkPools() {
        let kernel = nt_pool_choose_element(element, pairISA)!.pointee
        for channels in [1, 3, 16, 31, 32, 33, 70] {
            for count in [0, 1, 2, 9] { checkPool(kernel, channels, count) }
            var random = KernelNumbers(seed: channels)
            let x = PairMemory(element, rows: 15, count: channels, stride: slots(channels) + 2) { _, _ in random.next(-9...9) }
            let y = KernelMemory(channels)
            kernel.sum(x.start, 3, 5, 5 * x.stride, x.stride, channels, 0.5, y.start)
            XCTAssertTrue(y.isIntact)
            for c in 0..<channels { XCTAssertEqual(y.start[c], (0..<15).reduce(0) { $0 + x[$1, c] } * 0.5) }
        }
    }

    private func checkPool(_ kernel: nt_pool_kernel, _ channels: Int, _ count: Int) {
        var random = KernelNumbers(seed: channels + count)
        let (pixels, step) = (3, slots(channels) + 1)
        let taps = (0..<count).map { tap in
            PairMemory(element, rows: pixels, count: channels, stride: step, offset: 1) { row, c in
                switch (row, c, tap) {
                case (1, 0, 0): -.infinity
                case (1, 0, 1): .infinity
                case (0, channels - 1, 0) where count > 1: .nan
                case (2, channels - 1, 1): .nan
                default: random.next(-20...20)
                }
            }
        }
        let pointers = taps.map { UnsafePointer<Float>?($0.start) }
        for function in [NT_POOL_MAXIMUM, NT_POOL_AVERAGE, NT_POOL_L2] {
            let y = PairMemory(element, rows: pixels, count: channels, stride: slots(channels) + 2)
            kernel.pixels(Int32(function), pointers, count, channels, 0.25, pixels, step, y.start, y.stride)
            XCTAssertTrue(y.isIntact(rows: pixels))
            for pixel in 0..<pixels {
                for c in 0..<channels {
                    let values = taps.map { $0[pixel, c] }
                    let expected: Float
                    if values.contains(where: \.isNaN) {
                        expected = .nan
                    } else if function == NT_POOL_MAXIMUM {
                        expected = values.max() ?? 0
                    } else if function == NT_POOL_AVERAGE {
                        expected = rounded(values.reduce(0, +) * 0.25)
                    } else {
                        expected = rounded(values.reduce(0) { $0 + $1 * $1 }.squareRoot())
                    }
                    let found = y[pixel, c]
                    XCTAssertTrue(found == expected || (found.isNaN && expected.isNaN), "\(function) \(channels) \(count): \(found), \(expected)")
                }
            }
        }
    }
}
