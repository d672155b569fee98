import CNTKernels
import Foundation
import NTCPU
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// What biases give back of what rounding weights to bfloat16 takes.
final class RoundingShiftTests: XCTestCase {
    private let (inner, outputs, size) = (256, 48, 40)

    /// Of the second of two layers, a function between them: the error of its outputs on average over the image, as a share of what rounding
    /// its weights makes of it.
    private func share(of function: UnaryFunction, dense: Bool = false, inputScale: Float = 1) throws -> Double {
        var random = TestRandom(name: "shifts")
        func normal(_ shape: Shape, _ deviation: Float) throws -> Tensor {
            try Tensor(shape, (0..<shape.count).map { _ in (0..<12).reduce(Float(-6)) { sum, _ in sum + random.number(0...1) } * deviation })
        }
        var builder = GraphBuilder(name: "shifts")
        let rows = dense ? 1600 : 1
        let x = builder.input("x", .float32(dense ? [rows, 64] : [1, 64, size, size]))
        let first = try builder.constant(try normal(dense ? [inner, 64] : [inner, 64, 1, 1], 0.125))
        let bias = try builder.constant(try normal([inner], 0.5))
        let weights = try normal(dense ? [outputs, inner] : [outputs, inner, 1, 1], 0.06)
        let second = try builder.constant(weights)
        let wide = try builder.add(
            dense ? Dense(hasBias: true, activation: function) as any NTGraph.Operator : Convolution(hasBias: true, activation: function), x, first,
            bias, layer: "first")
        try builder.output(wide, name: "wide")
        try builder.output(
            try builder.add(dense ? Dense() as any NTGraph.Operator : Convolution(), wide, second, layer: "second"), name: "y")
        let inputs = [try normal(dense ? [rows, 64] : [1, 64, size, size], inputScale)]
        let expected = try ReferenceBackend.evaluate(builder.graph, inputs: inputs).map { $0.floatArray() }
        let plan = try ExecutionPlan(builder.graph, backend: CPUBackend(threadCount: 1), options: CompileOptions(precision: .bfloat16))
        var found = [Float](repeating: 0, count: expected[1].count)
        var unused = [Float](repeating: 0, count: expected[0].count)
        try found.withUnsafeMutableBytes { found in
            try unused.withUnsafeMutableBytes { try plan.run(plan.makeState(), inputs: inputs.map(\.bytes), outputs: [$0, found]) }
        }
        // [channels][pixels]; of dense layers [rows][channels].
        let pixels = dense ? rows : size * size
        func mean(_ numbers: [Float], _ channel: Int, of channels: Int) -> Double {
            (0..<pixels).reduce(0) { $0 + Double(numbers[dense ? $1 * channels + channel : channel * pixels + $1]) } / Double(pixels)
        }
        let means = (0..<inner).map { mean(expected[0], $0, of: inner) }
        var (rounding, left) = (0.0, 0.0)
        for o in 0..<outputs {
            let taken = (0..<inner).reduce(0.0) {
                let w = weights.floats[o * inner + $1]
                return $0 + Double(w - nt_bfloat16_value(nt_bfloat16_bits(w))) * means[$1]
            }
            rounding += taken * taken
            left += pow(mean(found, o, of: outputs) - mean(expected[1], o, of: outputs), 2)
        }
        return withExtendedLifetime(weights) { (left / rounding).squareRoot() }
    }

    func testSumsKeepTheirMeans() throws {
        try XCTSkipUnless(CPUBackend.resolved(.bfloat16) == .bfloat16, "this processor has no AVX512-BF16")
        XCTAssertLessThan(try share(of: .relu), 0.4)
        XCTAssertLessThan(try share(of: .clip(0, 1)), 0.4)
        XCTAssertLessThan(try share(of: .sigmoid), 0.4)
        XCTAssertLessThan(try share(of: .relu, dense: true), 0.4)
    }

    /// Inputs that are far from what is assumed: what is given back is then too little, and makes nothing worse.
    func testUnknownInputsAreNoWorse() throws {
        try XCTSkipUnless(CPUBackend.resolved(.bfloat16) == .bfloat16, "this processor has no AVX512-BF16")
        for scale in [Float(0.1), 10, 100] { XCTAssertLessThan(try share(of: .relu, inputScale: scale), 1.1, "\(scale)") }
    }

    /// Weights, biases and affine maps without sense give what they gave, not a failure.
    func testNumbersWithoutSense() throws {
        for value in [Float.nan, .infinity, 3e38, -3e38, Float.leastNonzeroMagnitude] {
            var builder = GraphBuilder(name: "senseless")
            let x = builder.input("x", .float32([1, 20, 3, 3]))
            let w = try builder.constant(try Tensor([40, 20, 1, 1], [Float](repeating: value, count: 800)))
            let v = try builder.constant(try Tensor([24, 40, 1, 1], [Float](repeating: 1, count: 960)))
            let y = try builder.add(Convolution(activation: .relu), x, w, layer: "first")
            try builder.output(try builder.add(Convolution(), y, v, layer: "second"), name: "y")
            let plan = try ExecutionPlan(builder.graph, backend: CPUBackend(threadCount: 1), options: CompileOptions(precision: .bfloat16))
            let input = try Tensor([1, 20, 3, 3], [Float](repeating: 0, count: 180))
            var found = [Float](repeating: 7, count: 24 * 9)
            try found.withUnsafeMutableBytes { try plan.run(plan.makeState(), inputs: [input.bytes], outputs: [$0]) }
            if value.isFinite { XCTAssertEqual(found, [Float](repeating: 0, count: 24 * 9), "\(value)") }
        }
    }
}
