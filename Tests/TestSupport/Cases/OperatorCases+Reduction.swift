import NTGraph
import NTTensor

extension OperatorCases {
    package static let pool: [OperatorCase] = {
        var cases: [OperatorCase] = []
        func add(
            _ shape: Shape, kernel: Size2D, stride: Int = 1, dilation: Int = 1, pad: Padding2D = .zero,
            rounding: Pool.Rounding = .floor
        ) {
            for (function, counts) in [(Pool.Function.maximum, false), (.average, false), (.average, true), (.l2, false)] {
                let op = Pool(
                    function, kernel: kernel, strides: Size2D(stride, stride), dilations: Size2D(dilation, dilation), padding: pad,
                    rounding: rounding, countsPadding: counts)
                cases.append(
                    OperatorCase(
                        "\(function)\(counts ? " counting padding" : "") \(shape) k\(kernel) s\(stride) d\(dilation) p\(pad) \(rounding)", op,
                        [.input(shape)], tolerance: function == .maximum ? .exact : .float32))
            }
        }
        func all(_ amount: Int) -> Padding2D { Padding2D(top: amount, left: amount, bottom: amount, right: amount) }
        add([1, 1, 1, 1], kernel: .one)
        add([1, 3, 4, 4], kernel: Size2D(2, 2), stride: 2)
        add([1, 17, 5, 7], kernel: Size2D(2, 2), stride: 2)
        add([2, 16, 9, 8], kernel: Size2D(3, 3), stride: 2, pad: all(1))
        add([1, 33, 6, 6], kernel: Size2D(3, 3), pad: all(1))
        add([1, 8, 7, 7], kernel: Size2D(3, 3), stride: 2, pad: Padding2D(bottom: 1, right: 1))
        add([1, 8, 13, 13], kernel: Size2D(3, 3), stride: 2, rounding: .ceilIncludingLastPixel)
        add([1, 8, 12, 14], kernel: Size2D(3, 3), stride: 2, rounding: .ceilIncludingLastPixel)
        add([1, 5, 12, 10], kernel: Size2D(3, 3), stride: 2, pad: all(1), rounding: .ceilIncludingLastPixel)
        add([1, 4, 5, 5], kernel: Size2D(2, 2), stride: 3, pad: all(1), rounding: .ceilIncludingLastPixel)
        add([1, 3, 2, 2], kernel: Size2D(3, 3), stride: 2, rounding: .ceilIncludingLastPixel)
        add([1, 24, 7, 7], kernel: Size2D(7, 7))
        add([1, 6, 3, 9], kernel: Size2D(1, 3), stride: 1)
        add([1, 6, 9, 3], kernel: Size2D(4, 2), stride: 2, pad: Padding2D(top: 2, left: 1))
        add([1, 4, 9, 9], kernel: Size2D(2, 2), dilation: 3)
        add([1, 2, 2, 2], kernel: Size2D(2, 2), pad: all(2))
        add([1, 9, 11, 11], kernel: Size2D(5, 5), stride: 3, pad: all(2))
        cases.append(
            OperatorCase(
                "maximum with NaN", Pool(.maximum, kernel: Size2D(2, 2)), [.input([1, 2, 5, 5], .values([1, .nan, -3, 2, 0, 5, -7, 4, 3, -1, 2]))]))
        return cases
    }()

    package static let reduce: [OperatorCase] = {
        var cases: [OperatorCase] = []
        let shapes: [(Shape, [Int])] = [
            ([1, 5, 3, 4], [2, 3]), ([1, 5, 3, 4], [1]), ([1, 5, 3, 4], []), ([2, 17, 7, 7], [-2, -1]), ([6], [0]), ([2, 3, 4], [0, 2]),
            ([2, 3, 4], [1]), ([3, 9], [-1]), ([1, 4, 1, 1], [2, 3]), ([2, 3, 4, 5], [0, 1, 2, 3]), ([], []),
        ]
        for function in Reduce.Function.allCases {
            let fill: Fill
            switch function {
            case .product: fill = .values([1, -1, 2, 0.5, -0.5, 1, 2, -1, 1, 0.5, 1])
            case .logSum, .sumLog: fill = .uniform(0.5...3)
            case .logSumExp: fill = .unit
            default: fill = .small
            }
            let exact = [.sum, .product, .maximum, .minimum, .l1, .sumSquare].contains(function)
            for (shape, axes) in shapes {
                for keeps in [true, false] {
                    cases.append(
                        OperatorCase(
                            "\(function) \(shape) axes \(axes)\(keeps ? "" : " dropped")",
                            Reduce(function, axes: axes, keepsDimensions: keeps, epsilon: 0.01), [.input(shape, fill)],
                            tolerance: exact ? .exact : Tolerance(relative: 4e-6, absolute: 4e-6)))
                }
            }
        }
        cases.append(
            OperatorCase(
                "logSumExp of large values", Reduce(.logSumExp, axes: [1]), [.input([3, 8], .uniform(300...400))], tolerance: .float32))
        for function in [Reduce.Function.maximum, .minimum, .sum, .mean] {
            cases.append(
                OperatorCase("\(function) with NaN", Reduce(function, axes: [1]), [.input([3, 4], .values([1, 2, 3, 4, 5, .nan, 7, 8, 0]))]))
        }
        let args: [(Shape, Int)] = [([7], 0), ([1, 10], 1), ([2, 5, 3, 3], 1), ([2, 5, 3], -1), ([3, 4], 0), ([1, 1], 1), ([1000], 0)]
        for (shape, axis) in args {
            for isMinimum in [false, true] {
                for keeps in [false, true] {
                    cases.append(
                        OperatorCase(
                            "\(isMinimum ? "minimum" : "maximum") \(shape) axis \(axis)\(keeps ? "" : " dropped")",
                            ArgReduce(isMinimum: isMinimum, axis: axis, keepsDimension: keeps), [.input(shape)]))
                }
            }
            let extent = shape[axis < 0 ? axis + shape.rank : axis]
            for k in Set([1, min(3, extent), extent]).sorted() {
                cases.append(
                    OperatorCase("\(k) largest of \(shape) axis \(axis)", TopK(k: k, axis: axis), [.input(shape, .uniform(-9...9))]))
                cases.append(
                    OperatorCase("\(k) smallest of \(shape) axis \(axis) with equals", TopK(k: k, axis: axis, isSmallest: true), [.input(shape)]))
            }
        }
        return cases
    }()
}
