import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Every operator against its own definition, on every device and with both families of kernels.
final class OperatorTests: XCTestCase {
    private func check(_ cases: [DeviceCase], file: StaticString = #filePath, line: UInt = #line) throws {
        for item in cases {
            let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
            for entry in try DeviceFixture.entries.get() {
                let plan = try ExecutionPlan(item.graph, backend: entry.backend)
                XCTAssertEqual(plan.fallbacks, [], "\(item.name) on \(entry.name)", file: file, line: line)
                let found = try compute(plan, try plan.makeState(), inputs: item.inputs)
                for (a, b) in zip(found, expected) {
                    assertEqual(a, b, tolerance: item.tolerance, "\(item.name) on \(entry.name)", file: file, line: line)
                }
            }
        }
    }

    func testPointwiseConvolution() throws {
        var cases: [DeviceCase] = []
        for (channels, outputs, height, width) in [(1, 1, 1, 1), (3, 5, 7, 7), (32, 64, 8, 9), (17, 33, 5, 3), (64, 31, 14, 14), (5, 130, 13, 11)] {
            for hasBias in [false, true] {
                let op = Convolution(hasBias: hasBias, activation: hasBias ? .clip(0, 0.5) : .identity)
                let constants: [Shape] = [[outputs, channels, 1, 1]] + (hasBias ? [[outputs]] : [])
                cases.append(try DeviceCase(op, [[2, channels, height, width]], constants: constants))
            }
        }
        cases.append(try DeviceCase(Convolution(strides: Size2D(2, 2)), [[1, 16, 9, 8]], constants: [[24, 16, 1, 1]]))
        try check(cases)
    }

    func testConvolution() throws {
        var cases: [DeviceCase] = []
        let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
        for channels in [1, 3, 4, 8, 19] {
            for outputs in [1, 7, 16, 40] {
                cases.append(
                    try DeviceCase(
                        Convolution(strides: Size2D(2, 1), padding: same, hasBias: true, activation: .relu), [[1, channels, 9, 10]],
                        constants: [[outputs, channels, 3, 3], [outputs]]))
            }
        }
        cases.append(
            try DeviceCase(
                Convolution(strides: Size2D(2, 2), dilations: Size2D(2, 3), padding: Padding2D(top: 2, left: 3, bottom: 1, right: 0)),
                [[2, 6, 15, 17]], constants: [[10, 6, 3, 2]]))
        cases.append(try DeviceCase(Convolution(padding: same, groups: 3), [[2, 12, 6, 5]], constants: [[9, 4, 3, 3]]))
        cases.append(try DeviceCase(Convolution(groups: 2, hasBias: true), [[1, 8, 4, 4]], constants: [[66, 4, 1, 1], [66]]))
        cases.append(try DeviceCase(Convolution(groups: 4), [[1, 4, 6, 6]], constants: [[8, 1, 3, 3]]))
        cases.append(try DeviceCase(Convolution(), [[1, 40, 7, 7]], constants: [[33, 40, 7, 7]]))
        try check(cases)
    }

    func testConvolutionActivations() throws {
        let functions: [UnaryFunction] = [
            .relu, .clip(-0.5, 0.25), .leakyReLU(0.1), .sigmoid, .hardSigmoid(0.2, 0.5), .hardSwish, .silu, .tanh, .elu(0.7), .geluExact,
            .softplus,
        ]
        try check(
            functions.map {
                try DeviceCase(
                    Convolution(hasBias: true, activation: $0), [[1, 9, 5, 6]], constants: [[35, 9, 1, 1], [35]])
            })
    }

    func testConvolutionWithResidual() throws {
        let residual = try DeviceCase("residual", [[2, 20, 7, 6]]) { builder, inputs, numbers in
            let w = try builder.constant(try numbers.tensor([37, 20, 1, 1]))
            let bias = try builder.constant(try numbers.tensor([37]))
            let first = try builder.add(Convolution(hasBias: true), inputs[0], w, bias, layer: "a")
            let w2 = try builder.constant(try numbers.tensor([37, 37, 3, 3]))
            let padding = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let op = Convolution(padding: padding, hasBias: true, hasResidual: true, activation: .relu)
            let second = try builder.add(op, first, w2, bias, first, layer: "b")
            let third = try builder.add(op, second, w2, bias, first, layer: "c")
            let w3 = try builder.constant(try numbers.tensor([37, 1, 3, 3]))
            let depthwise = Convolution(padding: padding, groups: 37, hasBias: true, hasResidual: true, activation: .relu)
            return [try builder.add(depthwise, third, w3, bias, second, layer: "d")]
        }
        try check([residual])
    }

    func testDepthwise() throws {
        var cases: [DeviceCase] = []
        for channels in [2, 3, 4, 8, 24, 32, 33] {
            for stride in [1, 2, 3] {
                for kernel in [3, 5] {
                    cases.append(
                        try DeviceCase(
                            Convolution(
                                strides: Size2D(stride, stride), padding: Padding2D(top: 1, left: 0, bottom: 2, right: 1), groups: channels,
                                hasBias: true, activation: .clip(0, 6)), [[2, channels, 9, 11]],
                            constants: [[channels, 1, kernel, kernel], [channels]]))
                }
            }
        }
        cases.append(
            try DeviceCase(
                Convolution(dilations: Size2D(2, 2), padding: Padding2D(top: 2, left: 2, bottom: 2, right: 2), groups: 16),
                [[1, 16, 8, 7]], constants: [[16, 1, 3, 3]]))
        cases.append(try DeviceCase(Convolution(groups: 8), [[1, 8, 9, 9]], constants: [[8, 1, 7, 7]]))
        cases.append(try DeviceCase(Convolution(strides: Size2D(2, 1), groups: 8), [[1, 8, 9, 3]], constants: [[8, 1, 1, 3]]))
        try check(cases)
    }

    func testTransposedConvolution() throws {
        try check([
            try DeviceCase(ConvolutionTranspose(strides: Size2D(2, 2), hasBias: true), [[1, 5, 4, 3]], constants: [[5, 6, 2, 2], [6]]),
            try DeviceCase(
                ConvolutionTranspose(
                    strides: Size2D(2, 3), dilations: Size2D(2, 1), cropping: Padding2D(top: 1, left: 0, bottom: 2, right: 1),
                    outputPadding: Size2D(1, 1), activation: .relu), [[2, 4, 5, 6]], constants: [[4, 20, 3, 4]]),
            try DeviceCase(ConvolutionTranspose(groups: 2, hasBias: true), [[1, 6, 4, 4]], constants: [[6, 17, 3, 3], [34]]),
        ])
    }

    func testPool() throws {
        var cases: [DeviceCase] = []
        for function in [Pool.Function.maximum, .average, .l2] {
            for channels in [1, 6, 16, 20] {
                cases.append(
                    try DeviceCase(
                        Pool(
                            function, kernel: Size2D(3, 2), strides: Size2D(2, 2), padding: Padding2D(top: 1, left: 1, bottom: 0, right: 1)),
                        [[2, channels, 9, 8]]))
                cases.append(
                    try DeviceCase(
                        Pool(
                            function, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: Padding2D(top: 0, left: 1, bottom: 1, right: 1),
                            rounding: .ceilIncludingLastPixel, countsPadding: true), [[1, channels, 8, 10]]))
            }
            cases.append(try DeviceCase(Pool(function, kernel: Size2D(7, 7)), [[2, 40, 7, 7]]))
            cases.append(try DeviceCase(Pool(function, kernel: Size2D(2, 2), dilations: Size2D(2, 3)), [[1, 8, 7, 7]]))
        }
        try check(cases)
    }

    func testDenseAndMatMul() throws {
        var cases: [DeviceCase] = []
        for rows in [1, 2, 9] {
            for (depth, features) in [(1, 1), (7, 5), (64, 100), (33, 32)] {
                cases.append(try DeviceCase(Dense(hasBias: true, activation: .relu), [[rows, depth]], constants: [[features, depth], [features]]))
            }
        }
        cases.append(try DeviceCase(Dense(), [[6]], constants: [[4, 6]]))
        cases.append(try DeviceCase(Dense(), [[2, 3, 4, 6]], constants: [[5, 6]]))
        for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
            let left: Shape = a ? [2, 3, 7, 5] : [2, 3, 5, 7]
            let right: Shape = b ? [3, 18, 7] : [3, 7, 18]
            cases.append(try DeviceCase(MatMul(transposeA: a, transposeB: b), [left, right]))
            cases.append(try DeviceCase(MatMul(transposeA: a, transposeB: b), [a ? [7, 5] : [5, 7]], constants: [b ? [18, 7] : [7, 18]]))
        }
        cases.append(try DeviceCase(MatMul(), [[1, 4, 40], [40, 1]]))
        try check(cases)
    }

    func testUnary() throws {
        let anywhere: [UnaryFunction] = [
            .identity, .relu, .clip(-0.5, 0.5), .leakyReLU(0.2), .thresholdedReLU(0.3), .sigmoid, .hardSigmoid(0.3, 0.4), .hardSwish, .silu,
            .tanh, .scaledTanh(1.5, 0.7), .elu(1.2), .softsign, .softplus, .geluExact, .geluTanh, .geluSigmoid, .linear(2, -1),
            .threshold(0.1), .square, .exp, .exp2, .abs, .negate, .sign, .ceil, .floor, .round, .sin, .cos, .atan, .sinh, .cosh, .asinh,
            .erf, .logicalNot,
        ]
        try check(try anywhere.map { try DeviceCase(Unary($0), [[3, 5, 7, 11]], range: -5...5) })
        let positive: [UnaryFunction] = [.power(1.7), .rsqrt(1e-3), .inverse(1e-3), .log(1e-3), .sqrt]
        try check(try positive.map { try DeviceCase(Unary($0), [[4, 37]], range: 0.01...9) })
        let small: [UnaryFunction] = [.tan, .asin, .acos, .atanh]
        try check(try small.map { try DeviceCase(Unary($0), [[129]], range: -0.99...0.99) })
        try check([try DeviceCase(Unary(.acosh), [[50]], range: 1.01...20)])
    }

    func testNaNPassesThrough() throws {
        let functions: [UnaryFunction] = [.relu, .clip(0, 6), .leakyReLU(0.1), .threshold(0), .hardSigmoid(1, 0), .hardSwish, .sigmoid, .sign]
        var values = [Float](repeating: 1, count: 40)
        for place in [0, 17, 39] { values[place] = .nan }
        values[5] = .infinity
        values[6] = -.infinity
        try check(
            try functions.map { function in
                var item = try DeviceCase(Unary(function), [[40]])
                item.inputs = [try Tensor([40], values)]
                return item
            })
        try check(
            try [BinaryFunction.maximum, .minimum].map { function in
                var item = try DeviceCase(Binary(function), [[40], [40]])
                item.inputs = [try Tensor([40], values), try Tensor([40], values.reversed())]
                return item
            })
    }

    func testBinary() throws {
        var cases: [DeviceCase] = []
        for function in BinaryFunction.allCases where function != .power {
            cases.append(try DeviceCase(Binary(function), [[2, 3, 4, 5], [2, 3, 4, 5]], range: -3...3))
        }
        cases.append(try DeviceCase(Binary(.power), [[64], [64]], range: 0.1...3))
        let shapes: [(Shape, Shape)] = [
            ([2, 3, 4, 5], [3, 1, 1]), ([1, 3, 1, 5], [2, 1, 4, 1]), ([4, 5], []), ([], [4, 5]), ([7, 1], [1, 9]), ([2, 40, 3, 3], [2, 40, 1, 1]),
        ]
        for (a, b) in shapes { cases.append(try DeviceCase(Binary(.subtract, activation: .relu), [a, b])) }
        try check(cases)
        var whole = try DeviceCase(Binary(.modulo), [[8], [8]])
        whole.inputs = [try Tensor([8], [7, -7, 7, -7, 5.5, 6, 1, 0]), try Tensor([8], [3, 3, -3, -3, 0.5, 0.1, 3, 2])]
        var floor = try DeviceCase(Binary(.floorDivide), [[8], [8]])
        floor.inputs = whole.inputs
        try check([whole, floor])
    }

    func testSelectAffinePReLU() throws {
        var select = try DeviceCase(Select(), [[4, 6], [4, 1], [6]])
        select.inputs[0] = try Tensor([4, 6], (0..<24).map { Float($0 % 3 == 0 ? 0 : 1) })
        try check([
            select, try DeviceCase(ChannelAffine(axis: 1, activation: .relu), [[2, 5, 3, 4]], constants: [[5], [5]]),
            try DeviceCase(ChannelAffine(axis: -1), [[3, 33]], constants: [[33], [33]]),
            try DeviceCase(ChannelAffine(axis: 0), [[3, 2]], constants: [[3], [3]]),
            try DeviceCase(PReLU(axis: 1), [[2, 5, 3, 4]], constants: [[5]]), try DeviceCase(PReLU(axis: 2), [[2, 3, 20]], constants: [[20]]),
        ])
    }

    func testSoftmaxAndNormalization() throws {
        var cases: [DeviceCase] = []
        for isLog in [false, true] {
            for (shape, axis) in [([1, 1000], 1), ([3, 7, 5], 1), ([2, 10, 3, 3], -3), ([2, 100], 0)] as [(Shape, Int)] {
                cases.append(try DeviceCase(Softmax(axis: axis, isLog: isLog), [shape], range: -8...8))
            }
        }
        for outside in [false, true] {
            cases.append(
                try DeviceCase(MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-3, epsilonOutside: outside), [[2, 5, 9, 8]], range: -1...3))
        }
        cases.append(try DeviceCase(MeanVarianceNormalization(axes: [1, 2, 3], normalizesVariance: false, epsilon: 0), [[2, 5, 9, 8]]))
        cases.append(try DeviceCase(MeanVarianceNormalization(axes: [-1], epsilon: 1e-5), [[4, 130]]))
        cases.append(try DeviceCase(L2Normalization(axes: [1], epsilon: 1e-6), [[2, 9, 4, 4]]))
        cases.append(try DeviceCase(LocalResponseNormalization(size: 5, alpha: 1e-2, beta: 0.75, k: 2), [[2, 11, 4, 3]], range: -9...9))
        cases.append(try DeviceCase(LocalResponseNormalization(size: 4, alpha: 1, beta: 0.5, k: 1), [[2, 3, 7]]))
        try check(cases)
    }

    func testReduce() throws {
        var cases: [DeviceCase] = []
        for function in Reduce.Function.allCases {
            for axes in [[], [1], [2, 3], [0, 2], [-1]] {
                for keeps in [false, true] {
                    cases.append(
                        try DeviceCase(
                            Reduce(function, axes: axes, keepsDimensions: keeps, epsilon: 0.1), [[2, 3, 4, 5]], range: 0.2...1.5))
                }
            }
        }
        cases.append(try DeviceCase(Reduce(.sum, axes: []), [[300, 301]], range: 0...1))
        cases.append(try DeviceCase(Reduce(.mean, axes: [1]), [[3, 70_000]], range: 0...1))
        try check(cases)
    }

    func testChoosing() throws {
        var cases: [DeviceCase] = []
        for axis in [0, 1, 2] {
            for flag in [false, true] {
                cases.append(try DeviceCase(ArgReduce(isMinimum: flag, axis: axis, keepsDimension: flag), [[5, 6, 7]]))
                cases.append(try DeviceCase(TopK(k: 4, axis: axis, isSmallest: flag), [[5, 6, 7]]))
            }
        }
        var ties = try DeviceCase(TopK(k: 5, axis: 0), [[9]])
        ties.inputs = [try Tensor([9], [1, 3, 3, 2, 3, 1, 2, 0, 3])]
        cases.append(ties)
        try check(cases)
    }

    func testMovement() throws {
        let shape: Shape = [2, 6, 4, 5]
        let gathered = try DeviceCase(Gather(axis: 1), [shape], constantValues: [[0, 5, -1, 2, 2]])
        try check([
            try DeviceCase(Reshape([4, 60]), [shape]), try DeviceCase(Transpose([3, 1, 0, 2]), [shape]),
            try DeviceCase(Transpose([0, 2, 3, 1]), [shape]), try DeviceCase(Concat(axis: 1), [shape, [2, 1, 4, 5], [2, 3, 4, 5]]),
            try DeviceCase(Concat(axis: -1), [shape, [2, 6, 4, 1]]), try DeviceCase(Split(axis: 1, sizes: [1, 3, 2]), [shape]),
            try DeviceCase(Slice(begins: [0, 5, 1, 0], extents: [2, 3, 2, 2], strides: [1, -2, 2, 3]), [shape]),
            try DeviceCase(Tile([2, 1, 3, 2]), [shape]), try DeviceCase(BroadcastTo([3, 2, 4, 5]), [[2, 1, 5]]),
            try DeviceCase(Reverse(axes: [1, 3]), [shape]), gathered,
            try DeviceCase(Pad(.constant(1.5), before: [0, 1, 2, 0], after: [0, 0, 1, 3]), [shape]),
            try DeviceCase(Pad(.reflection, before: [0, 0, 2, 3], after: [0, 0, 3, 1]), [shape]),
            try DeviceCase(Pad(.replication, before: [1, 0, 2, 3], after: [0, 2, 3, 1]), [shape]),
            try DeviceCase(RearrangeBlocks(.spaceToDepth, block: 2), [[2, 3, 4, 6]]),
            try DeviceCase(RearrangeBlocks(.depthToSpace, block: 2), [[2, 8, 3, 2]]),
            try DeviceCase(RearrangeBlocks(.pixelShuffle, block: 2), [[2, 8, 3, 2]]),
        ])
    }

    func testResize() throws {
        var cases: [DeviceCase] = []
        for mode in [Resize.Mode.nearest, .bilinear] {
            let maps: [Resize.Coordinates] = [
                .alignCorners, .asymmetric, .halfPixel, .upsample, .explicit(startY: 0.5, stepY: 0.7, startX: -0.5, stepX: 1.1),
            ]
            for coordinates in maps {
                for size in [Size2D(9, 7), Size2D(3, 10), Size2D(1, 1)] {
                    cases.append(try DeviceCase(Resize(mode, to: size, coordinates: coordinates), [[2, 3, 5, 6]]))
                }
            }
        }
        cases.append(try DeviceCase(Resize(.bilinear, to: Size2D(8, 8), coordinates: .halfPixel), [[4, 5]]))
        try check(cases)
    }

    /// Operators that follow a convolution read its channels-last result.
    func testAfterConvolution() throws {
        let followers: [(String, any Operator)] = [
            ("softmax", Softmax(axis: 1)), ("mvn", MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-3)),
            ("lrn", LocalResponseNormalization(size: 3, alpha: 1, beta: 0.7, k: 1)),
            ("reshape", Reshape([2, 12 * 20])), ("group", Reshape([2, 3, 4, 4, 5])), ("transpose", Transpose([0, 2, 3, 1])),
            ("mean", Reduce(.mean, axes: [2, 3])), ("sum", Reduce(.sum, axes: [1], keepsDimensions: false)), ("argument", ArgReduce(axis: 1)),
            ("top", TopK(k: 3, axis: 1)), ("resize", Resize(.bilinear, to: Size2D(8, 9), coordinates: .halfPixel)),
            ("pad", Pad(.constant(0), before: [0, 0, 1, 1], after: [0, 0, 1, 1])),
            ("reflect", Pad(.reflection, before: [0, 1, 1, 1], after: [0, 0, 1, 1])),
            ("tile", Tile([1, 2, 1, 2])), ("slice", Slice(begins: [0, 1, 0, 4], extents: [2, 5, 2, 3], strides: [1, 2, 2, -1])),
            ("reverse", Reverse(axes: [1])), ("split", Split(axis: 1, sizes: [5, 7])), ("blocks", RearrangeBlocks(.pixelShuffle, block: 2)),
            ("pool", Pool(.maximum, kernel: Size2D(2, 2))), ("unary", Unary(.silu)),
        ]
        try check(
            try followers.map { name, op in
                try DeviceCase("after convolution: \(name)", [[2, 7, 4, 5]]) { builder, inputs, numbers in
                    let w = try builder.constant(try numbers.tensor([12, 7, 1, 1]))
                    let x = try builder.add(Convolution(), inputs[0], w, layer: "convolution")
                    let results = try builder.apply(op, [x], layer: name)
                    // What comes after must be readable by a convolution too, where it has four axes.
                    guard builder.shape(results[0]).rank == 4 else { return results }
                    let channels = builder.shape(results[0])[1]
                    let w2 = try builder.constant(try numbers.tensor([5, channels, 1, 1]))
                    return results + [try builder.add(Convolution(), results[0], w2, layer: "reader")]
                }
            })
    }

    func testIndexOutOfRangeIsAnError() throws {
        let item = try DeviceCase("gather", [[4, 3], [5]]) { builder, inputs, _ in
            [try builder.add(Gather(axis: 0), inputs[0], inputs[1], layer: "picker")]
        }
        for entry in try DeviceFixture.entries.get() {
            let plan = try ExecutionPlan(item.graph, backend: entry.backend)
            let state = try plan.makeState()
            for bad: Float in [4, -5, 0.5, .nan] {
                let inputs = [item.inputs[0], try Tensor([5], [0, 1, bad, 2, 3])]
                XCTAssertThrowsError(try compute(plan, state, inputs: inputs)) {
                    XCTAssertEqual($0 as? OpenCLError, .indexOutOfRange(layers: ["picker"]))
                }
            }
            let good = try compute(plan, state, inputs: [item.inputs[0], try Tensor([5], [0, 1, -1, 2, 3])])
            XCTAssertEqual(good[0].floats[6], item.inputs[0].floats[9], entry.name)
        }
    }

    func testEmptyTensors() throws {
        try check([
            try DeviceCase(Unary(.relu), [[0, 4]]), try DeviceCase(Reduce(.sum, axes: [0]), [[0, 4]]),
            try DeviceCase(Concat(axis: 0), [[0, 4], [2, 4]]), try DeviceCase(Convolution(), [[0, 3, 4, 4]], constants: [[5, 3, 1, 1]]),
            try DeviceCase(Pad(.constant(2), before: [1, 0], after: [1, 0]), [[0, 4]]), try DeviceCase(Transpose([1, 0]), [[0, 4]]),
        ])
    }
}
