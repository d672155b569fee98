import NTGraph
import NTTensor

extension OperatorCases {
    package static let dense: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for (k, o) in [(1, 1), (3, 2), (7, 16), (16, 7), (17, 33), (64, 10), (100, 65), (257, 31), (1024, 20)] {
            cases.append(
                OperatorCase("1x\(k) -> \(o)", Dense(hasBias: true), [.input([1, k]), .constant([o, k]), .constant([o])]))
            cases.append(OperatorCase("\(k) -> \(o) without bias", Dense(), [.input([k]), .constant([o, k])]))
        }
        for rows in [2, 5, 16, 33] {
            cases.append(
                OperatorCase(
                    "\(rows)x19 -> 21", Dense(hasBias: true, activation: .relu),
                    [.input([rows, 19]), .constant([21, 19]), .constant([21])]))
        }
        cases.append(OperatorCase("2x3x9 -> 8", Dense(hasBias: true), [.input([2, 3, 9]), .constant([8, 9]), .constant([8])]))
        cases.append(OperatorCase("1x4x1x5 -> 6", Dense(), [.input([1, 4, 1, 5]), .constant([6, 5])]))
        cases.append(
            OperatorCase("variable weights", Dense(hasBias: true), [.input([3, 12]), .input([5, 12]), .input([5])]))
        for activation in [UnaryFunction.sigmoid, .tanh, .clip(-1, 2), .hardSwish, .silu, .leakyReLU(0.1)] {
            cases.append(
                OperatorCase(
                    "1x24 -> 18 \(activation)", Dense(hasBias: true, activation: activation),
                    [.input([1, 24], .unit), .constant([18, 24], .uniform(-0.5...0.5)), .constant([18], .unit)],
                    tolerance: Tolerance(relative: 4e-6, absolute: 4e-6)))
        }
        return cases
    }()

    package static let matMul: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for (m, k, n) in [(1, 1, 1), (2, 3, 4), (5, 7, 9), (16, 16, 16), (17, 33, 19), (1, 40, 21), (21, 40, 1)] {
            for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
                cases.append(
                    OperatorCase(
                        "\(m)x\(k) * \(k)x\(n)\(a ? " A'" : "")\(b ? " B'" : "")", MatMul(transposeA: a, transposeB: b),
                        [.input(a ? [k, m] : [m, k]), .input(b ? [n, k] : [k, n])]))
            }
        }
        cases.append(OperatorCase("batches", MatMul(), [.input([2, 3, 4, 5]), .input([2, 3, 5, 6])]))
        cases.append(OperatorCase("broadcast batches", MatMul(), [.input([2, 1, 4, 5]), .input([3, 5, 6])]))
        cases.append(OperatorCase("one matrix for all", MatMul(transposeB: true), [.input([3, 4, 5]), .input([6, 5])]))
        cases.append(OperatorCase("constant right", MatMul(), [.input([3, 4, 5]), .constant([5, 6])]))
        cases.append(OperatorCase("constant right transposed", MatMul(transposeB: true), [.input([4, 5]), .constant([6, 5])]))
        cases.append(OperatorCase("constant left", MatMul(), [.constant([4, 5]), .input([2, 5, 6])]))
        cases.append(OperatorCase("constant batches", MatMul(), [.input([2, 4, 5]), .constant([2, 5, 3])]))
        return cases
    }()
}
