import CNTKernels
import CNTPlatform
import XCTest

/// A first convolution fused with a pool or with a depthwise chain gives the bits of its stages, on data that rounds.
final class StemFusionTests: XCTestCase {
    private static let ceilings: [UInt32] = Array(Set([0, UInt32(NT_ISA_AVX2) & availableISA, availableISA])).sorted()
    private static let batch = 2
    private static let channels = 3

    /// A first convolution with its weights, on an element type.
    private final class Stem {
        var sizes = nt_stem()
        private var kept: [KernelMemory] = []
        let image: KernelMemory

        init(_ window: nt_window, outputs: Int, stride: Int, element: Int32, isa: UInt32) {
            var random = KernelNumbers(seed: outputs)
            let multiplied = window.stride_x == 2 ? element : Int32(NT_ELEMENT_FLOAT32)
            let (rows, width) =
                nt_stem_interleaves(multiplied) != 0
                ? (window.kernel_height, window.kernel_width * StemFusionTests.channels)
                : (StemFusionTests.channels * window.kernel_height, window.kernel_width)
            let kernel = nt_gemm_choose_element(multiplied, 200, outputs, rows * nt_slots(multiplied, width), isa)!
            let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, rows, width))
            let weights = (0..<(outputs * rows * width)).map { _ in random.unit() }
            nt_gemm_pack(kernel, outputs, rows, width, weights, rows * width, width, 1, packed.start)
            let bias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { $0 < outputs ? random.unit() : 0 }
            image = KernelMemory(StemFusionTests.batch * StemFusionTests.channels * window.in_height * window.in_width) { _ in random.unit() }
            kept = [packed, bias]
            sizes.window = window
            (sizes.batch, sizes.channels, sizes.outputs) = (StemFusionTests.batch, StemFusionTests.channels, outputs)
            (sizes.y_stride, sizes.y_element, sizes.kernel) = (stride, element, kernel)
            (sizes.packed, sizes.bias) = (UnsafePointer(packed.start), UnsafePointer(bias.start))
            sizes.activation = ConvolutionKernelTests.activation(0, 2, isa: isa)
            sizes.strip_rows = 2
        }

        /// Its output, pixels `sizes.y_stride` apart.
        func run() -> KernelMemory {
            let y = KernelMemory(sizes.batch * sizes.window.out_height * sizes.window.out_width * sizes.y_stride) { _ in 0 }
            let scratch = KernelMemory(nt_stem_scratch_count(&sizes))
            nt_stem_run(&sizes, image.start, y.start, scratch.start, 0, 1)
            return y
        }
    }

    private static func eachElement(_ body: (Int32, UInt32) -> Void) {
        for isa in ceilings { body(Int32(NT_ELEMENT_FLOAT32), isa) }
        for element in PairKernelTests.elements { body(element, pairISA) }
    }

    private static let windows: [nt_window] = [
        ConvolutionKernelTests.Geometry(17, 21, kernel: (3, 3), stride: 2, dilation: 1, pad: 1).window,
        ConvolutionKernelTests.Geometry(12, 9, kernel: (3, 3), stride: 1, dilation: 1, pad: 0).window,
        ConvolutionKernelTests.Geometry(23, 30, kernel: (7, 7), stride: 2, dilation: 1, pad: 3).window,
    ]

    func testPool() {
        Self.eachElement { element, isa in
            for window in Self.windows {
                for outputs in [8, 66] {
                    for (kernel, stride, dilation, pad) in [(3, 2, 1, 0), (3, 2, 1, 1), (2, 2, 1, 0), (2, 1, 2, 1), (1, 3, 1, 0)] {
                        let pooled = ConvolutionKernelTests.Geometry(
                            window.out_height, window.out_width, kernel: (kernel, kernel), stride: stride, dilation: dilation, pad: pad)
                        checkPool(window, pooled.window, outputs, element, isa)
                    }
                }
            }
        }
    }

    private func checkPool(_ window: nt_window, _ pooled: nt_window, _ outputs: Int, _ element: Int32, _ isa: UInt32) {
        let stride = nt_slots(element, outputs) + 1
        let stem = Stem(window, outputs: outputs, stride: stride, element: element, isa: isa)
        let isPairs = element != NT_ELEMENT_FLOAT32
        for function in [NT_POOL_MAXIMUM, NT_POOL_AVERAGE] {
            var pool = nt_pool_image(
                window: pooled, batch: Self.batch, channels: outputs, x_stride: stride, y_stride: stride,
                kernel: isPairs ? nt_pool_choose_element(element, isa) : nt_pool_choose(isa), function: Int32(function), counts_padding: 0,
                pad_bottom: 0, pad_right: 0)
            let count = Self.batch * pooled.out_height * pooled.out_width * stride
            let expected = KernelMemory(count) { _ in 0 }
            let whole = stem.run()
            withExtendedLifetime(whole) { nt_pool_image_run(&pool, whole.start, expected.start, 0, 1) }
            var fused = nt_stem_pool(stem: stem.sizes, pool: pool)
            for parts in [1, 2, 3] {
                let y = KernelMemory(count) { _ in 0 }
                let scratch = KernelMemory(nt_stem_pool_scratch_count(&fused))
                for part in 0..<parts { nt_stem_pool_run(&fused, stem.image.start, y.start, scratch.start, part, parts) }
                XCTAssertTrue(y.isIntact && scratch.isIntact)
                XCTAssertTrue(
                    y.values.map(\.bitPattern) == expected.values.map(\.bitPattern),
                    "\(window) \(pooled) \(outputs) parts \(parts) element \(element)")
            }
        }
    }

    func testSeparable() {
        Self.eachElement { element, isa in
            for window in Self.windows {
                for (stride, strip) in [(1, 1), (1, 4), (2, 2)] { checkSeparable(window, stride: stride, strip: strip, element, isa) }
            }
        }
    }

    private func checkSeparable(_ window: nt_window, stride: Int, strip: Int, _ element: Int32, _ isa: UInt32) {
        var random = KernelNumbers(seed: strip)
        let (wide, outputs) = (24, 34)
        let slots = nt_slots(element, outputs)
        let depthwiseWindow = ConvolutionKernelTests.Geometry(
            window.out_height, window.out_width, kernel: (3, 3), stride: stride, dilation: 1, pad: 1
        ).window
        let depthwiseKernel = element != NT_ELEMENT_FLOAT32 ? nt_depthwise_choose_pairs(element, isa)! : nt_depthwise_choose(wide, isa)!
        let weights = KernelMemory(nt_depthwise_padded(wide) * 9)
        let bias = KernelMemory(nt_depthwise_padded(wide))
        nt_depthwise_pack(depthwiseKernel, wide, 9, (0..<(wide * 9)).map { _ in random.unit() }, weights.start)
        nt_depthwise_pack(depthwiseKernel, wide, 1, (0..<wide).map { _ in random.unit() }, bias.start)
        var fused = nt_separable()
        fused.depthwise = nt_depthwise_image(
            window: depthwiseWindow, batch: Self.batch, channels: wide, x_stride: 0, y_stride: 0, kernel: depthwiseKernel, weights: weights.start,
            bias: bias.start, activation: ConvolutionKernelTests.activation(0, 6, isa: isa))
        let wideStride = nt_separable_wide_stride(&fused)
        let stem = Stem(window, outputs: wide, stride: wideStride, element: element, isa: isa)
        let kernel = nt_gemm_choose_element(element, 200, outputs, nt_slots(element, wide), isa)!
        let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, 1, wide))
        nt_gemm_pack(kernel, outputs, 1, wide, (0..<(wide * outputs)).map { _ in random.unit() }, wide, 0, 1, packed.start)
        let projectBias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { _ in random.unit() }
        let pixels = Self.batch * depthwiseWindow.out_height * depthwiseWindow.out_width
        let (middle, expected) = (KernelMemory(pixels * wideStride), KernelMemory(pixels * slots))
        var depthwise = fused.depthwise
        (depthwise.x_stride, depthwise.y_stride) = (wideStride, wideStride)
        let whole = stem.run()
        withExtendedLifetime(whole) { nt_depthwise_image_run(&depthwise, whole.start, middle.start, 0, 1) }
        nt_gemm_run_to(
            element, kernel, pixels, outputs, nt_slots(element, wide), middle.start, wideStride, packed.start, projectBias.start, expected.start,
            slots, nil, 0, -3, 3)
        fused.project = nt_pointwise(
            channels: nt_slots(element, wide), outputs: outputs, kernel: kernel, packed: packed.start, bias: projectBias.start,
            activation: ConvolutionKernelTests.activation(-3, 3, isa: isa), strassen: nil)
        (fused.y_stride, fused.y_element, fused.strip_rows) = (slots, element, strip)
        withUnsafePointer(to: stem.sizes) { sizes in
            fused.stem = sizes
            for parts in [1, 2, 5] {
                let y = KernelMemory(pixels * slots)
                let scratch = KernelMemory(nt_separable_scratch_count(&fused))
                for part in 0..<parts { nt_separable_run(&fused, stem.image.start, y.start, nil, scratch.start, part, parts) }
                XCTAssertTrue(y.isIntact && scratch.isIntact)
                XCTAssertTrue(
                    y.values.map(\.bitPattern) == expected.values.map(\.bitPattern), "\(window) strip \(strip) parts \(parts) element \(element)")
            }
        }
    }
}
