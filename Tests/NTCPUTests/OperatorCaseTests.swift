import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import TestSupport
import XCTest

final class OperatorCaseTests: XCTestCase {
    override func tearDown() {
        nt_isa_set_ceiling(~0)
        nt_isa_set_float16_model(false)
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
    func testEveryCaseInBFloat16() throws {
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

    /// Nothing but empty tensors, computed weights and the rare operators without kernels falls back to the reference.
    func testFallbacks() throws {
        let rare: Set = ["CropResize", "GatherAlongAxis", "GatherND", "Scatter", "CumulativeSum", "ReverseSequence"]
        let backend = CPUBackend(threadCount: 1)
        for test in OperatorCases.all {
            for fallback in try BackendCheck.fallbacks(test, on: backend) {
                if fallback.reason == "no kernel", rare.contains(fallback.operatorKind) { continue }
                XCTAssertTrue(
                    ["a tensor without elements", "weights that are computed", "scales that are computed", "slopes that are computed"].contains(
                        fallback.reason),
                    "\(test): \(fallback.operatorKind): \(fallback.reason)")
            }
        }
    }
}
