import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Plans in float16, by AVX512-FP16 or its model: what they choose, how near they stay, where the range ends.
final class Float16PlanTests: XCTestCase {
    private let options = CompileOptions(precision: .float16)
    private let backend = CPUBackend(threadCount: 2)
    private let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)

    override func setUpWithError() throws {
        nt_isa_set_float16_model(true)
        try XCTSkipUnless(CPUBackend.resolved(.float16) == .float16, "this processor has no AVX-512")
    }

    override func tearDown() {
        nt_isa_set_ceiling(~0)
        nt_isa_set_float16_model(false)
    }

    private func kernels(_ graph: Graph, _ options: CompileOptions) throws -> [String] {
        try ExecutionPlan(graph, backend: backend, options: options).steps.map(\.step.kernel)
    }

    /// The largest difference from the reference over the largest value, after optimisation.
    private func difference(_ graph: Graph, _ inputs: [Tensor], _ options: CompileOptions) throws -> Double {
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)[0].floatArray()
        let plan = try ExecutionPlan(graph, backend: backend, options: options)
        let target = try TensorBuffer(byteCount: expected.count * 4)
        try plan.run(
            plan.makeState(), inputs: inputs.map(\.bytes), outputs: [UnsafeMutableRawBufferPointer(start: target.base, count: expected.count * 4)])
        let found = target.base.bindMemory(to: Float.self, capacity: expected.count)
        let largest = expected.reduce(0) { max($0, abs($1)) }
        return withExtendedLifetime((target, inputs)) {
            expected.indices.reduce(0.0) { max($0, Double(abs(found[$1] - expected[$1]) / largest)) }
        }
    }

    /// Three convolutions 3 x 3 over numbers of up to `size`, the last of which gives the output.
    private func convolutions(size: Float, strides: Size2D) throws -> (graph: Graph, inputs: [Tensor]) {
        try OperatorCase("3x3", kinds: []) { [one] b in
            var x = try b.input([1, 32, 28, 28], .uniform((-size)...size))
            for _ in 0..<3 {
                // Sums of 288 terms with weights of up to 0.1 keep the size of what goes in.
                x = try b.convolution(x, outputs: 32, kernel: Size2D(3, 3), strides: strides, padding: one, fill: .uniform((-0.1)...0.1))
            }
            try b.output(try b.convolution(x, outputs: 32, kernel: .one, fill: .uniform((-0.3)...0.3)))
        }.make()
    }

    /// Winograd's method, whose transforms and products are in float32, and plain sums: both stay within 2^-9 of the largest value over four layers
    /// with numbers of any size that float16 holds, up to thousands and down to ten thousandths.
    func testWinogradAndPlainSumsOverTheRange() throws {
        for size: Float in [1e-3, 1, 300, 5000] {
            let (graph, inputs) = try convolutions(size: size, strides: .one)
            let names = try kernels(graph, options)
            XCTAssertTrue(names.contains { $0.contains(/^winograd 3x3 avx512 float16 tiles \dx\d, float32/) }, "\(names)")
            XCTAssertLessThan(try difference(graph, inputs, options), 0x1p-9, "by Winograd's method, up to \(size)")
            let (strided, numbers) = try convolutions(size: size, strides: Size2D(2, 2))
            XCTAssertFalse(try kernels(strided, options).contains { $0.contains("winograd") })
            XCTAssertLessThan(try difference(strided, numbers, options), 0x1p-9, "up to \(size)")
        }
    }

    /// Winograd's method multiplies in float32 whatever images are in, and its step says so, as does the peak that it is held to.
    func testWinogradsProductsAreNamedInFloat32() throws {
        let (graph, _) = try convolutions(size: 1, strides: .one)
        for precision in [Precision.float16, .bfloat16] where CPUBackend.resolved(precision) == precision {
            let plan = try ExecutionPlan(graph, backend: backend, options: CompileOptions(precision: precision))
            let step = try XCTUnwrap(plan.steps.map(\.step).first { $0.kernel.hasPrefix("winograd") })
            XCTAssertNotNil(step.kernel.firstMatch(of: /^winograd 3x3 .+, float32 avx512 \d+x\d+$/), step.kernel)
            XCTAssertEqual(step.arithmetic, .float32)
        }
    }

    /// Every step that computes on images says that it is in float16, and in float32 where the instructions are cut off.
    func testStepsSayFloat16() throws {
        let (graph, inputs) = try OperatorCase("steps", kinds: []) { [one] b in
            var x = try b.input([1, 3, 32, 32], .unit)
            x = try b.convolution(x, outputs: 17, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one, activation: .relu, fill: .unit)
            x = try b.convolution(x, outputs: 17, kernel: Size2D(3, 3), padding: one, groups: 17, fill: .unit)
            x = try b.add(Pool(.maximum, kernel: Size2D(2, 2), strides: Size2D(2, 2)), x)
            x = try b.convolution(x, outputs: 40, kernel: .one, fill: .unit)
            try b.output(try b.add(Pool(.average, kernel: Size2D(8, 8)), x))
        }.make()
        let names = try kernels(graph, options)
        XCTAssertTrue(names.allSatisfy { $0.contains("float16") || $0.contains("fp16") }, "\(names)")
        XCTAssertLessThan(try difference(graph, inputs, options), 0x1p-9)
        nt_isa_set_ceiling(UInt32(NT_ISA_AVX2 | NT_ISA_AVX512))
        XCTAssertEqual(CPUBackend.resolved(.float16), .float32)
        XCTAssertEqual(try kernels(graph, options), try kernels(graph, CompileOptions(precision: .float32)))
    }

    /// Weights beyond float16's range and beneath it are scaled, not cut off.
    func testWeightsOfAnySize() throws {
        for size: Float in [1e-12, 1e-7, 1e6, 1e20] {
            let (graph, inputs) = try OperatorCase("weights", kinds: []) { b in
                let x = try b.input([1, 70, 9, 9], .uniform((-1)...1))
                // As an output the result is in float32.
                try b.output(try b.convolution(x, outputs: 35, kernel: .one, fill: .uniform((-size)...size)))
            }.make()
            XCTAssertLessThan(try difference(graph, inputs, options), 0x1p-9, "\(size)")
        }
    }

    /// A network that leaves the range is found out, and the layer that does so named.
    func testOverflowIsFound() throws {
        var random = TestRandom(name: "overflow")
        var builder = GraphBuilder(name: "overflow")
        let x = builder.input("x", .float32([1, 24, 8, 8]))
        func layer(_ input: ValueID, _ scale: Float, _ name: String) throws -> ValueID {
            let w = try builder.constant(try random.tensor([24, 24, 1, 1], .uniform((0.5 * scale)...scale)))
            return try builder.add(Convolution(), input, w, layer: name)
        }
        let large = try layer(try layer(x, 0.1, "fine"), 5000, "large")
        try builder.output(try layer(large, 1e-5, "after"), name: "y")
        let inputs = [try random.tensor([1, 24, 8, 8], .uniform(1...2))]
        XCTAssertFalse(try difference(builder.graph, inputs, options).isFinite)
        let check = try SelfCheck(builder.graph, tested: backend, options: options, trusted: ReferenceBackend())
        let report = try withExtendedLifetime(inputs) { try check.run(inputs.map(\.bytes), tolerance: 0.15) }
        XCTAssertEqual(report.firstNonFiniteLayer, "after")
        XCTAssertEqual(report.firstLayerBeyondFloat16, "large")
        XCTAssertLessThan(try difference(builder.graph, inputs, CompileOptions(precision: .float32)), 1e-5)
    }
}
