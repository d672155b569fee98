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

    /// Depthwise and pointwise on an element type, alone and fused.
    private final class Chain {
        let sizes = UnsafeMutablePointer<nt_separable>.allocate(capacity: 1)
        private var kept: [KernelMemory] = []
        private let outputs: Int

        init(_ window: nt_window, channels: Int, outputs: Int, strip: Int, element: Int32, isa: UInt32) {
            var random = KernelNumbers(seed: strip + outputs)
            self.outputs = outputs
            let isFloat = element == NT_ELEMENT_FLOAT32
            let depthwise = isFloat ? nt_depthwise_choose(channels, isa)! : nt_depthwise_choose_pairs(element, isa)!
            let weights = KernelMemory(nt_depthwise_padded(channels) * 9), bias = KernelMemory(nt_depthwise_padded(channels))
            nt_depthwise_pack(depthwise, channels, 9, (0..<(channels * 9)).map { _ in random.unit() }, weights.start)
            nt_depthwise_pack(depthwise, channels, 1, (0..<channels).map { _ in random.unit() }, bias.start)
            let kernel = nt_gemm_choose_element(element, 200, outputs, nt_slots(element, channels), isa)!
            let packed = KernelMemory(nt_gemm_packed_count(kernel, outputs, 1, channels))
            nt_gemm_pack(kernel, outputs, 1, channels, (0..<(channels * outputs)).map { _ in random.unit() }, channels, 0, 1, packed.start)
            let projectBias = KernelMemory(nt_gemm_bias_count(kernel, outputs)) { _ in random.unit() }
            kept = [weights, bias, packed, projectBias]
            sizes.initialize(to: nt_separable())
            sizes.pointee.depthwise = nt_depthwise_image(
                window: window, batch: StemFusionTests.batch, channels: channels, x_stride: 0, y_stride: 0, kernel: depthwise,
                weights: weights.start, bias: bias.start, activation: ConvolutionKernelTests.activation(0, 6, isa: isa))
            sizes.pointee.project = nt_pointwise(
                channels: nt_slots(element, channels), outputs: outputs, kernel: kernel, packed: packed.start, bias: projectBias.start,
                activation: ConvolutionKernelTests.activation(-3, 3, isa: isa), strassen: nil)
            (sizes.pointee.y_stride, sizes.pointee.y_element, sizes.pointee.strip_rows) = (nt_slots(element, outputs), element, strip)
        }

        deinit { sizes.deallocate() }

        var wideStride: Int { nt_separable_wide_stride(sizes) }
        var pixels: Int { StemFusionTests.batch * sizes.pointee.depthwise.window.out_height * sizes.pointee.depthwise.window.out_width }

        /// Its stages one after the other, on pixels `wideStride` apart; its own are `stride` apart.
        func stages(_ x: KernelMemory, stride: Int) -> KernelMemory {
            let (middle, y) = (KernelMemory(pixels * wideStride) { _ in 0 }, KernelMemory(pixels * stride) { _ in 0 })
            var depthwise = sizes.pointee.depthwise
            (depthwise.x_stride, depthwise.y_stride) = (wideStride, wideStride)
            let project = sizes.pointee.project
            withExtendedLifetime(x) { nt_depthwise_image_run(&depthwise, x.start, middle.start, 0, 1) }
            nt_gemm_run_to(
                sizes.pointee.y_element, project.kernel, pixels, outputs, project.channels, middle.start, wideStride, project.packed, project.bias,
                y.start, stride, nil, 0, -3, 3)
            return y
        }

        /// All of it and what is before it, in shares.
        func run(_ image: KernelMemory, stride: Int, parts: Int) -> KernelMemory {
            let (y, scratch) = (KernelMemory(pixels * stride) { _ in 0 }, KernelMemory(nt_separable_scratch_count(sizes)))
            for part in 0..<parts { nt_separable_run(sizes, image.start, y.start, nil, scratch.start, part, parts) }
            XCTAssertTrue(y.isIntact && scratch.isIntact)
            return y
        }
    }

    /// One, two and three chains in a row behind a first convolution.
    private func checkSeparable(_ window: nt_window, stride: Int, strip: Int, _ element: Int32, _ isa: UInt32) {
        var chains: [Chain] = []
        var (height, width, channels) = (window.out_height, window.out_width, 24)
        for (outputs, stride) in [(34, stride), (17, 2), (40, 1)] {
            let geometry = ConvolutionKernelTests.Geometry(height, width, kernel: (3, 3), stride: stride, dilation: 1, pad: 1).window
            chains.append(Chain(geometry, channels: channels, outputs: outputs, strip: strip, element: element, isa: isa))
            (height, width, channels) = (geometry.out_height, geometry.out_width, outputs)
        }
        let stem = Stem(window, outputs: 24, stride: chains[0].wideStride, element: element, isa: isa)
        var expected = stem.run()
        withUnsafePointer(to: stem.sizes) { sizes in
            for (index, chain) in chains.enumerated() {
                if index == 0 {
                    chain.sizes.pointee.stem = sizes
                } else {
                    chains[index - 1].sizes.pointee.y_stride = chain.wideStride
                    chain.sizes.pointee.before = UnsafePointer(chains[index - 1].sizes)
                }
                let stride = index + 1 < chains.count ? chains[index + 1].wideStride : chain.sizes.pointee.y_stride
                chain.sizes.pointee.y_stride = stride
                expected = chain.stages(expected, stride: stride)
                for parts in [1, 2, 5] {
                    XCTAssertTrue(
                        chain.run(stem.image, stride: stride, parts: parts).values.map(\.bitPattern) == expected.values.map(\.bitPattern),
                        "\(window), chain \(index), strip \(strip), parts \(parts), element \(element)")
                }
            }
        }
    }
}
