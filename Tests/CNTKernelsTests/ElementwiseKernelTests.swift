import CNTKernels
import CNTPlatform
import Foundation
import XCTest

final class ElementwiseKernelTests: XCTestCase {
    private let kernels = (0..<nt_elementwise_kernel_count()).map { nt_elementwise_kernel_at($0)!.pointee }
        .filter { $0.isa & availableISA == $0.isa }

    /// A function, its parameters, its exact value, and the range it is tried on.
    private struct Case {
        let function: Int
        var alpha: Float = 0
        var beta: Float = 0
        var range: ClosedRange<Float> = -100...100
        let exact: (Double) -> Double
    }

    private static func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

    private let approximations: [Case] = [
        Case(function: NT_UNARY_EXP, range: -87...88, exact: exp),
        Case(function: NT_UNARY_SIGMOID, range: -87...100, exact: sigmoid),
        Case(function: NT_UNARY_SILU, range: -80...100) { $0 * sigmoid($0) },
        Case(function: NT_UNARY_TANH, exact: tanh),
        Case(function: NT_UNARY_TANH, range: -0.01...0.01, exact: tanh),
        Case(function: NT_UNARY_SCALED_TANH, alpha: 1.5, beta: 0.75) { 1.5 * tanh(0.75 * $0) },
        Case(function: NT_UNARY_ELU, alpha: 0.5) { $0 < 0 ? 0.5 * expm1($0) : $0 },
        Case(function: NT_UNARY_ELU, alpha: 1, range: -0.01...0.01) { $0 < 0 ? expm1($0) : $0 },
        Case(function: NT_UNARY_SOFTPLUS, range: -80...100) { max($0, 0) + log1p(exp(-abs($0))) },
        Case(function: NT_UNARY_ERF, range: -5...5, exact: erf),
        Case(function: NT_UNARY_GELU_EXACT, range: -8...8) { 0.5 * $0 * (1 + erf($0 / 2.0.squareRoot())) },
        Case(function: NT_UNARY_GELU_TANH, range: -8...8) {
            0.5 * $0 * (1 + tanh((2 / Double.pi).squareRoot() * ($0 + 0.044715 * $0 * $0 * $0)))
        },
        Case(function: NT_UNARY_GELU_SIGMOID, range: -8...8) { $0 * sigmoid(1.702 * $0) },
        Case(function: NT_UNARY_EXP2, range: -120...120, exact: exp2),
        Case(function: NT_UNARY_LOG, alpha: 0.5, range: 0...1000) { log($0 + 0.5) },
        Case(function: NT_UNARY_RSQRT, alpha: 0.25, range: 0...100) { 1 / ($0 + 0.25).squareRoot() },
        Case(function: NT_UNARY_POWER, alpha: 1.5, range: 0...100) { pow($0, 1.5) },
    ]

    /// Within 1e-6 relative or absolute, as the contract says, at every length around the vector's.
    func testApproximations() {
        for kernel in kernels {
            for test in approximations {
                let count = 20_003
                let x = KernelMemory(count) {
                    test.range.lowerBound + (test.range.upperBound - test.range.lowerBound) * Float($0) / Float(count - 1)
                }
                let y = KernelMemory(count)
                kernel.unary(Int32(test.function), count, x.start, test.alpha, test.beta, y.start)
                XCTAssertTrue(y.isIntact)
                var worst = (error: 0.0, x: Float(0), found: Float(0))
                for i in 0..<count {
                    let exact = test.exact(Double(x.start[i]))
                    let error = min(abs(Double(y.start[i]) - exact), abs(Double(y.start[i]) / exact - 1))
                    if !(error <= worst.error) { worst = (error, x.start[i], y.start[i]) }
                }
                XCTAssertLessThanOrEqual(
                    worst.error, 1e-6, "\(String(cString: kernel.name)) function \(test.function) at \(worst.x): \(worst.found)")
            }
        }
    }

    /// Special values of the approximations.
    func testSpecialValues() {
        let infinity = Float.infinity
        let expectations: [(Int, Float, Float)] = [
            (NT_UNARY_EXP, -infinity, 0), (NT_UNARY_EXP, infinity, infinity), (NT_UNARY_EXP, -200, 0),
            (NT_UNARY_EXP, 200, infinity), (NT_UNARY_EXP, 0, 1), (NT_UNARY_SIGMOID, -infinity, 0),
            (NT_UNARY_SIGMOID, infinity, 1), (NT_UNARY_TANH, infinity, 1),
            (NT_UNARY_TANH, -infinity, -1), (NT_UNARY_TANH, 0, 0), (NT_UNARY_ELU, -infinity, -1),
            (NT_UNARY_SOFTPLUS, infinity, infinity), (NT_UNARY_SOFTPLUS, -infinity, 0),
            (NT_UNARY_ERF, infinity, 1), (NT_UNARY_ERF, -infinity, -1), (NT_UNARY_SILU, infinity, infinity),
        ]
        for kernel in kernels {
            for (function, x, expected) in expectations {
                let input = [Float](repeating: x, count: 19)
                let y = KernelMemory(19)
                kernel.unary(Int32(function), 19, input, 1, 0, y.start)
                XCTAssertTrue(y.values.allSatisfy { $0 == expected }, "\(String(cString: kernel.name)) \(function)(\(x)) = \(y.start[0])")
            }
            for function in 0..<NT_UNARY_COUNT
            where ![NT_UNARY_LOGICAL_NOT].contains(function) {
                let y = KernelMemory(19)
                kernel.unary(Int32(function), 19, [Float](repeating: .nan, count: 19), 1, 1, y.start)
                XCTAssertTrue(y.values.allSatisfy(\.isNaN), "\(String(cString: kernel.name)) \(function)(NaN) = \(y.start[0])")
            }
        }
    }

    /// Every function in place equals the same out of place, for each length around the vector's.
    func testLengthsAndInPlace() {
        for kernel in kernels {
            for function in 0..<NT_UNARY_COUNT {
                let whole = KernelMemory(40) { Float($0 - 13) / 7 }
                let all = KernelMemory(40)
                kernel.unary(Int32(function), 40, whole.start, 0.5, 2, all.start)
                for n in [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33] {
                    let y = KernelMemory(n, offset: 1) { whole.start[$0] }
                    kernel.unary(Int32(function), n, y.start, 0.5, 2, y.start)
                    XCTAssertTrue(y.isIntact)
                    for i in 0..<n where y.start[i].bitPattern != all.start[i].bitPattern && !y.start[i].isNaN {
                        XCTFail("\(String(cString: kernel.name)) function \(function), \(n) elements, [\(i)]")
                    }
                }
            }
        }
    }

    func testBinary() {
        let pairs: [(Int, (Float, Float) -> Float)] = [
            (NT_BINARY_ADD, { $0 + $1 }), (NT_BINARY_SUBTRACT, { $0 - $1 }),
            (NT_BINARY_MULTIPLY, { $0 * $1 }), (NT_BINARY_DIVIDE, { $0 / $1 }),
            (NT_BINARY_FLOOR_DIVIDE, { ($0 / $1).rounded(.down) }),
            (NT_BINARY_MODULO, { $0 - $1 * ($0 / $1).rounded(.down) }),
            (NT_BINARY_MAXIMUM, { max($0, $1) }), (NT_BINARY_MINIMUM, { min($0, $1) }),
            (NT_BINARY_EQUAL, { $0 == $1 ? 1 : 0 }), (NT_BINARY_NOT_EQUAL, { $0 != $1 ? 1 : 0 }),
            (NT_BINARY_LESS, { $0 < $1 ? 1 : 0 }), (NT_BINARY_LESS_EQUAL, { $0 <= $1 ? 1 : 0 }),
            (NT_BINARY_GREATER, { $0 > $1 ? 1 : 0 }), (NT_BINARY_GREATER_EQUAL, { $0 >= $1 ? 1 : 0 }),
            (NT_BINARY_AND, { $0 != 0 && $1 != 0 ? 1 : 0 }), (NT_BINARY_OR, { $0 != 0 || $1 != 0 ? 1 : 0 }),
            (NT_BINARY_XOR, { ($0 != 0) != ($1 != 0) ? 1 : 0 }),
        ]
        for kernel in kernels {
            for (function, body) in pairs {
                for n in [1, 4, 7, 8, 16, 35] {
                    for (stepA, stepB) in [(1, 1), (0, 1), (1, 0)] {
                        var random = KernelNumbers(seed: n)
                        let divides = [NT_BINARY_DIVIDE, NT_BINARY_FLOOR_DIVIDE, NT_BINARY_MODULO].contains(function)
                        let a = KernelMemory(n) { _ in random.next(-3...3) }
                        let b = KernelMemory(n) { _ in divides ? random.next(1...2) : random.next(-3...3) }
                        let y = KernelMemory(n)
                        kernel.binary(Int32(function), n, a.start, stepA, b.start, stepB, -2, 3, y.start)
                        XCTAssertTrue(y.isIntact)
                        for i in 0..<n {
                            let exact = body(a.start[i * stepA], b.start[i * stepB])
                            XCTAssertEqual(y.start[i], min(3, max(-2, exact)), "\(String(cString: kernel.name)) function \(function)")
                        }
                    }
                }
            }
        }
    }

    func testAffineAndPReLU() {
        for kernel in kernels {
            for n in [1, 5, 16, 37] {
                for step in [0, 1] {
                    var random = KernelNumbers(seed: n)
                    let x = KernelMemory(n) { _ in random.next(-9...9) }
                    let s = KernelMemory(n) { _ in random.next(-9...9) }
                    let b = KernelMemory(n) { _ in random.next(-9...9) }
                    let y = KernelMemory(n)
                    let z = KernelMemory(n)
                    kernel.affine(n, x.start, s.start, b.start, step, -20, 30, y.start)
                    kernel.prelu(n, x.start, s.start, step, z.start)
                    XCTAssertTrue(y.isIntact && z.isIntact)
                    for i in 0..<n {
                        XCTAssertEqual(y.start[i], min(30, max(-20, x.start[i] * s.start[i * step] + b.start[i * step])))
                        XCTAssertEqual(z.start[i], x.start[i] < 0 ? s.start[i * step] * x.start[i] : x.start[i])
                    }
                }
            }
        }
    }
}
