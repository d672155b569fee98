import NTGraph
import NTTensor
import TestSupport
import XCTest

/// Networks as converters write them, small: what is left after the passes is what their authors drew.
final class NetworkPassTests: PassTestCase {
    private static let tolerance = Tolerance(relative: 1e-4, absolute: 1e-5)

    /// Weights that keep the size of values from layer to layer.
    private func convolution(
        _ b: inout CaseBuilder, _ x: ValueID, outputs: Int, kernel: Int, stride: Int = 1, isPadded: Bool = true, depthwise: Bool = false
    ) throws -> ValueID {
        let channels = b.shape(x)[1]
        let limit = (3 / Float(kernel * kernel * (depthwise ? 1 : channels))).squareRoot()
        let pad = isPadded ? kernel / 2 : 0
        return try b.convolution(
            x, outputs: outputs, kernel: Size2D(kernel, kernel), strides: Size2D(stride, stride),
            padding: Padding2D(top: pad, left: pad, bottom: pad, right: pad), groups: depthwise ? channels : 1, bias: false,
            fill: .uniform(-limit...limit))
    }

    private func batchNormalization(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let channels = b.shape(x)[1]
        return try b.add(ChannelAffine(axis: 1), x, b.constant([channels], .uniform(0.5...1.5)), b.constant([channels], .uniform(-0.5...0.5)))
    }

    /// Keras' converter: ReLU, negation, threshold, negation.
    private func relu6(_ b: inout CaseBuilder, _ x: ValueID) throws -> ValueID {
        let negative = try b.add(Unary(.linear(-1, 0)), b.add(Unary(.relu), x))
        return try b.add(Unary(.linear(-1, 0)), b.add(Unary(.threshold(-6)), negative))
    }

    func testMobileNetIsItsConvolutions() throws {
        let graph = try optimize(tolerance: Self.tolerance) { b in
            var x = try b.add(Unary(.linear(2 / 255, -1)), b.input([1, 3, 32, 32], .uniform(0...255)))
            x = try b.add(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 1, 1]), x)
            x = try relu6(&b, batchNormalization(&b, convolution(&b, x, outputs: 8, kernel: 3, stride: 2, isPadded: false)))
            for (outputs, stride) in [(16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (48, 2)] {
                if stride == 2 { x = try b.add(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 1, 1]), x) }
                let depthwise = try convolution(
                    &b, x, outputs: b.shape(x)[1], kernel: 3, stride: stride, isPadded: stride == 1, depthwise: true)
                x = try relu6(&b, batchNormalization(&b, depthwise))
                x = try relu6(&b, batchNormalization(&b, convolution(&b, x, outputs: outputs, kernel: 1)))
            }
            let shape = b.shape(x)
            x = try b.add(Pool(.average, kernel: Size2D(shape[2], shape[3])), x)
            x = try b.add(Reshape([1, 48, 1, 1]), x)
            x = try convolution(&b, x, outputs: 10, kernel: 1)
            x = try b.add(Binary(.add), x, b.constant([10, 1, 1], .unit))
            x = try b.add(Reshape([1, 10]), b.add(Reshape([10]), x))
            try b.output(try b.add(Softmax(axis: 1), x))
        }
        // The bias of the preprocessing stays before the padded stem; its scale and bias are one node.
        XCTAssertEqual(
            graph.kinds, ["Unary"] + [String](repeating: "Convolution", count: 13) + ["Reduce", "Convolution", "Reshape", "Softmax"],
            graph.dump())
        XCTAssertEqual(graph.operators(Convolution.self).dropLast().map(\.activation), [UnaryFunction](repeating: .clip(0, 6), count: 13))
        XCTAssertTrue(graph.operators(Convolution.self).allSatisfy(\.hasBias))
    }

    func testResNetIsItsConvolutions() throws {
        let graph = try optimize(tolerance: Self.tolerance) { b in
            let x = try b.input([1, 3, 24, 24], .unit)
            let stem = try b.add(Unary(.relu), batchNormalization(&b, convolution(&b, x, outputs: 8, kernel: 7, stride: 2)))
            let padded = try b.add(Pad(.constant(0), before: [0, 0, 1, 1], after: [0, 0, 1, 1]), stem)
            var y = try b.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2)), padded)
            for (outputs, stride) in [(16, 1), (16, 1), (32, 2), (32, 1)] {
                let start = y
                y = try b.add(Unary(.relu), batchNormalization(&b, convolution(&b, y, outputs: outputs / 4, kernel: 1, stride: stride)))
                y = try b.add(Unary(.relu), batchNormalization(&b, convolution(&b, y, outputs: outputs / 4, kernel: 3)))
                y = try batchNormalization(&b, convolution(&b, y, outputs: outputs, kernel: 1))
                let shortcut =
                    b.shape(start) == b.shape(y)
                    ? start : try batchNormalization(&b, convolution(&b, start, outputs: outputs, kernel: 1, stride: stride))
                y = try b.add(Unary(.relu), b.add(Binary(.add), y, shortcut))
            }
            let mean = try b.add(Reduce(.mean, axes: [2, 3], keepsDimensions: false), y)
            let logits = try b.add(MatMul(), mean, b.constant([32, 10], .uniform(-0.5...0.5)))
            try b.output(try b.add(Softmax(axis: 1), b.add(Binary(.add), logits, b.constant([10], .unit))))
        }
        let convolutions = graph.operators(Convolution.self)
        XCTAssertEqual(convolutions.count, 1 + 4 * 3 + 2)
        XCTAssertEqual(convolutions.filter(\.hasResidual).count, 4)
        XCTAssertTrue(convolutions.filter(\.hasResidual).allSatisfy { $0.activation == .relu })
        XCTAssertEqual(
            graph.kinds.filter { $0 != "Convolution" }, ["Pool", "Reduce", "Reshape", "Dense", "Softmax"], graph.dump())
        XCTAssertEqual(graph.operators(Pool.self).first?.padding, Padding2D(top: 1, left: 1, bottom: 1, right: 1))
    }

    /// MobileNetV3's block: hard swish written out, squeeze and excite with a hard sigmoid, a residual sum.
    func testAnInvertedResidualWithSqueezeAndExcite() throws {
        let graph = try optimize(tolerance: Self.tolerance) { b in
            func hardSigmoid(_ x: ValueID) throws -> ValueID {
                let clipped = try relu6(&b, b.add(Binary(.add), x, b.scalar(3)))
                return try b.add(Binary(.multiply), clipped, b.scalar(1.0 / 6))
            }
            let x = try b.input([1, 8, 7, 7], .unit)
            var y = try batchNormalization(&b, convolution(&b, x, outputs: 24, kernel: 1))
            y = try b.add(Binary(.multiply), y, hardSigmoid(y))
            y = try batchNormalization(&b, convolution(&b, y, outputs: 24, kernel: 5, depthwise: true))
            y = try b.add(Binary(.multiply), hardSigmoid(y), y)
            let mean = try b.add(Pool(.average, kernel: Size2D(7, 7)), y)
            let squeezed = try b.add(Unary(.relu), convolution(&b, mean, outputs: 6, kernel: 1))
            let gate = try hardSigmoid(convolution(&b, squeezed, outputs: 24, kernel: 1))
            let excited = try b.add(Binary(.multiply), y, gate)
            try b.output(try b.add(Binary(.add), x, batchNormalization(&b, convolution(&b, excited, outputs: 8, kernel: 1))))
        }
        XCTAssertEqual(
            graph.kinds, ["Convolution", "Convolution", "Reduce", "Convolution", "Convolution", "Binary", "Convolution"], graph.dump())
        XCTAssertEqual(
            graph.operators(Convolution.self).map(\.activation),
            [.hardSwish, .hardSwish, .relu, .hardSigmoid(Float(1.0 / 6), 0.5), .identity])
        XCTAssertEqual(graph.operators(Convolution.self).last?.hasResidual, true)
    }

    /// EfficientNet's activation and squeeze and excite.
    func testSwishAndSigmoidGates() throws {
        let graph = try optimize(tolerance: Self.tolerance) { b in
            let x = try b.input([1, 8, 6, 6], .unit)
            var y = try batchNormalization(&b, convolution(&b, x, outputs: 16, kernel: 3))
            y = try b.add(Binary(.multiply), y, b.add(Unary(.sigmoid), y))
            let mean = try b.add(Reduce(.mean, axes: [-2, -1]), y)
            let gate = try b.add(Unary(.sigmoid), convolution(&b, mean, outputs: 16, kernel: 1))
            try b.output(try b.add(Binary(.multiply), gate, y))
        }
        XCTAssertEqual(graph.kinds, ["Convolution", "Reduce", "Convolution", "Binary"], graph.dump())
        XCTAssertEqual(graph.operators(Convolution.self).map(\.activation), [.silu, .sigmoid])
    }

    /// DenseNet: normalisation before the convolution, of a value that is read again.
    func testNormalizationBeforeConvolution() throws {
        let graph = try optimize(tolerance: Self.tolerance) { b in
            let x = try b.input([1, 8, 6, 6], .unit)
            let normal = try b.add(Unary(.relu), batchNormalization(&b, x))
            let grown = try convolution(&b, normal, outputs: 4, kernel: 3)
            try b.output(try b.add(Concat(axis: 1), x, grown))
        }
        XCTAssertEqual(graph.kinds, ["ChannelAffine", "Convolution", "Concat"])
        XCTAssertEqual(graph.operators(ChannelAffine.self), [ChannelAffine(axis: 1, activation: .relu)])
    }
}
