import NTGraph
import NTTensor
import TestSupport
import XCTest

/// ConstantOperands, ClampMerging, ActivationRecognition, AffineMerging.
final class AlgebraPassTests: PassTestCase {
    private func binary(
        _ function: BinaryFunction, _ number: Float, isLeft: Bool = false, activation: UnaryFunction = .identity, _ fill: Fill = .small
    ) throws -> Graph {
        try apply(ConstantOperands(), tolerance: .float32) { b in
            let (x, c) = (try b.input([2, 3, 4], fill), try b.scalar(number))
            let op = Binary(function, activation: activation)
            try b.output(isLeft ? try b.add(op, c, x) : try b.add(op, x, c))
        }
    }

    func testArithmeticWithANumberIsAFunction() throws {
        let cases: [(BinaryFunction, Float, Bool, UnaryFunction)] = [
            (.add, 3, false, .linear(1, 3)), (.add, 3, true, .linear(1, 3)), (.subtract, 3, false, .linear(1, -3)),
            (.subtract, 3, true, .linear(-1, 3)), (.multiply, -2, false, .linear(-2, 0)), (.divide, 4, false, .linear(0.25, 0)),
            (.divide, 1, true, .inverse(0)), (.maximum, 1, false, .threshold(1)), (.minimum, 1, true, .clip(-.infinity, 1)),
            (.power, 2, false, .power(2)),
        ]
        for (function, number, isLeft, expected) in cases {
            XCTAssertEqual(try binary(function, number, isLeft: isLeft).operators(Unary.self), [Unary(expected)], "\(function)")
        }
    }

    func testSomeArithmeticStays() throws {
        XCTAssertEqual(try binary(.divide, 0, .integers(1...4)).kinds, ["Binary"])
        XCTAssertEqual(try binary(.divide, .leastNormalMagnitude / 16).kinds, ["Binary"], "the inverse overflows")
        XCTAssertEqual(try binary(.divide, 2, isLeft: true, .integers(1...4)).kinds, ["Binary"])
        XCTAssertEqual(try binary(.power, 2, isLeft: true).kinds, ["Binary"])
        XCTAssertEqual(try binary(.maximum, .nan).kinds, ["Binary"])
        XCTAssertEqual(try binary(.less, 1).kinds, ["Binary"])
        XCTAssertEqual(try binary(.add, 1, activation: .relu).kinds, ["Binary"])
    }

    func testArithmeticPerChannelIsAffine() throws {
        for (shape, axis) in [([5, 1, 1], 1), ([1, 5, 1, 1], 1), ([4], 3), ([3, 1], 2)] as [(Shape, Int)] {
            for function in [BinaryFunction.add, .subtract, .multiply, .divide] {
                for isLeft in [false, true] where function != .divide || !isLeft {
                    let graph = try apply(ConstantOperands(), tolerance: .float32) { b in
                        let (x, c) = (try b.input([2, 5, 3, 4]), try b.constant(shape, .integers(1...4)))
                        try b.output(isLeft ? try b.add(Binary(function), c, x) : try b.add(Binary(function), x, c))
                    }
                    XCTAssertEqual(graph.operators(ChannelAffine.self), [ChannelAffine(axis: axis)], "\(function) \(shape)")
                }
            }
        }
    }

    func testOtherConstantsStay() throws {
        for (x, c) in [([2, 5, 3, 4], [2, 5, 1, 1]), ([5, 1, 1], [1, 5, 3, 3]), ([2, 5, 3, 4], [5, 3, 4])] as [(Shape, Shape)] {
            let graph = try apply(ConstantOperands()) { b in try b.output(try b.add(Binary(.add), b.input(x), b.constant(c))) }
            XCTAssertEqual(graph.kinds, ["Binary"], "\(x) \(c)")
        }
        let variable = try apply(ConstantOperands()) { b in try b.output(try b.add(Binary(.add), b.input([2, 5]), b.input([5]))) }
        XCTAssertEqual(variable.kinds, ["Binary"])
    }

    func testAUniformAffineIsALinearFunction() throws {
        let graph = try apply(ConstantOperands()) { b in
            try b.output(try b.add(ChannelAffine(), b.input([1, 3, 2, 2]), b.constant([3], .values([2])), b.constant([3], .values([1]))))
        }
        XCTAssertEqual(graph.operators(Unary.self), [Unary(.linear(2, 1))])
    }

    func testAProductWithAConstantMatrixIsDense() throws {
        for transposed in [false, true] {
            let graph = try optimize { b in
                let x = try b.input([2, 3, 5])
                let product = try b.add(MatMul(transposeB: transposed), x, b.constant(transposed ? [4, 5] : [5, 4]))
                try b.output(try b.add(Unary(.relu), try b.add(Binary(.add), product, b.constant([4]))))
            }
            XCTAssertEqual(graph.operators(Dense.self), [Dense(hasBias: true, activation: .relu)])
            XCTAssertEqual(graph.kinds, ["Dense"])
        }
        let others: [(MatMul, Shape, Shape, Bool)] = [
            (MatMul(transposeA: true), [5, 3], [5, 4], true), (MatMul(), [2, 3, 5], [2, 5, 4], true), (MatMul(), [3, 5], [5, 4], false),
        ]
        for (op, a, b, isConstant) in others {
            let graph = try apply(ConstantOperands()) { builder in
                let x = try builder.input(a)
                try builder.output(try builder.add(op, x, isConstant ? builder.constant(b) : builder.input(b)))
            }
            XCTAssertEqual(graph.kinds, ["MatMul"])
        }
    }

    /// NaN and both sides of every bound.
    private let clampFill = Fill.values([.nan, -7, -6, -1, -0.5, 0, 0.5, 1, 3, 6, 7, .infinity, -.infinity])

    private func chain(_ functions: [UnaryFunction]) throws -> [Unary] {
        try apply(ClampMerging(), IdentityElimination()) { b in
            var x = try b.input([26], clampFill)
            for function in functions { x = try b.add(Unary(function), x) }
            try b.output(x)
        }.operators(Unary.self)
    }

    func testClampsMerge() throws {
        XCTAssertEqual(try chain([.relu, .clip(-.infinity, 6)]), [Unary(.clip(0, 6))])
        XCTAssertEqual(try chain([.clip(-1, 9), .clip(0, 6)]), [Unary(.clip(0, 6))])
        XCTAssertEqual(try chain([.clip(1, 3), .clip(-1, 0)]), [Unary(.clip(0, 0))])
        XCTAssertEqual(try chain([.relu, .relu, .threshold(1)]), [Unary(.threshold(1))])
        XCTAssertEqual(try chain([.threshold(0)]), [Unary(.relu)])
        XCTAssertEqual(try chain([.clip(0, .infinity)]), [Unary(.relu)])
        XCTAssertEqual(try chain([.clip(3, 1), .clip(0, 2)]), [Unary(.clip(2, 2))])
        XCTAssertEqual(try chain([.clip(0, 2), .clip(5, 4)]), [Unary(.clip(5, 5))])
    }

    func testReLU6AsFourLayersIsAClip() throws {
        XCTAssertEqual(try chain([.relu, .linear(-1, 0), .threshold(-6), .linear(-1, 0)]), [Unary(.clip(0, 6))])
        XCTAssertEqual(try chain([.negate, .threshold(-6), .negate]), [Unary(.clip(-.infinity, 6))])
        XCTAssertEqual(try chain([.linear(-1, 0), .relu, .linear(-1, 0)]), [Unary(.clip(-.infinity, -0.0))])
    }

    func testWhatIsNoClampStays() throws {
        XCTAssertEqual(try chain([.relu, .linear(-1, 0), .threshold(-6), .linear(-2, 0)]).count, 4)
        XCTAssertEqual(try chain([.relu, .linear(-1, 1), .threshold(-6), .linear(-1, 0)]).count, 4)
        XCTAssertEqual(try chain([.leakyReLU(0.1), .relu]).count, 2)
        XCTAssertEqual(try chain([.relu, .abs]).count, 2)
    }

    func testClampsThatOthersReadStay() throws {
        let graph = try apply(ClampMerging()) { b in
            let relu = try b.add(Unary(.relu), b.input([26], clampFill))
            try b.output(try b.add(Unary(.clip(-1, 6)), relu))
            try b.output(try b.add(Unary(.exp), relu))
        }
        XCTAssertEqual(graph.kinds.count, 3)
        let output = try apply(ClampMerging()) { b in
            let relu = try b.add(Unary(.relu), b.input([26], clampFill))
            try b.output(relu)
            try b.output(try b.add(Unary(.clip(-1, 6)), relu))
        }
        XCTAssertEqual(output.operators(Unary.self), [Unary(.relu), Unary(.clip(-1, 6))])
    }

    private func recognize(_ body: (inout CaseBuilder, ValueID) throws -> ValueID) throws -> [String] {
        let graph = try apply(ConstantOperands(), ClampMerging(), ActivationRecognition(), tolerance: .float32) { b in
            let x = try b.input([33], .uniform(-8...8))
            try b.output(try body(&b, x))
        }
        return graph.nodes.map { ($0.op as? Unary)?.function.description ?? $0.op.kind }
    }

    func testSiLU() throws {
        XCTAssertEqual(try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.sigmoid), x)) }, ["silu"])
        XCTAssertEqual(try recognize { b, x in try b.add(Binary(.multiply), b.add(Unary(.sigmoid), x), x) }, ["silu"])
        XCTAssertEqual(try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.tanh), x)) }, ["tanh", "Binary"])
        XCTAssertEqual(
            try recognize { b, x in
                let gate = try b.add(Unary(.sigmoid), x)
                try b.output(gate)
                return try b.add(Binary(.multiply), x, gate)
            }, ["sigmoid", "Binary"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), b.input([33]), b.add(Unary(.sigmoid), x)) }, ["sigmoid", "Binary"])
        XCTAssertEqual(
            try recognize { b, x in
                let gate = try b.add(Unary(.sigmoid), x)
                return try b.add(Binary(.multiply), gate, gate)
            }, ["sigmoid", "Binary"])
    }

    func testGELU() throws {
        let erf: (inout CaseBuilder, ValueID) throws -> ValueID = { b, x in
            try b.add(Unary(.erf), b.add(Binary(.divide), x, b.scalar(Float(2.0.squareRoot()))))
        }
        XCTAssertEqual(
            try recognize { b, x in
                let sum = try b.add(Binary(.add), erf(&b, x), b.scalar(1))
                return try b.add(Binary(.multiply), b.add(Binary(.multiply), x, sum), b.scalar(0.5))
            }, ["geluExact"])
        XCTAssertEqual(
            try recognize { b, x in
                let sum = try b.add(Binary(.add), erf(&b, x), b.scalar(1))
                return try b.add(Binary(.multiply), b.add(Binary(.multiply), x, b.scalar(0.5)), sum)
            }, ["geluExact"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.linear(0.5, 0.5)), erf(&b, x))) }, ["geluExact"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.sigmoid), b.add(Unary(.linear(1.702, 0)), x))) },
            ["geluSigmoid"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.sigmoid), b.add(Unary(.linear(1.6, 0)), x))) }.count, 3)
    }

    func testHardSigmoidAndHardSwish() throws {
        let clip: (inout CaseBuilder, ValueID) throws -> ValueID = { b, x in
            try b.add(Unary(.clip(0, 6)), b.add(Binary(.add), x, b.scalar(3)))
        }
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.divide), clip(&b, x), b.scalar(6)) }, ["hardSigmoid(0.16666667, 0.5)"])
        XCTAssertEqual(try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.hardSigmoid(1.0 / 6, 0.5)), x)) }, ["hardSwish"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Binary(.divide), clip(&b, x), b.scalar(6))) }, ["hardSwish"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.divide), b.add(Binary(.multiply), x, clip(&b, x)), b.scalar(6)) }, ["hardSwish"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.multiply), x, b.add(Unary(.hardSigmoid(0.2, 0.5)), x)) },
            ["hardSigmoid(0.2, 0.5)", "Binary"])
        XCTAssertEqual(
            try recognize { b, x in try b.add(Binary(.divide), clip(&b, x), b.scalar(5)) }.count, 3, "the upper bound goes to 6/5")
    }

    /// The whole of MobileNetV3's activation after a convolution, ReLU6 as four layers.
    func testHardSwishJoinsAConvolution() throws {
        let graph = try optimize(tolerance: .float32) { b in
            let x = try b.convolution(b.input([1, 4, 5, 5]), outputs: 6, kernel: .one)
            let relu = try b.add(Unary(.relu), b.add(Binary(.add), x, b.scalar(3)))
            let capped = try b.add(Unary(.threshold(-6)), b.add(Unary(.linear(-1, 0)), relu))
            let gate = try b.add(Binary(.multiply), b.add(Unary(.linear(-1, 0)), capped), b.scalar(1.0 / 6))
            try b.output(try b.add(Binary(.multiply), x, gate))
        }
        XCTAssertEqual(graph.operators(Convolution.self).map(\.activation), [.hardSwish])
        XCTAssertEqual(graph.kinds, ["Convolution"])
    }

    func testAffinesMerge() throws {
        let tolerance = Tolerance(relative: 1e-6, absolute: 1e-6)
        let scalars = try apply(AffineMerging()) { b in
            try b.output(try b.add(Unary(.linear(2, 1)), b.add(Unary(.linear(-3, 4)), b.input([2, 3]))))
        }
        XCTAssertEqual(scalars.operators(Unary.self), [Unary(.linear(-6, 9))])
        let graph = try apply(AffineMerging(), tolerance: tolerance) { b in
            var x = try b.add(Unary(.linear(0.5, 1)), b.input([1, 4, 3, 3], .unit))
            x = try b.add(ChannelAffine(axis: 1), x, b.constant([4], .unit), b.constant([4], .unit))
            x = try b.add(ChannelAffine(axis: -3), x, b.constant([4], .unit), b.constant([4], .unit))
            try b.output(try b.add(ChannelAffine(axis: 1, activation: .relu), x, b.constant([4], .unit), b.constant([4], .unit)))
        }
        XCTAssertEqual(graph.operators(ChannelAffine.self), [ChannelAffine(axis: 1, activation: .relu)])
        XCTAssertEqual(graph.kinds.count, 1)
    }

    func testOtherAffinesDoNotMerge() throws {
        let axes = try apply(AffineMerging()) { b in
            let x = try b.add(ChannelAffine(axis: 1), b.input([1, 4, 4, 3]), b.constant([4]), b.constant([4]))
            try b.output(try b.add(ChannelAffine(axis: 2), x, b.constant([4]), b.constant([4])))
        }
        XCTAssertEqual(axes.kinds.count, 2)
        let activation = try apply(AffineMerging()) { b in
            let x = try b.add(ChannelAffine(axis: 1, activation: .relu), b.input([1, 4, 4, 3]), b.constant([4]), b.constant([4]))
            try b.output(try b.add(Unary(.linear(2, 1)), x))
        }
        XCTAssertEqual(activation.kinds.count, 2)
        let shared = try apply(AffineMerging()) { b in
            let x = try b.add(Unary(.linear(2, 1)), b.input([4]))
            try b.output(try b.add(Unary(.linear(2, 1)), x))
            try b.output(try b.add(Unary(.relu), x))
        }
        XCTAssertEqual(shared.kinds.count, 3)
        let underflow = try apply(AffineMerging()) { b in
            try b.output(try b.add(Unary(.linear(1e-30, 0)), b.add(Unary(.linear(1e-30, 0)), b.input([4]))))
        }
        XCTAssertEqual(underflow.kinds.count, 2, "the product of the scales has no float32")
        let variable = try apply(AffineMerging()) { b in
            let x = try b.add(ChannelAffine(axis: 1), b.input([1, 4, 2, 2]), b.input([4]), b.constant([4]))
            try b.output(try b.add(Unary(.linear(2, 1)), x))
        }
        XCTAssertEqual(variable.kinds.count, 2)
    }
}
