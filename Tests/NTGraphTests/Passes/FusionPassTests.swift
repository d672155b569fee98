import NTGraph
import NTTensor
import TestSupport
import XCTest

/// AffineFolding, PaddingFolding, ActivationFusion, ResidualFusion, and the pipeline.
final class FusionPassTests: PassTestCase {
    private static let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
    private static let close = Tolerance(relative: 4e-6, absolute: 1e-5)

    private enum Layer: CaseIterable { case convolution, grouped, depthwise, transposed, groupedTransposed, dense }

    /// A layer of 6 input features with weights that are not all the same.
    private func add(_ layer: Layer, _ b: inout CaseBuilder, _ x: ValueID, bias: Bool) throws -> ValueID {
        let fill = Fill.uniform(-1...1)
        let transposed = ConvolutionTranspose(strides: Size2D(2, 1), groups: layer == .groupedTransposed ? 3 : 1, hasBias: bias)
        let (op, weights, outputs): (any NTGraph.Operator, Shape, Int)
        switch layer {
        case .convolution: (op, weights, outputs) = (Convolution(hasBias: bias), [4, 6, 3, 2], 4)
        case .grouped: (op, weights, outputs) = (Convolution(groups: 2, hasBias: bias), [8, 3, 2, 2], 8)
        case .depthwise: (op, weights, outputs) = (Convolution(groups: 6, hasBias: bias), [12, 1, 3, 3], 12)
        case .transposed: (op, weights, outputs) = (transposed, [6, 5, 2, 2], 5)
        case .groupedTransposed: (op, weights, outputs) = (transposed, [6, 4, 2, 2], 12)
        case .dense: (op, weights, outputs) = (Dense(hasBias: bias), [7, 6], 7)
        }
        var operands = [x, try b.constant(weights, fill)]
        if bias { operands.append(try b.constant([outputs], fill)) }
        return try b.apply(op, operands)[0]
    }

    private func input(_ layer: Layer, _ b: inout CaseBuilder) throws -> ValueID {
        try b.input(layer == .dense ? [3, 6] : [2, 6, 5, 4], .unit)
    }

    func testAffinesFoldIntoTheLayerBefore() throws {
        for layer in Layer.allCases {
            for bias in [false, true] {
                for scalar in [false, true] {
                    let graph = try apply(AffineFolding(), tolerance: Self.close) { b in
                        let y = try add(layer, &b, input(layer, &b), bias: bias)
                        let channels = b.shape(y)[1]
                        let affine =
                            scalar
                            ? try b.add(Unary(.linear(-1.5, 0.25)), y)
                            : try b.add(ChannelAffine(axis: 1, activation: .relu), y, b.constant([channels], .unit), b.constant([channels], .unit))
                        try b.output(affine)
                    }
                    XCTAssertEqual(graph.kinds.count, 1, "\(layer)")
                }
            }
        }
    }

    /// Weights are rounded once, from double precision.
    func testFoldedWeightsAreRoundedOnce() throws {
        let graph = try apply(AffineFolding(), tolerance: Self.close) { b in
            let y = try b.add(Dense(hasBias: true), b.input([1, 1]), b.constant([1, 1], .values([0.1])), b.constant([1], .values([0.7])))
            try b.output(try b.add(Unary(.linear(0.3, 0.9)), y))
        }
        let constants = graph.nodes[0].inputs.dropFirst().compactMap { graph.constant($0)?.floats[0] }
        XCTAssertEqual(
            constants, [Float(Double(Float(0.1)) * Double(Float(0.3))), Float(Double(Float(0.7)) * Double(Float(0.3)) + Double(Float(0.9)))])
    }

    func testAffinesFoldIntoTheLayerAfter() throws {
        for layer in Layer.allCases {
            for bias in [false, true] {
                let isTransposed = layer == .transposed || layer == .groupedTransposed
                let graph = try apply(AffineFolding(), tolerance: Self.close) { b in
                    let x = try input(layer, &b)
                    let shift = isTransposed ? Fill.values([0]) : .unit
                    let affine = try b.add(ChannelAffine(axis: 1), x, b.constant([6], .unit), b.constant([6], shift))
                    try b.output(try add(layer, &b, affine, bias: bias))
                }
                XCTAssertEqual(graph.kinds.count, 1, "\(layer)")
            }
        }
    }

    func testEdgesKeepABiasBefore() throws {
        let kept: [(Convolution, UnaryFunction)] = [
            (Convolution(padding: Self.one), .linear(2, 1)), (Convolution(padding: Padding2D(bottom: 1)), .linear(1, -3)),
        ]
        for (op, function) in kept {
            let graph = try apply(AffineFolding()) { b in
                let x = try b.add(Unary(function), b.input([1, 3, 4, 4]))
                try b.output(try b.add(op, x, b.constant([2, 3, 2, 2])))
            }
            XCTAssertEqual(graph.kinds, ["Unary", "Convolution"])
        }
        let scale = try apply(AffineFolding()) { b in
            let x = try b.add(Unary(.linear(2, 0)), b.input([1, 3, 4, 4]))
            try b.output(try b.add(Convolution(padding: Self.one), x, b.constant([2, 3, 2, 2])))
        }
        XCTAssertEqual(scale.kinds, ["Convolution"])
        let transposed = try apply(AffineFolding()) { b in
            let x = try b.add(Unary(.linear(2, 1)), b.input([1, 3, 4, 4]))
            try b.output(try b.add(ConvolutionTranspose(), x, b.constant([3, 2, 2, 2])))
        }
        XCTAssertEqual(transposed.kinds, ["Unary", "ConvolutionTranspose"])
    }

    func testALayerKeepsItsEpilogueWhenAScaleFoldsIn() throws {
        let graph = try apply(AffineFolding()) { b in
            let x = try b.add(Unary(.linear(2, 1)), b.input([1, 3, 4, 4]))
            let op = Convolution(hasBias: true, hasResidual: true, activation: .relu)
            try b.output(try b.add(op, x, b.constant([2, 3, 2, 2]), b.constant([2]), b.input([1, 2, 3, 3])))
        }
        XCTAssertEqual(graph.operators(Convolution.self), [Convolution(hasBias: true, hasResidual: true, activation: .relu)])
        XCTAssertEqual(graph.kinds, ["Convolution"])
    }

    func testWhatDoesNotFold() throws {
        func kinds(_ body: (inout CaseBuilder) throws -> Void) throws -> [String] { try apply(AffineFolding(), tolerance: .exact, body: body).kinds }
        XCTAssertEqual(
            try kinds { b in
                let y = try b.add(Convolution(), b.input([1, 3, 4, 4]), b.input([2, 3, 1, 1]))
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary"], "variable weights")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.add(Convolution(hasBias: true), b.input([1, 3, 4, 4]), b.constant([2, 3, 1, 1]), b.input([2]))
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary"], "variable bias")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one, activation: .relu)
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary"], "an activation between")
        XCTAssertEqual(
            try kinds { b in
                let op = Convolution(hasResidual: true)
                let y = try b.add(op, b.input([1, 3, 4, 4]), b.constant([2, 3, 1, 1]), b.input([1, 2, 4, 4]))
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary"], "a residual between")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(y)
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary"], "the value between is an output")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(try b.add(Unary(.relu), y))
                try b.output(try b.add(Unary(.linear(2, 1)), y))
            }, ["Convolution", "Unary", "Unary"], "two readers")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 4, kernel: .one)
                try b.output(try b.add(ChannelAffine(axis: 2), y, b.constant([4]), b.constant([4])))
            }, ["Convolution", "ChannelAffine"], "another axis")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.add(Dense(), b.input([2, 3, 4]), b.constant([3, 4]))
                try b.output(try b.add(ChannelAffine(axis: 1), y, b.constant([3]), b.constant([3])))
            }, ["Dense", "ChannelAffine"], "another axis")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.add(Dense(), b.input([2, 4], .values([0])), b.constant([3, 4], .values([1e30])))
                try b.output(try b.add(Unary(.linear(1e30, 0)), y))
            }, ["Dense", "Unary"], "weights would overflow")
    }

    private func padded(
        _ pad: Pad, _ op: any NTGraph.Operator, weights: Shape? = nil, before function: UnaryFunction? = nil, isShared: Bool = false,
        shape: Shape = [1, 3, 6, 5]
    ) throws -> [String] {
        try apply(PaddingFolding()) { b in
            var x = try b.input(shape)
            if let function { x = try b.add(Unary(function), x) }
            let wide = try b.add(pad, x)
            if isShared { try b.output(wide) }
            try b.output(try b.apply(op, [wide] + (weights.map { [try b.constant($0)] } ?? []))[0])
        }.kinds
    }

    func testZerosAroundAnImageFoldIntoWindows() throws {
        let pad = Pad(.constant(0), before: [0, 0, 1, 0], after: [0, 0, 2, 3])
        let own = Padding2D(top: 1, left: 2, bottom: 0, right: 1)
        let three = Size2D(3, 3)
        XCTAssertEqual(try padded(pad, Convolution(strides: Size2D(2, 2), padding: own), weights: [2, 3, 3, 3]), ["Convolution"])
        XCTAssertEqual(try padded(pad, Pool(.average, kernel: three)), ["Pool"])
        XCTAssertEqual(try padded(pad, Pool(.average, kernel: three, padding: own, countsPadding: true)), ["Pool"])
        XCTAssertEqual(try padded(pad, Pool(.l2, kernel: three, strides: Size2D(2, 2))), ["Pool"])
        for function in [UnaryFunction.relu, .clip(0, 6), .square, .abs] {
            XCTAssertEqual(try padded(pad, Pool(.maximum, kernel: three, strides: Size2D(2, 2)), before: function), ["Unary", "Pool"])
        }
        XCTAssertEqual(
            try padded(Pad(.constant(0), before: [0, 0, 4, 4], after: [0, 0, 4, 4]), Pool(.maximum, kernel: three), before: .relu),
            ["Unary", "Pool"], "windows of nothing but padding")
    }

    func testOtherPaddingStays() throws {
        let pad = Pad(.constant(0), before: [0, 0, 1, 1], after: [0, 0, 1, 1])
        let three = Size2D(3, 3)
        XCTAssertEqual(try padded(pad, Pool(.maximum, kernel: three)), ["Pad", "Pool"], "the values may be negative")
        XCTAssertEqual(try padded(pad, Pool(.maximum, kernel: three), before: .leakyReLU(0.5)), ["Unary", "Pad", "Pool"])
        XCTAssertEqual(try padded(pad, Pool(.average, kernel: three, padding: Self.one)), ["Pad", "Pool"], "its own padding is not counted")
        XCTAssertEqual(
            try padded(Pad(.constant(1), before: [0, 0, 1, 1], after: [0, 0, 1, 1]), Convolution(), weights: [2, 3, 3, 3]), ["Pad", "Convolution"])
        XCTAssertEqual(
            try padded(Pad(.replication, before: [0, 0, 1, 1], after: [0, 0, 1, 1]), Convolution(), weights: [2, 3, 3, 3]), ["Pad", "Convolution"])
        XCTAssertEqual(
            try padded(Pad(.constant(0), before: [0, 1, 1, 1], after: [0, 0, 1, 1]), Convolution(), weights: [2, 4, 3, 3]), ["Pad", "Convolution"],
            "channels are padded as well")
        XCTAssertEqual(try padded(pad, Convolution(), weights: [2, 3, 3, 3], isShared: true), ["Pad", "Convolution"])
        // With padding of its own, Core ML's rounding drops the last window.
        let pool = Pool(.average, kernel: Size2D(2, 2), strides: Size2D(3, 3), rounding: .ceilIncludingLastPixel)
        XCTAssertEqual(try padded(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 1, 1]), pool, shape: [1, 2, 6, 6]), ["Pad", "Pool"])
    }

    func testActivationsFuse() throws {
        let functions: [UnaryFunction] = [.relu, .clip(0, 6), .sigmoid, .silu, .hardSwish, .tanh, .geluExact, .leakyReLU(0.1)]
        for function in functions {
            for layer in Layer.allCases {
                let graph = try apply(ActivationFusion(), tolerance: Self.close) { b in
                    let y = try add(layer, &b, input(layer, &b), bias: true)
                    try b.output(try b.add(Unary(function), y))
                }
                XCTAssertEqual(graph.kinds.count, 1, "\(layer) \(function)")
            }
            let binary = try apply(ActivationFusion(), tolerance: .float32) { b in
                try b.output(try b.add(Unary(function), b.add(Binary(.add), b.input([3, 4]), b.input([4]))))
            }
            XCTAssertEqual(binary.operators(Binary.self), [Binary(.add, activation: function)])
            let affine = try apply(ActivationFusion(), tolerance: .float32) { b in
                try b.output(try b.add(Unary(function), b.add(ChannelAffine(axis: 1), b.input([3, 4]), b.constant([4]), b.constant([4]))))
            }
            XCTAssertEqual(affine.operators(ChannelAffine.self), [ChannelAffine(axis: 1, activation: function)])
        }
    }

    func testAClampJoinsAClamp() throws {
        let graph = try apply(ActivationFusion()) { b in
            let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one, activation: .relu)
            try b.output(try b.add(Unary(.clip(-1, 6)), y))
        }
        XCTAssertEqual(graph.operators(Convolution.self).map(\.activation), [.clip(0, 6)])
    }

    func testNaNPassesAFusedReLU() throws {
        let graph = try optimize { b in
            let x = try b.input([1, 1, 2, 2], .values([.nan, -1, 1, 2]))
            try b.output(try b.add(Unary(.relu), b.convolution(x, outputs: 1, kernel: .one)))
        }
        XCTAssertEqual(graph.kinds, ["Convolution"])
    }

    func testWhatDoesNotFuse() throws {
        func kinds(_ body: (inout CaseBuilder) throws -> Void) throws -> [String] {
            try apply(ActivationFusion(), tolerance: .float32, body: body).kinds
        }
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(y)
                try b.output(try b.add(Unary(.relu), y))
            }, ["Convolution", "Unary"], "an output")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(try b.add(Binary(.add), b.add(Unary(.relu), y), y))
            }, ["Convolution", "Unary", "Binary"], "two readers")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one, activation: .sigmoid)
                try b.output(try b.add(Unary(.relu), y))
            }, ["Convolution", "Unary"], "an activation that is no clamp")
        XCTAssertEqual(
            try kinds { b in
                try b.output(try b.add(Unary(.sin), b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)))
            }, ["Convolution", "Unary"], "no activation of networks")
        XCTAssertEqual(
            try kinds { b in try b.output(try b.add(Unary(.relu), b.add(Binary(.less), b.input([4]), b.input([4])))) }, ["Binary", "Unary"])
        XCTAssertEqual(try kinds { b in try b.output(try b.add(Unary(.relu), b.add(Softmax(axis: 0), b.input([4])))) }, ["Softmax", "Unary"])
    }

    func testASumJoinsTheLaterConvolution() throws {
        for swapped in [false, true] {
            let graph = try optimize { b in
                let x = try b.input([1, 4, 5, 5])
                let first = try b.convolution(x, outputs: 6, kernel: .one)
                let second = try b.convolution(try b.add(Unary(.abs), x), outputs: 6, kernel: Size2D(3, 3), padding: Self.one)
                let sum = swapped ? try b.add(Binary(.add), second, first) : try b.add(Binary(.add), first, second)
                try b.output(try b.add(Unary(.relu), sum))
            }
            XCTAssertEqual(graph.kinds, ["Convolution", "Unary", "Convolution"])
            let convolutions = graph.operators(Convolution.self)
            XCTAssertEqual(convolutions.map(\.hasResidual), [false, true])
            XCTAssertEqual(convolutions.map(\.activation), [.identity, .relu])
        }
    }

    func testASumJoinsTheOnlyConvolution() throws {
        let graph = try optimize { b in
            let x = try b.input([1, 4, 5, 5])
            let convolution = try b.convolution(x, outputs: 4, kernel: .one, bias: false)
            // Computed after the convolution: the fused one stands where the sum stood.
            let other = try b.add(Unary(.exp2), x)
            try b.output(try b.add(Binary(.add), convolution, other))
        }
        XCTAssertEqual(graph.kinds, ["Unary", "Convolution"])
        XCTAssertEqual(graph.operators(Convolution.self), [Convolution(hasResidual: true)])
    }

    func testSumsThatStay() throws {
        func kinds(_ body: (inout CaseBuilder) throws -> Void) throws -> [String] {
            try apply(ResidualFusion(), tolerance: .float32, body: body).kinds
        }
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(try b.add(Binary(.add), y, y))
            }, ["Convolution", "Binary"], "both operands are the convolution")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(try b.add(Binary(.add), y, b.input([1, 2, 1, 1])))
            }, ["Convolution", "Binary"], "the other operand is broadcast")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 1, 1]), outputs: 2, kernel: .one)
                try b.output(try b.add(Binary(.add), y, b.input([1, 2, 4, 4])))
            }, ["Convolution", "Binary"], "the convolution is broadcast")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one, activation: .relu)
                try b.output(try b.add(Binary(.add), y, b.input([1, 2, 4, 4])))
            }, ["Convolution", "Binary"], "an activation between")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(y)
                try b.output(try b.add(Binary(.add), y, b.input([1, 2, 4, 4])))
            }, ["Convolution", "Binary"], "an output")
        XCTAssertEqual(
            try kinds { b in
                let y = try b.convolution(b.input([1, 3, 4, 4]), outputs: 2, kernel: .one)
                try b.output(try b.add(Binary(.subtract), y, b.input([1, 2, 4, 4])))
            }, ["Convolution", "Binary"], "a difference")
    }

    /// A convolution, batch normalisation and ReLU6 as Keras' converter writes them, with SAME padding as a layer of its own.
    func testAKerasBlockIsOneNode() throws {
        let graph = try optimize(tolerance: Self.close) { b in
            let x = try b.input([1, 3, 9, 9], .unit)
            let scaled = try b.add(Unary(.linear(1 / 127.5, 0)), x)
            let padded = try b.add(Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 0, 1, 1]), scaled)
            let convolved = try b.convolution(
                padded, outputs: 8, kernel: Size2D(3, 3), strides: Size2D(2, 2), bias: false, fill: .uniform(-1...1))
            let normal = try b.add(ChannelAffine(axis: 1), convolved, b.constant([8], .unit), b.constant([8], .unit))
            let negative = try b.add(Unary(.linear(-1, 0)), b.add(Unary(.relu), normal))
            try b.output(try b.add(Unary(.linear(-1, 0)), b.add(Unary(.threshold(-6)), negative)))
        }
        XCTAssertEqual(
            graph.operators(Convolution.self),
            [
                Convolution(
                    strides: Size2D(2, 2), padding: Padding2D(bottom: 1, right: 1), hasBias: true, activation: .clip(0, 6))
            ])
        XCTAssertEqual(graph.kinds, ["Convolution"])
    }

    /// Long chains take time in proportion to their length.
    func testLongChains() throws {
        var builder = GraphBuilder(name: "chain")
        var x = builder.input("x", .float32([4]))
        let functions: [UnaryFunction] = [.relu, .linear(1, 0), .identity, .linear(-1, 0), .clip(-3, 9), .sin]
        for index in 0..<60_000 { x = try builder.add(Unary(functions[index % functions.count]), x, layer: "f\(index)") }
        try builder.output(x, name: "y")
        let start = ContinuousClock.now
        let graph = try Passes.optimize(builder.graph)
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(30))
        XCTAssertEqual(GraphCheck.problems(graph), [])
        XCTAssertLessThan(graph.nodes.count, 40_001)
    }
}
