import CNTKernels
import CNTPlatform
import XCTest

/// Convolution, depthwise, stem, separable and pooling drivers against plain loops, on every instruction set, exact data, every number of shares.
final class ConvolutionKernelTests: XCTestCase {
    private let ceilings: [UInt32] = Array(
        Set([0, UInt32(NT_ISA_AVX2) & availableISA, availableISA])
    ).sorted()

    struct Geometry {
        var window: nt_window
        init(_ h: Int, _ w: Int, kernel: (Int, Int), stride: Int, dilation: Int, pad: Int) {
            let cover = ((kernel.0 - 1) * dilation + 1, (kernel.1 - 1) * dilation + 1)
            window = nt_window(
                in_height: h, in_width: w, out_height: (h + 2 * pad - cover.0) / stride + 1,
                out_width: (w + 2 * pad - cover.1) / stride + 1, kernel_height: kernel.0, kernel_width: kernel.1,
                stride_y: stride, stride_x: stride, dilation_y: dilation, dilation_x: dilation, pad_top: pad, pad_left: pad)
        }
    }

    static func activation(_ lo: Float = -.infinity, _ hi: Float = .infinity, isa: UInt32) -> nt_activation {
        nt_activation(lo: lo, hi: hi, function: -1, alpha: 0, beta: 0, elementwise: nt_elementwise_choose(isa))
    }

    /// x [n][h][w][strideX] with `channels` used; w [outputs][kh][kw][channels / groups]; the result [n][oh][ow][outputs].
    static func reference(
        _ window: nt_window, batch: Int, channels: Int, outputs: Int, groups: Int, x: (Int) -> Float, strideX: Int,
        weights: [Float], bias: [Float], lo: Float, hi: Float
    ) -> [Float] {
        let depth = channels / groups
        var result: [Float] = []
        for n in 0..<batch {
            for oy in 0..<window.out_height {
                for ox in 0..<window.out_width {
                    for o in 0..<outputs {
                        let first = o / (outputs / groups) * depth
                        var sum = bias[o]
                        for ky in 0..<window.kernel_height {
                            let iy = oy * window.stride_y + ky * window.dilation_y - window.pad_top
                            guard (0..<window.in_height).contains(iy) else { continue }
                            for kx in 0..<window.kernel_width {
                                let ix = ox * window.stride_x + kx * window.dilation_x - window.pad_left
                                guard (0..<window.in_width).contains(ix) else { continue }
                                let pixel = ((n * window.in_height + iy) * window.in_width + ix) * strideX
                                let tap = ((o * window.kernel_height + ky) * window.kernel_width + kx) * depth
                                for c in 0..<depth { sum += x(pixel + first + c) * weights[tap + c] }
                            }
                        }
                        result.append(min(hi, max(lo, sum)))
                    }
                }
            }
        }
        return result
    }

    func testConvolution() {
        let cases: [(Geometry, channels: Int, outputs: Int, groups: Int)] = [
            (Geometry(1, 1, kernel: (1, 1), stride: 1, dilation: 1, pad: 0), 5, 3, 1),
            (Geometry(7, 7, kernel: (1, 1), stride: 1, dilation: 1, pad: 0), 16, 70, 1),
            (Geometry(9, 7, kernel: (1, 1), stride: 2, dilation: 1, pad: 0), 8, 33, 1),
            (Geometry(8, 9, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 4, 17, 1),
            (Geometry(9, 11, kernel: (3, 2), stride: 2, dilation: 2, pad: 2), 3, 20, 1),
            (Geometry(5, 6, kernel: (9, 9), stride: 1, dilation: 1, pad: 4), 2, 5, 1),
            (Geometry(9, 31, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 4, 18, 1),
            (Geometry(12, 14, kernel: (5, 3), stride: 2, dilation: 1, pad: 0), 8, 8, 1),
            (Geometry(20, 20, kernel: (9, 9), stride: 1, dilation: 1, pad: 3), 2, 6, 1),
            (Geometry(15, 13, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 6, 66, 2),
            (Geometry(4, 4, kernel: (1, 1), stride: 1, dilation: 1, pad: 3), 2, 2, 1),
        ]
        for ceiling in ceilings {
            for test in cases { checkConvolution(test.0.window, test.channels, test.outputs, test.groups, ceiling) }
        }
    }

    private func checkConvolution(_ window: nt_window, _ channels: Int, _ outputs: Int, _ groups: Int, _ isa: UInt32) {
        var random = KernelNumbers(seed: channels * 31 + outputs)
        let batch = 2
        let strideX = groups == 1 && outputs % 2 == 0 ? channels : channels + 3
        let strideY = outputs + 2
        let pixels = batch * window.out_height * window.out_width
        let x = KernelMemory(batch * window.in_height * window.in_width * strideX) {
            $0 % strideX < channels ? random.next(-3...3) : .nan
        }
        let taps = window.kernel_height * window.kernel_width
        let depth = channels / groups
        let perGroup = outputs / groups
        let weights = (0..<(outputs * taps * depth)).map { _ in random.next(-3...3) }
        let bias = (0..<outputs).map { _ in random.next(-5...5) }
        let kernel = nt_gemm_choose(pixels, perGroup, taps * depth, isa)!
        let packedStride = nt_gemm_packed_count(kernel, perGroup, taps, depth)
        let biasStride = nt_gemm_bias_count(kernel, perGroup)
        let packed = KernelMemory(packedStride * groups)
        let packedBias = KernelMemory(biasStride * groups) { _ in 0 }
        for g in 0..<groups {
            weights.withUnsafeBufferPointer {
                nt_gemm_pack(
                    kernel, perGroup, taps, depth, $0.baseAddress! + g * perGroup * taps * depth, taps * depth, depth, 1,
                    packed.start + g * packedStride)
            }
            for o in 0..<perGroup { packedBias.start[g * biasStride + o] = bias[g * perGroup + o] }
        }
        let zeros = KernelMemory(channels * window.kernel_width) { _ in 0 }
        let residual = KernelMemory(pixels * outputs) { _ in random.next(-5...5) }
        var expected = Self.reference(
            window, batch: batch, channels: channels, outputs: outputs, groups: groups, x: { x.start[$0] }, strideX: strideX,
            weights: weights, bias: bias, lo: -.infinity, hi: .infinity)
        for i in expected.indices { expected[i] = min(90, max(-20, expected[i] + residual.start[i])) }
        var conv = nt_conv(
            window: window, batch: batch, groups: groups, channels: depth, outputs: perGroup, x_stride: strideX,
            y_stride: strideY, residual_stride: outputs, y_element: Int32(NT_ELEMENT_FLOAT32), kernel: kernel, packed: packed.start,
            packed_stride: packedStride, bias: packedBias.start, bias_stride: biasStride, zeros: zeros.start,
            activation: Self.activation(-20, 90, isa: isa), block_rows: 0)
        conv.block_rows = nt_conv_block_rows(&conv, 1 << 14)
        for parts in [1, 2, 5] {
            let y = KernelMemory(pixels * strideY)
            for part in 0..<parts { nt_conv_run(&conv, x.start, y.start, residual.start, part, parts) }
            XCTAssertTrue(y.isIntact)
            for pixel in 0..<pixels {
                for o in 0..<outputs where y.start[pixel * strideY + o] != expected[pixel * outputs + o] {
                    XCTFail(
                        "\(String(cString: kernel.pointee.name)) \(window) parts \(parts): [\(pixel), \(o)] is \(y.start[pixel * strideY + o]), expected \(expected[pixel * outputs + o])"
                    )
                    return
                }
                for o in outputs..<strideY { XCTAssertTrue(y.start[pixel * strideY + o].isNaN, "wrote past a pixel") }
            }
        }
    }

    /// Winograd's method against plain sums in double precision: within 3e-5 of the largest, its error for some tens of channels.
    func testWinograd() {
        for index in 0..<nt_winograd_kernel_count() {
            let kernel = nt_winograd_kernel_at(index)!
            guard kernel.pointee.isa & availableISA == kernel.pointee.isa else { continue }
            for (h, w, pad) in [(4, 4, 1), (1, 1, 1), (3, 9, 0), (7, 13, 1), (8, 5, 2), (16, 16, 1), (6, 11, 1), (12, 7, 0), (2, 3, 6)] {
                for (channels, outputs) in [(1, 1), (3, 5), (16, 32), (17, 33), (35, 70), (8, 130)] {
                    checkWinograd(Geometry(h, w, kernel: (3, 3), stride: 1, dilation: 1, pad: pad).window, channels, outputs, kernel)
                }
            }
        }
    }

    private func checkWinograd(_ window: nt_window, _ channels: Int, _ outputs: Int, _ kernel: UnsafePointer<nt_winograd_kernel>) {
        var random = KernelNumbers(seed: channels * 31 + outputs)
        let batch = 2
        let element = kernel.pointee.element
        let isPairs = element != NT_ELEMENT_FLOAT32
        let rounding: Float = element == NT_ELEMENT_BFLOAT16 ? 0x1p-8 : element == NT_ELEMENT_FLOAT16 ? 0x1p-11 : 0
        let (inputs, pixels) = (batch * window.in_height * window.in_width, batch * window.out_height * window.out_width)
        // Whole 64ths: exact in bfloat16 and float16.
        func number() -> Float { random.next(-64...64) / 64 }
        let (strideX, strideY) = (nt_slots(kernel.pointee.element, channels) + 1, nt_slots(kernel.pointee.element, outputs) + 2)
        let x = (0..<(inputs * channels)).map { _ in number() }
        let residual = (0..<(pixels * outputs)).map { _ in number() }
        func memory(_ values: [Float], _ count: Int, _ stride: Int) -> KernelMemory {
            if isPairs { return PairMemory(element, rows: values.count / count, count: count, stride: stride) { values[$0 * count + $1] }.slots }
            return KernelMemory(values.count / count * stride) { $0 % stride < count ? values[$0 / stride * count + $0 % stride] : .nan }
        }
        let image = memory(x, channels, strideX)
        let added = memory(residual, outputs, strideY)
        let weights = (0..<(outputs * channels * 9)).map { _ in number() }
        let bias = KernelMemory((outputs + 63) / 64 * 64) { $0 < outputs ? number() : 0 }
        let zeros = KernelMemory(Int(NT_WINOGRAD_MAX_PATCH) * strideX) { _ in 0 }
        var step = nt_winograd(
            window: window, batch: batch, channels: channels, outputs: outputs, x_stride: strideX, y_stride: strideY, residual_stride: strideY,
            kernel: kernel, gemm: nil, packed: nil, bias: bias.start, zeros: zeros.start,
            activation: Self.activation(-2, 3, isa: kernel.pointee.isa), block_tiles: 0)
        nt_winograd_fit(&step, kernel.pointee.isa, 1)
        var packing = nt_winograd_packing_of(&step)
        let packed = KernelMemory(nt_winograd_packed_count(&packing))
        nt_winograd_pack(&packing, weights, packed.start)
        XCTAssertTrue(packed.isIntact && !packed.values.contains { $0.isNaN })
        step.packed = UnsafePointer(packed.start)
        var reordered = [Float](repeating: 0, count: weights.count)
        for o in 0..<outputs {
            for c in 0..<channels {
                for t in 0..<9 { reordered[(o * 9 + t) * channels + c] = weights[(o * channels + c) * 9 + t] }
            }
        }
        let sums = Self.reference(
            window, batch: batch, channels: channels, outputs: outputs, groups: 1, x: { x[$0] }, strideX: channels, weights: reordered,
            bias: bias.values, lo: -.infinity, hi: .infinity)
        let tolerance = 3e-5 * (sums.map(abs).max() ?? 0) + 1e-6
        var first: [UInt32]?
        for (parts, cache, inPlace) in [(1, 1 << 20, false), (2, 1 << 20, false), (3, 1, false), (2, 1, true)] {
            nt_winograd_fit(&step, kernel.pointee.isa, cache)
            let y = inPlace ? memory(residual, outputs, strideY) : KernelMemory(pixels * strideY)
            let work = KernelMemory(nt_winograd_scratch_count(&step))
            for part in 0..<parts {
                nt_winograd_run(&step, image.start, y.start, inPlace ? UnsafePointer(y.start) : UnsafePointer(added.start), work.start, part, parts)
            }
            XCTAssertTrue(y.isIntact && work.isIntact)
            for pixel in 0..<pixels {
                let row = UnsafeMutableRawPointer(y.start + pixel * strideY).assumingMemoryBound(to: UInt16.self)
                for o in 0..<outputs {
                    let expected = min(3, max(-2, sums[pixel * outputs + o] + residual[pixel * outputs + o]))
                    let found = isPairs ? nt_half_value(element, row[o]) : y.start[pixel * strideY + o]
                    if !(abs(found - expected) <= tolerance + (abs(expected) * rounding)) {
                        XCTFail("\(String(cString: kernel.pointee.name)) \(window) \(channels) \(outputs): \(found), expected \(expected)")
                        return
                    }
                }
                for slot in nt_slots(kernel.pointee.element, outputs)..<strideY { XCTAssertTrue(y.start[pixel * strideY + slot].isNaN) }
            }
            let bits = y.values.map(\.bitPattern)
            XCTAssertEqual(first ?? bits, bits, "parts \(parts) changed bits")
            first = bits
        }
    }

    func testDepthwise() {
        for isa in ceilings {
            for channels in [1, 3, 4, 8, 15, 16, 17, 35] {
                for (kernel, stride, dilation, pad) in [
                    ((3, 3), 1, 1, 1), ((3, 3), 2, 1, 1), ((3, 3), 2, 1, 0), ((3, 3), 1, 2, 2), ((5, 5), 1, 1, 2), ((5, 5), 2, 1, 2),
                    ((1, 3), 1, 1, 0), ((3, 1), 3, 1, 1), ((7, 7), 1, 1, 3),
                ] {
                    for (h, w) in [(7, 7), (8, 13), (9, 3)] where h + 2 * pad > (kernel.0 - 1) * dilation && w + 2 * pad > (kernel.1 - 1) * dilation {
                        checkDepthwise(
                            Geometry(h, w, kernel: kernel, stride: stride, dilation: dilation, pad: pad).window, channels, isa)
                    }
                }
            }
        }
    }

    private func checkDepthwise(_ window: nt_window, _ channels: Int, _ isa: UInt32) {
        var random = KernelNumbers(seed: channels)
        let batch = 2
        let taps = window.kernel_height * window.kernel_width
        let strideX = channels + 1
        let strideY = channels + 2
        let x = KernelMemory(batch * window.in_height * window.in_width * strideX, offset: 3) {
            $0 % strideX < channels ? random.next(-4...4) : .nan
        }
        let weights = (0..<(channels * taps)).map { _ in random.next(-4...4) }
        let padded = nt_depthwise_padded(channels)
        let packed = KernelMemory(padded * taps)
        let bias = KernelMemory(padded) { $0 < channels ? random.next(-4...4) : 0 }
        nt_depthwise_pack(nt_depthwise_choose(channels, isa), channels, taps, weights, packed.start)
        var image = nt_depthwise_image(
            window: window, batch: batch, channels: channels, x_stride: strideX, y_stride: strideY,
            kernel: nt_depthwise_choose(channels, isa), weights: packed.start, bias: bias.start,
            activation: Self.activation(-30, 40, isa: isa))
        let expected = Self.reference(
            window, batch: batch, channels: channels, outputs: channels, groups: channels, x: { x.start[$0] },
            strideX: strideX, weights: weights, bias: bias.values, lo: -30, hi: 40)
        for parts in [1, 3] {
            let pixels = batch * window.out_height * window.out_width
            let y = KernelMemory(pixels * strideY)
            for part in 0..<parts { nt_depthwise_image_run(&image, x.start, y.start, part, parts) }
            XCTAssertTrue(y.isIntact)
            for i in 0..<(pixels * strideY) {
                let (pixel, c) = (i / strideY, i % strideY)
                if c >= channels ? !y.start[i].isNaN : y.start[i] != expected[pixel * channels + c] {
                    XCTFail("\(window) channels \(channels) isa \(isa): [\(pixel), \(c)] is \(y.start[i])")
                    return
                }
            }
        }
    }

    func testStem() {
        for isa in ceilings {
            for (geometry, channels, outputs) in [
                (Geometry(11, 13, kernel: (3, 3), stride: 2, dilation: 1, pad: 1), 3, 32),
                (Geometry(14, 17, kernel: (7, 7), stride: 2, dilation: 1, pad: 3), 3, 65),
                (Geometry(6, 6, kernel: (3, 3), stride: 1, dilation: 1, pad: 0), 1, 8),
                (Geometry(9, 9, kernel: (3, 3), stride: 2, dilation: 1, pad: 0), 4, 5),
                (Geometry(16, 19, kernel: (4, 4), stride: 3, dilation: 1, pad: 1), 2, 9),
                (Geometry(7, 60, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), 2, 33),
                (Geometry(9, 51, kernel: (3, 3), stride: 1, dilation: 1, pad: 0), 1, 7),
                (Geometry(10, 61, kernel: (3, 4), stride: 2, dilation: 1, pad: 0), 3, 17),
            ] {
                for index in 0..<nt_gemm_kernel_count() {
                    guard let kernel = nt_gemm_kernel_at(index), kernel.pointee.element == NT_ELEMENT_FLOAT32,
                        kernel.pointee.isa & isa == kernel.pointee.isa
                    else { continue }
                    for scales in [false, true] { checkStem(geometry.window, channels, outputs, kernel, isa, scales: scales) }
                }
            }
        }
    }

    private func checkStem(
        _ window: nt_window, _ channels: Int, _ outputs: Int, _ kernel: UnsafePointer<nt_gemm_kernel>, _ isa: UInt32, scales: Bool
    ) {
        var random = KernelNumbers(seed: outputs)
        let batch = 2
        let plane = window.in_height * window.in_width
        let taps = window.kernel_height * window.kernel_width
        let x = KernelMemory(batch * channels * plane) { _ in random.next(-4...4) }
        // [outputs][channels][kh][kw]
        let weights = (0..<(outputs * channels * taps)).map { _ in random.next(-3...3) }
        let scale: [Float] = (0..<channels).map { scales ? Float($0 + 2) : 1 }
        let offset: [Float] = (0..<channels).map { scales ? Float($0 - 1) : 0 }
        var nhwc = [Float](repeating: 0, count: batch * plane * channels)
        for n in 0..<batch {
            for c in 0..<channels {
                for p in 0..<plane { nhwc[(n * plane + p) * channels + c] = x.start[(n * channels + c) * plane + p] * scale[c] + offset[c] }
            }
        }
        var reordered = [Float](repeating: 0, count: weights.count)
        for o in 0..<outputs {
            for c in 0..<channels {
                for t in 0..<taps { reordered[(o * taps + t) * channels + c] = weights[(o * channels + c) * taps + t] }
            }
        }
        let rows = channels * window.kernel_height
        let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, rows, window.kernel_width))
        nt_gemm_pack(
            kernel, outputs, rows, window.kernel_width, weights, channels * taps, window.kernel_width, 1, packed.start)
        let bias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { $0 < outputs ? random.next(-4...4) : 0 }
        let expected = Self.reference(
            window, batch: batch, channels: channels, outputs: outputs, groups: 1, x: { nhwc[$0] }, strideX: channels,
            weights: reordered, bias: bias.values, lo: 0, hi: .infinity)
        for strip in [1, 3] {
            scale.withUnsafeBufferPointer { scale in
                offset.withUnsafeBufferPointer { offset in
                    var stem = nt_stem(
                        window: window, batch: batch, channels: channels, outputs: outputs, y_stride: outputs,
                        y_element: Int32(NT_ELEMENT_FLOAT32), kernel: kernel, packed: packed.start, bias: bias.start,
                        scale: scales ? scale.baseAddress : nil, offset: scales ? offset.baseAddress : nil,
                        activation: Self.activation(0, isa: isa), strip_rows: strip)
                    for parts in [1, 2] {
                        let scratch = KernelMemory(nt_stem_scratch_count(&stem))
                        let y = KernelMemory(expected.count)
                        for part in 0..<parts { nt_stem_run(&stem, x.start, y.start, scratch.start, part, parts) }
                        XCTAssertTrue(y.isIntact && scratch.isIntact)
                        XCTAssertEqual(y.values, expected)
                    }
                }
            }
        }
    }

    /// The fused kernel gives the bits of its stages, on data that rounds.
    func testSeparableEqualsItsStages() {
        for isa in ceilings {
            for (geometry, strips) in [
                (Geometry(14, 14, kernel: (3, 3), stride: 1, dilation: 1, pad: 1), [1, 2, 5, 14]),
                (Geometry(15, 13, kernel: (3, 3), stride: 2, dilation: 1, pad: 1), [1, 3]),
                (Geometry(9, 8, kernel: (5, 5), stride: 1, dilation: 1, pad: 2), [1, 4]),
            ] {
                for expansion in [false, true] {
                    for strip in strips { checkSeparable(geometry.window, strip: strip, expansion: expansion, isa) }
                }
            }
        }
    }

    private func checkSeparable(_ window: nt_window, strip: Int, expansion: Bool, _ isa: UInt32) {
        var random = KernelNumbers(seed: strip)
        let batch = 2
        let narrow = 6
        let wide = expansion ? 37 : 6
        let outputs = 21
        let inputs = batch * window.in_height * window.in_width
        let pixels = batch * window.out_height * window.out_width
        let taps = window.kernel_height * window.kernel_width
        let x = KernelMemory(inputs * narrow) { _ in random.unit() }
        let kernel = nt_gemm_choose(pixels, outputs, wide, isa)!
        func pointwise(_ from: Int, _ to: Int, _ lo: Float, _ hi: Float) -> (nt_pointwise, [KernelMemory]) {
            let packed = KernelMemory(nt_gemm_packed_count(kernel, to, 1, from))
            let bias = KernelMemory(nt_gemm_bias_count(kernel, to)) { $0 < to ? random.unit() : 0 }
            nt_gemm_pack(kernel, to, 1, from, (0..<(from * to)).map { _ in random.unit() }, from, 0, 1, packed.start)
            let stage = nt_pointwise(
                channels: from, outputs: to, kernel: kernel, packed: packed.start, bias: bias.start,
                activation: Self.activation(lo, hi, isa: isa), strassen: nil)
            return (stage, [packed, bias])
        }
        let (expand, keepExpand) = pointwise(narrow, wide, 0, 6)
        let (project, keepProject) = pointwise(wide, outputs, -.infinity, .infinity)
        let weights = KernelMemory(nt_depthwise_padded(wide) * taps)
        let bias = KernelMemory(nt_depthwise_padded(wide)) { $0 < wide ? random.unit() : 0 }
        nt_depthwise_pack(nt_depthwise_choose(wide, isa), wide, taps, (0..<(wide * taps)).map { _ in random.unit() }, weights.start)
        var depthwise = nt_depthwise_image(
            window: window, batch: batch, channels: wide, x_stride: wide, y_stride: wide, kernel: nt_depthwise_choose(wide, isa),
            weights: weights.start, bias: bias.start, activation: Self.activation(0, 6, isa: isa))
        let residual = KernelMemory(pixels * outputs) { _ in random.unit() }
        let expanded = KernelMemory(inputs * wide)
        let middle = KernelMemory(pixels * wide)
        let expected = KernelMemory(pixels * outputs)
        if expansion {
            nt_gemm_run(
                kernel, inputs, wide, narrow, x.start, narrow, expand.packed, expand.bias, expanded.start, wide, nil, 0, 0, 6)
        }
        nt_depthwise_image_run(&depthwise, expansion ? expanded.start : x.start, middle.start, 0, 1)
        nt_gemm_run(
            kernel, pixels, outputs, wide, middle.start, wide, project.packed, project.bias, expected.start, outputs,
            residual.start, outputs, -.infinity, .infinity)
        var fused = nt_separable(
            has_expansion: expansion ? 1 : 0, expand: expand, stem: nil, before: nil, depthwise: depthwise, project: project, x_stride: narrow,
            y_stride: outputs, residual_stride: outputs, y_element: Int32(NT_ELEMENT_FLOAT32), strip_rows: strip)
        for parts in [1, 2, 3] {
            let scratch = KernelMemory(nt_separable_scratch_count(&fused))
            let y = KernelMemory(pixels * outputs)
            for part in 0..<parts {
                nt_separable_run(&fused, x.start, y.start, residual.start, scratch.start, part, parts)
            }
            XCTAssertTrue(y.isIntact && scratch.isIntact)
            XCTAssertEqual(
                y.values.map(\.bitPattern), expected.values.map(\.bitPattern),
                "strip \(strip), expansion \(expansion), parts \(parts), isa \(isa), \(window)")
        }
        withExtendedLifetime((keepExpand, keepProject)) {}
    }
}
