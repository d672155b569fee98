import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class OperatorCaseTests: XCTestCase {
    override func tearDown() {
        nt_isa_set_ceiling(~0)
        nt_isa_set_float16_model(false)
        nt_isa_set_amx_model(false)
    }

    /// Every operator case agrees with the reference, on one thread and on two.
    func testEveryCase() {
        for threads in [1, 2] {
            let backend = CPUBackend(threadCount: threads)
            for test in OperatorCases.all {
                for problem in BackendCheck.run(test, on: backend) {
                    XCTFail("\(threads) threads: \(problem)")
                }
            }
        }
    }

    /// The same at each ceiling of instruction sets below the processor's own.
    func testEveryCaseAtEachCeiling() {
        for ceiling in [0, UInt32(NT_ISA_AVX2)] {
            nt_isa_set_ceiling(ceiling)
            let backend = CPUBackend(threadCount: 1)
            for test in OperatorCases.all {
                for problem in BackendCheck.run(test, on: backend) { XCTFail("ceiling \(ceiling): \(problem)") }
            }
        }
    }

    /// In bfloat16 every case stays near the reference: inputs, weights and results are each rounded to 8 bits, which on these short sums
    /// makes at most some 2 % of the largest result.
    func testEveryCaseInBFloat16() throws { try checkEveryCaseInBFloat16() }

    /// The same with products on AMX's tiles, or their model, where they are chosen.
    func testEveryCaseOnTiles() throws {
        try XCTSkipUnless(CPUBackend.resolved(.bfloat16) == .bfloat16, "this processor has no AVX512-BF16")
        nt_isa_set_amx_model(true)
        try checkEveryCaseInBFloat16()
    }

    private func checkEveryCaseInBFloat16() throws {
        for threads in [1, 2] {
            let backend = CPUBackend(threadCount: threads)
            for test in OperatorCases.all {
                let (graph, inputs) = try test.make()
                let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
                let largest = expected.flatMap { $0.floatArray() }.filter(\.isFinite).reduce(0) { max($0, abs($1)) }
                let tolerance = Tolerance(relative: 0.02, absolute: 0.02 * Double(largest) + 1e-5)
                for problem in BackendCheck.run(test, on: backend, options: CompileOptions(precision: .bfloat16), tolerance: tolerance) {
                    XCTFail("\(threads) threads: \(problem)")
                }
            }
        }
    }

    /// The same in float16, whose 11 bits make at most some 0.3 %, by AVX512-FP16 or by its model.
    func testEveryCaseInFloat16() throws {
        nt_isa_set_float16_model(true)
        try XCTSkipUnless(CPUBackend.resolved(.float16) == .float16, "this processor has no AVX-512")
        for threads in [1, 2] {
            let backend = CPUBackend(threadCount: threads)
            for test in OperatorCases.all {
                let (graph, inputs) = try test.make()
                let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
                let largest = expected.flatMap { $0.floatArray() }.filter(\.isFinite).reduce(0) { max($0, abs($1)) }
                let tolerance = Tolerance(relative: 0.003, absolute: 0.003 * Double(largest) + 1e-5)
                for problem in BackendCheck.run(test, on: backend, options: CompileOptions(precision: .float16), tolerance: tolerance) {
                    XCTFail("\(threads) threads: \(problem)")
                }
            }
        }
    }

    /// With Winograd's method allowed every case stays within 1e-4 of its largest result.
    func testEveryCaseByWinograd() throws {
        for ceiling in [0, UInt32(NT_ISA_AVX2), ~0] {
            nt_isa_set_ceiling(ceiling)
            let backend = CPUBackend(threadCount: 2)
            for test in OperatorCases.all {
                let (graph, inputs) = try test.make()
                let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
                let largest = expected.flatMap { $0.floatArray() }.filter(\.isFinite).reduce(0) { max($0, abs($1)) }
                let tolerance = Tolerance(
                    relative: max(1e-5, test.tolerance.relative), absolute: max(1e-4 * Double(largest), test.tolerance.absolute))
                for problem in BackendCheck.run(test, on: backend, options: CompileOptions(precision: .float32Winograd), tolerance: tolerance) {
                    XCTFail("ceiling \(ceiling): \(problem)")
                }
            }
        }
    }

    /// Nothing but empty tensors and computed weights falls back to the reference.
    func testFallbacks() throws {
        let backend = CPUBackend(threadCount: 1)
        for test in OperatorCases.all {
            for fallback in try BackendCheck.fallbacks(test, on: backend) {
                XCTAssertTrue(
                    ["a tensor without elements", "weights that are computed", "scales that are computed", "slopes that are computed"].contains(
                        fallback.reason),
                    "\(test): \(fallback.operatorKind): \(fallback.reason)")
            }
        }
    }

    /// Indices and lengths that are none are errors that name the layer, as on the reference.
    func testIndicesOutOfRangeAreErrors() throws {
        typealias Input = (shape: Shape, values: [Float])
        var cases: [(op: any Operator, inputs: [Input])] = []
        let (pair, square): (Input, Input) = (([2], [1, 2]), ([2, 2], [1, 2, 3, 4]))
        cases.append((GatherAlongAxis(axis: 1), [([1, 3], [1, 2, 3]), ([1, 1], [3])]))
        cases.append((GatherND(), [square, ([1, 2], [0, -3])]))
        cases.append((Scatter(.slices(axis: 0), mode: .add), [pair, ([1], [2]), ([1], [9])]))
        cases.append((Scatter(.elements(axis: 0), mode: .update), [pair, ([1], [0.5]), ([1], [9])]))
        cases.append((Scatter(.coordinates, mode: .maximum), [square, ([1, 1], [.nan]), ([1, 2], [9, 9])]))
        cases.append((ReverseSequence(batchAxis: 0, sequenceAxis: 1), [square, ([2], [3, 0])]))
        let crop = CropResize(size: Size2D(1, 1), sampling: .alignEndpoints, format: .cornersHeightFirst, isNormalized: false)
        cases.append((crop, [([1, 1, 2, 2], [1, 2, 3, 4]), ([1, 5], [1, 0, 0, 1, 1])]))
        for (op, inputs) in cases {
            var builder = GraphBuilder(name: "picking")
            let ids = inputs.enumerated().map { builder.input("x\($0)", .float32($1.shape)) }
            for output in try builder.apply(op, ids, layer: "picked") { try builder.output(output, name: "y") }
            let tensors = try inputs.map { try Tensor($0.shape, $0.values) }
            XCTAssertThrowsError(try ReferenceBackend.evaluate(builder.graph, inputs: tensors))
            for backend in [CPUBackend(threadCount: 1), CPUBackend(threadCount: 2)] {
                let plan = try ExecutionPlan(builder.graph, backend: backend)
                XCTAssertEqual(plan.fallbacks.count, 0)
                let state = try plan.makeState()
                for (buffer, tensor) in zip(state.inputs, tensors) {
                    if let base = tensor.bytes.baseAddress { buffer.base.copyMemory(from: base, byteCount: tensor.byteCount) }
                }
                XCTAssertThrowsError(try plan.run(state), op.kind) { XCTAssertTrue("\($0)".contains("picked"), "\($0)") }
                withExtendedLifetime(tensors) {}
            }
        }
    }
}
