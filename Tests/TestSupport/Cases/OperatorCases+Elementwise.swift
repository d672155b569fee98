import NTGraph
import NTTensor

extension OperatorCases {
    /// Functions, and the range their arguments are taken from.
    private static let functions: [(UnaryFunction, ClosedRange<Float>)] = [
        (.identity, -3...3), (.relu, -3...3), (.clip(0, 6), -9...9), (.clip(-1.5, 0.5), -3...3), (.leakyReLU(0.01), -3...3),
        (.thresholdedReLU(0.5), -3...3), (.sigmoid, -10...10), (.hardSigmoid(0.2, 0.5), -5...5), (.hardSwish, -5...5),
        (.silu, -10...10), (.tanh, -6...6), (.scaledTanh(1.7, 0.66), -3...3), (.elu(0.7), -6...3), (.softsign, -9...9),
        (.softplus, -20...20), (.geluExact, -6...6), (.geluTanh, -6...6), (.geluSigmoid, -6...6), (.linear(-1.5, 0.25), -3...3),
        (.threshold(-0.5), -3...3), (.power(2), -3...3), (.power(0.5), 0.1...4), (.power(-1.5), 0.5...4), (.rsqrt(0.001), 0...9),
        (.inverse(0.5), 0.1...9), (.log(0.001), 0.1...20), (.sqrt, 0...9), (.square, -3...3), (.exp, -8...4), (.exp2, -8...4),
        (.abs, -3...3), (.negate, -3...3), (.sign, -3...3), (.ceil, -3...3), (.floor, -3...3), (.round, -3...3), (.sin, -3...3),
        (.cos, -3...3), (.tan, -1.2...1.2), (.asin, -0.9...0.9), (.acos, -0.9...0.9), (.atan, -3...3), (.sinh, -3...3),
        (.cosh, -3...3), (.asinh, -3...3), (.acosh, 1.1...5), (.atanh, -0.9...0.9), (.erf, -3...3), (.logicalNot, -1...1),
    ]

    package static let unary: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for (function, range) in functions {
            // cos, acosh and log cross zero at steep or inexact arguments: an absolute part as large as the argument's rounding.
            let tolerance = Tolerance(relative: 4e-6, absolute: 2e-6)
            cases.append(
                OperatorCase("\(function) 1x5x3x7", Unary(function), [.input([1, 5, 3, 7], .uniform(range))], tolerance: tolerance))
            cases.append(OperatorCase("\(function) scalar", Unary(function), [.input([], .uniform(range))], tolerance: tolerance))
        }
        for count in [1, 7, 8, 15, 16, 17, 31, 33, 64, 1001] {
            cases.append(OperatorCase("relu \(count)", Unary(.relu), [.input([count])]))
            cases.append(OperatorCase("sigmoid \(count)", Unary(.sigmoid), [.input([count], .unit)], tolerance: .float32))
        }
        let special: Fill = .values([.nan, -0.0, 0, 1e-30, -1e-30, 100, -100, 3, -3, 6, 1e-4, -1e-4, 88, -88, 20, -20])
        let total: [UnaryFunction] = [
            .relu, .clip(0, 6), .clip(-1, 1), .leakyReLU(0.1), .thresholdedReLU(1), .sigmoid, .hardSigmoid(0.2, 0.5), .hardSwish,
            .silu, .tanh, .scaledTanh(2, 0.5), .elu(1), .softsign, .softplus, .geluExact, .geluTanh, .geluSigmoid, .linear(2, 1),
            .threshold(0.5), .square, .abs, .negate, .sign, .ceil, .floor, .round, .atan, .erf,
        ]
        for function in total {
            cases.append(
                OperatorCase(
                    "\(function) NaN, zeros and large arguments", Unary(function), [.input([33], special)],
                    tolerance: Tolerance(relative: 4e-6, absolute: 1e-6)))
        }
        let infinities: Fill = .values([.infinity, -.infinity, .nan, 1])
        for function in [UnaryFunction.relu, .clip(0, 6), .leakyReLU(0.1), .sigmoid, .tanh, .threshold(0), .exp, .abs, .hardSigmoid(0.2, 0.5)] {
            cases.append(
                OperatorCase("\(function) infinities", Unary(function), [.input([19], infinities)], tolerance: .float32))
        }
        cases.append(
            OperatorCase(
                "round ties", Unary(.round), [.input([10], .values([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, 8_388_609]))]))
        return cases
    }()

    package static let binary: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for function in BinaryFunction.allCases {
            let right: Fill
            let left: Fill
            switch function {
            case .divide, .floorDivide, .modulo: (left, right) = (.integers(-9...9), .values([1, -2, 3, 4, -5, 0.5, 7]))
            case .power: (left, right) = (.uniform(0.5...3), .uniform(-2...2))
            case .logicalAnd, .logicalOr, .logicalXor: (left, right) = (.integers(-1...1), .integers(-1...1))
            default: (left, right) = (.small, .small)
            }
            let tolerance = function == .power || function == .divide ? Tolerance(relative: 4e-6, absolute: 0) : .exact
            for (a, b) in [([2, 3, 4, 5], [2, 3, 4, 5]), ([1, 5, 3, 3], [5, 1, 1]), ([2, 4, 3], [])] as [(Shape, Shape)] {
                cases.append(
                    OperatorCase(
                        "\(function) \(a), \(b)", Binary(function), [.input(a, left), .input(b, right)], tolerance: tolerance))
            }
        }
        let shapes: [(Shape, Shape)] = [
            ([], []), ([1], [7]), ([7], [1]), ([], [3, 5]), ([3, 1], [1, 5]), ([1, 17, 5, 7], [1, 17, 1, 1]), ([1, 1, 5, 7], [1, 6, 5, 7]),
            ([1, 6, 1, 7], [1, 6, 5, 1]), ([2, 6, 4, 4], [6, 1, 1]), ([6, 1, 1], [2, 6, 4, 4]), ([2, 3, 4], [4]), ([2, 3, 4], [3, 1]),
            ([2, 1, 4, 1, 3], [5, 1, 2, 3]), ([1, 33, 1, 1], [1, 33, 9, 9]), ([1, 16, 7, 7], [1, 16, 7, 7]), ([1000], [1000]),
            ([1, 3, 9, 9], [1, 1, 9, 9]), ([2, 5, 3, 3], [1, 5, 3, 3]),
        ]
        for (a, b) in shapes {
            for function in [BinaryFunction.add, .subtract, .multiply, .maximum] {
                cases.append(OperatorCase("\(function) \(a) with \(b)", Binary(function), [.input(a), .input(b)]))
            }
            cases.append(
                OperatorCase("add \(a) with \(b) relu", Binary(.add, activation: .relu), [.input(a), .input(b)]))
        }
        for function in [BinaryFunction.add, .subtract, .multiply, .power, .divide] {
            let exponent: Fill = .values([2, 1, 3, 0, 2])
            let right: Fill = function == .power ? exponent : function == .divide ? .values([1, 2, 4, 0.5, 8]) : .small
            let tolerance = function == .power ? Tolerance(relative: 4e-6, absolute: 0) : .exact
            cases.append(
                OperatorCase(
                    "\(function) constant right", Binary(function), [.input([1, 5, 4, 3], .integers(1...4)), .constant([5, 1, 1], right)],
                    tolerance: tolerance))
            cases.append(
                OperatorCase(
                    "\(function) constant left", Binary(function), [.constant([1, 5, 1, 1], .values([1, 2, 4])), .input([1, 5, 4, 3], right)],
                    tolerance: tolerance))
        }
        for activation in [UnaryFunction.clip(0, 6), .sigmoid, .silu, .hardSwish, .leakyReLU(0.5), .tanh] {
            cases.append(
                OperatorCase(
                    "add then \(activation)", Binary(.add, activation: activation), [.input([1, 9, 5, 5]), .input([1, 9, 5, 5])],
                    tolerance: .float32))
        }
        let special: Fill = .values([.nan, 1, -1, 0, -0.0, 2])
        for function in [BinaryFunction.add, .maximum, .minimum, .equal, .notEqual, .less, .greaterEqual] {
            cases.append(
                OperatorCase(
                    "\(function) with NaN", Binary(function), [.input([36], special), .input([36], .values([1, .nan, 0, 2, -1]))]))
        }
        return cases
    }()

    /// Select, ChannelAffine, PReLU.
    package static let elementwise: [OperatorCase] = {
        var cases: [OperatorCase] = [
            OperatorCase("same shapes", Select(), [.input([2, 3, 4], .integers(-1...1)), .input([2, 3, 4]), .input([2, 3, 4])]),
            OperatorCase("broadcast", Select(), [.input([3, 1], .integers(0...1)), .input([2, 3, 4]), .input([4])]),
            OperatorCase("scalars", Select(), [.input([5], .integers(0...1)), .constant([], .values([1])), .constant([], .values([-1]))]),
            OperatorCase("condition larger", Select(), [.input([2, 3, 4], .integers(0...1)), .input([]), .input([4])]),
            OperatorCase("NaN is true", Select(), [.input([4], .values([.nan, 0, -0.0, 1])), .input([4]), .input([4])]),
        ]
        let shapes: [(Shape, Int)] = [
            ([1, 1, 1, 1], 1), ([1, 3, 5, 7], 1), ([1, 17, 4, 4], 1), ([2, 16, 3, 3], -3), ([1, 33, 1, 1], 1), ([4, 5], 1), ([4, 5], 0),
            ([2, 3, 9], -1), ([6], 0), ([2, 3, 4, 5], 3), ([2, 3, 4, 5], 2), ([2, 3, 4, 5, 2], 2),
        ]
        for (shape, axis) in shapes {
            let channels = Shape([shape[axis < 0 ? axis + shape.rank : axis]])
            cases.append(
                OperatorCase("\(shape) axis \(axis)", ChannelAffine(axis: axis), [.input(shape), .constant(channels), .constant(channels)]))
            cases.append(OperatorCase("\(shape) axis \(axis)", PReLU(axis: axis), [.input(shape), .constant(channels, .values([0.25, -2, 0]))]))
        }
        cases.append(
            OperatorCase(
                "relu", ChannelAffine(activation: .relu), [.input([1, 9, 5, 5]), .constant([9]), .constant([9])]))
        cases.append(
            OperatorCase(
                "sigmoid", ChannelAffine(activation: .sigmoid), [.input([1, 9, 5, 5]), .constant([9], .unit), .constant([9])],
                tolerance: .float32))
        cases.append(OperatorCase("variable scale", ChannelAffine(), [.input([1, 9, 5, 5]), .input([9]), .input([9])]))
        cases.append(OperatorCase("variable slope", PReLU(), [.input([1, 9, 5, 5]), .input([9])]))
        return cases
    }()
}
