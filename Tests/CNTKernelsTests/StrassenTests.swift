import CNTKernels
import CNTPlatform
import XCTest

/// Strassen's method on every instruction set: exact on whole numbers, at every border of blocks and tiles, for every number of shares.
final class StrassenTests: XCTestCase {
    private let ceilings: [UInt32] = Array(Set([0, UInt32(NT_ISA_AVX2) & availableISA, availableISA])).sorted()

    private enum Residual: CaseIterable { case none, apart, inPlace }

    func testProducts() {
        for isa in ceilings {
            for index in 0..<nt_gemm_kernel_count() {
                let gemm = nt_gemm_kernel_at(index)!
                guard gemm.pointee.isa & isa == gemm.pointee.isa, gemm.pointee.element == NT_ELEMENT_FLOAT32 else { continue }
                for (pixels, block) in [(1, 1), (2, 2), (9, 9), (14, 4), (29, 15), (57, 56)] {
                    for (depth, outputs) in [(2, 2), (6, 10), (34, 66), (16, 260)] {
                        for residual in Residual.allCases { check(gemm, isa, pixels: pixels, block: block, depth, outputs, residual) }
                    }
                }
            }
        }
    }

    private func check(
        _ gemm: UnsafePointer<nt_gemm_kernel>, _ isa: UInt32, pixels: Int, block: Int, _ depth: Int, _ outputs: Int, _ kind: Residual
    ) {
        var random = KernelNumbers(seed: depth * 31 + outputs + pixels)
        let batch = 2
        let rows = batch * pixels
        let (strideX, strideY) = (depth + 3, outputs + 5)
        let x = KernelMemory(rows * strideX, offset: 1) { $0 % strideX < depth ? random.next(-3...3) : .nan }
        let weights = (0..<(outputs * depth)).map { _ in random.next(-3...3) }
        let bias = (0..<outputs).map { _ in random.next(-5...5) }
        let added = (0..<(rows * outputs)).map { _ in random.next(-5...5) }
        let packed = KernelMemory(nt_strassen_packed_count(gemm, depth, outputs))
        let half = KernelMemory(outputs / 2 * (depth / 2))
        nt_strassen_pack(gemm, depth, outputs, weights, half.start, packed.start)
        XCTAssertTrue(packed.isIntact && half.isIntact)
        let biasStride = nt_strassen_bias_stride(outputs)
        let packedBias = KernelMemory(2 * biasStride) {
            $0 % biasStride < outputs / 2 ? bias[$0 / biasStride * (outputs / 2) + $0 % biasStride] : 0
        }
        var conv = nt_strassen_conv(
            product: nt_strassen(
                depth: depth, outputs: outputs, block_rows: block, adds_residual: 0, gemm: gemm, kernel: nt_strassen_choose(isa),
                packed: packed.start, bias: packedBias.start),
            batch: batch, pixels: pixels, x_stride: strideX, y_stride: strideY, residual_stride: kind == .inPlace ? strideY : outputs,
            activation: ConvolutionKernelTests.activation(-20, 90, isa: isa))
        let residual = KernelMemory(rows * outputs) { added[$0] }
        for parts in [1, 2, 3, 6] {
            let y = KernelMemory(rows * strideY) {
                kind == .inPlace && $0 % strideY < outputs ? added[$0 / strideY * outputs + $0 % strideY] : .nan
            }
            let scratch = KernelMemory(nt_strassen_scratch_count(&conv.product))
            let source = kind == .none ? nil : kind == .inPlace ? UnsafePointer(y.start) : UnsafePointer(residual.start)
            for part in 0..<parts { nt_strassen_conv_run(&conv, x.start, y.start, source, scratch.start, part, parts) }
            XCTAssertTrue(y.isIntact && scratch.isIntact)
            for row in 0..<rows {
                for j in 0..<outputs {
                    var sum = bias[j] + (kind == .none ? 0 : added[row * outputs + j])
                    for k in 0..<depth { sum += x.start[row * strideX + k] * weights[j * depth + k] }
                    let expected = min(90, max(-20, sum))
                    guard y.start[row * strideY + j] != expected else { continue }
                    return XCTFail(
                        "\(String(cString: gemm.pointee.name)) block \(block) of \(pixels), \(depth) to \(outputs), \(kind), parts \(parts): "
                            + "[\(row), \(j)] is \(y.start[row * strideY + j]), expected \(expected)")
                }
                for j in outputs..<strideY { XCTAssertTrue(y.start[row * strideY + j].isNaN, "wrote past a pixel") }
            }
        }
    }

    /// The fused kernel, whose strips are the blocks, gives the bits of its stages on data that rounds.
    func testSeparable() {
        for isa in ceilings {
            for (height, width, strip) in [(14, 14, 7), (13, 6, 4), (7, 7, 7), (5, 3, 1)] {
                checkSeparable(height, width, strip, isa)
            }
        }
    }

    private func checkSeparable(_ height: Int, _ width: Int, _ strip: Int, _ isa: UInt32) {
        var random = KernelNumbers(seed: strip)
        let (batch, channels, outputs) = (2, 22, 140)
        let pixels = batch * height * width
        let x = KernelMemory(pixels * channels) { _ in random.unit() }
        let residual = KernelMemory(pixels * outputs) { _ in random.unit() }
        let weights = KernelMemory(nt_depthwise_padded(channels) * 9)
        let bias = KernelMemory(nt_depthwise_padded(channels)) { $0 < channels ? random.unit() : 0 }
        let depthwiseKernel = nt_depthwise_choose(channels, isa)
        nt_depthwise_pack(depthwiseKernel, channels, 9, (0..<(channels * 9)).map { _ in random.unit() }, weights.start)
        var depthwise = nt_depthwise_image(
            window: ConvolutionKernelTests.Geometry(height, width, kernel: (3, 3), stride: 1, dilation: 1, pad: 1).window, batch: batch,
            channels: channels, x_stride: channels, y_stride: channels, kernel: depthwiseKernel, weights: weights.start, bias: bias.start,
            activation: ConvolutionKernelTests.activation(0, 6, isa: isa))
        let gemm = nt_gemm_choose((strip * width + 1) / 2, outputs / 2, channels / 2, isa)!
        let packed = KernelMemory(nt_strassen_packed_count(gemm, channels, outputs))
        let half = KernelMemory(outputs / 2 * (channels / 2))
        nt_strassen_pack(gemm, channels, outputs, (0..<(outputs * channels)).map { _ in random.unit() }, half.start, packed.start)
        let packedBias = KernelMemory(2 * nt_strassen_bias_stride(outputs)) { _ in random.unit() }
        var product = nt_strassen(
            depth: channels, outputs: outputs, block_rows: strip * width, adds_residual: 1, gemm: gemm, kernel: nt_strassen_choose(isa),
            packed: packed.start, bias: packedBias.start)
        let activation = ConvolutionKernelTests.activation(-3, 3, isa: isa)
        let (middle, expected) = (KernelMemory(pixels * channels), KernelMemory(pixels * outputs))
        nt_depthwise_image_run(&depthwise, x.start, middle.start, 0, 1)
        var conv = nt_strassen_conv(
            product: product, batch: batch, pixels: height * width, x_stride: channels, y_stride: outputs, residual_stride: outputs,
            activation: activation)
        let scratch = KernelMemory(nt_strassen_scratch_count(&product))
        nt_strassen_conv_run(&conv, middle.start, expected.start, residual.start, scratch.start, 0, 1)
        withUnsafePointer(to: &product) { product in
            var fused = nt_separable()
            fused.depthwise = depthwise
            fused.project.activation = activation
            fused.project.strassen = product
            (fused.x_stride, fused.y_stride, fused.residual_stride, fused.strip_rows) = (channels, outputs, outputs, strip)
            for parts in [1, 2, 3, 4] {
                let y = KernelMemory(pixels * outputs)
                let scratch = KernelMemory(nt_separable_scratch_count(&fused))
                for part in 0..<parts { nt_separable_run(&fused, x.start, y.start, residual.start, scratch.start, part, parts) }
                XCTAssertTrue(y.isIntact && scratch.isIntact)
                XCTAssertEqual(
                    y.values.map(\.bitPattern), expected.values.map(\.bitPattern), "\(height) x \(width), strip \(strip), parts \(parts), isa \(isa)")
            }
        }
    }
}
