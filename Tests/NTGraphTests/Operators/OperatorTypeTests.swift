import NTGraph
import NTTensor
import TestSupport
import XCTest

/// Inputs and attributes that do not fit throw; nothing traps, however large the numbers.
final class OperatorTypeTests: XCTestCase {
    private func assertRefused(
        _ op: any NTGraph.Operator, _ shapes: Shape..., file: StaticString = #filePath, line: UInt = #line
    ) {
        XCTAssertThrowsError(try op.outputTypes(for: shapes.map { .float32($0) }), "\(op)", file: file, line: line) { error in
            XCTAssertTrue(error is OperatorError || error is TensorError, "\(error)", file: file, line: line)
            XCTAssertFalse("\(error)".isEmpty, file: file, line: line)
        }
    }

    func testWindowsRefuseWhatDoesNotFit() {
        let (x, w): (Shape, Shape) = ([1, 4, 5, 5], [6, 4, 3, 3])
        assertRefused(Convolution(), x)
        assertRefused(Convolution(hasBias: true), x, w)
        assertRefused(Convolution(), x, w, [6])
        assertRefused(Convolution(), [4, 5, 5], w)
        assertRefused(Convolution(), x, [6, 4, 3])
        assertRefused(Convolution(), x, [6, 5, 3, 3])
        assertRefused(Convolution(), x, [6, 4, 6, 3])
        assertRefused(Convolution(), x, [6, 4, 0, 3])
        assertRefused(Convolution(hasBias: true), x, w, [5])
        assertRefused(Convolution(hasBias: true), x, w, [1, 6])
        assertRefused(Convolution(hasResidual: true), x, w, [1, 6, 5, 5])
        for groups in [0, -1, 3, .min, .max] { assertRefused(Convolution(groups: groups), x, w) }
        for value in [Int.min, -1, Int.max, 1 << 20] {
            assertRefused(Convolution(strides: Size2D(1, value)), x, w)
            assertRefused(Convolution(dilations: Size2D(value, 1)), x, w)
            assertRefused(Convolution(padding: Padding2D(right: value)), x, w)
            assertRefused(Pool(.maximum, kernel: Size2D(value, 2)), x)
            assertRefused(Pool(.average, kernel: Size2D(2, 2), strides: Size2D(value, 1), rounding: .ceilIncludingLastPixel), x)
            assertRefused(Pool(.average, kernel: Size2D(2, 2), dilations: Size2D(1, value), rounding: .ceilIncludingLastPixel), x)
            assertRefused(Pool(.l2, kernel: Size2D(2, 2), padding: Padding2D(top: value), rounding: .ceilIncludingLastPixel), x)
            assertRefused(ConvolutionTranspose(strides: Size2D(value, 1)), x, [4, 2, 3, 3])
            assertRefused(ConvolutionTranspose(dilations: Size2D(1, value)), x, [4, 2, 3, 3])
            assertRefused(ConvolutionTranspose(cropping: Padding2D(top: value, bottom: value)), x, [4, 2, 3, 3])
            assertRefused(ConvolutionTranspose(outputPadding: Size2D(value, 0)), x, [4, 2, 3, 3])
        }
        assertRefused(Convolution(strides: Size2D(0, 1)), x, w)
        assertRefused(Pool(.maximum, kernel: Size2D(6, 2)), x)
        assertRefused(Pool(.maximum, kernel: Size2D(2, 2)), [4, 5, 5])
        assertRefused(ConvolutionTranspose(), x, [3, 2, 3, 3])
        assertRefused(ConvolutionTranspose(cropping: Padding2D(top: 4, bottom: 4)), x, [4, 2, 3, 3])
        assertRefused(ConvolutionTranspose(hasBias: true), x, [4, 2, 3, 3], [3])
        assertRefused(ConvolutionTranspose(groups: .max), [1, 0, 5, 5], [0, 2, 3, 3])
        assertRefused(ConvolutionTranspose(), [1, 4, 0, 5], [4, 2, 3, 3])
    }

    func testProductsRefuseWhatDoesNotFit() {
        assertRefused(Dense(), [2, 3])
        assertRefused(Dense(), [], [2, 3])
        assertRefused(Dense(), [2, 3], [4, 5])
        assertRefused(Dense(), [2, 3], [3])
        assertRefused(Dense(hasBias: true), [2, 3], [4, 3], [3])
        assertRefused(MatMul(), [3], [3, 4])
        assertRefused(MatMul(), [2, 3], [4, 5])
        assertRefused(MatMul(transposeA: true), [2, 3], [3, 4])
        assertRefused(MatMul(), [2, 3, 4], [3, 4, 5])
    }

    func testElementwiseOperatorsRefuseWhatDoesNotFit() {
        assertRefused(Unary(.relu))
        assertRefused(Unary(.relu), [1], [1])
        assertRefused(Binary(.add), [2, 3], [2])
        assertRefused(Binary(.add), [2, 3])
        assertRefused(Select(), [2], [3], [1])
        assertRefused(Select(), [2], [2])
        for axis in [2, -3, .min, .max] {
            assertRefused(ChannelAffine(axis: axis), [2, 3], [3], [3])
            assertRefused(PReLU(axis: axis), [2, 3], [3])
            assertRefused(Softmax(axis: axis), [2, 3])
            assertRefused(Concat(axis: axis), [2, 3])
            assertRefused(Split(axis: axis, sizes: [1]), [2, 3])
            assertRefused(Gather(axis: axis), [2, 3], [1])
            assertRefused(Reverse(axes: [0, axis]), [2, 3])
            assertRefused(Reduce(.sum, axes: [axis]), [2, 3])
            assertRefused(ArgReduce(axis: axis), [2, 3])
            assertRefused(TopK(k: 1, axis: axis), [2, 3])
            assertRefused(MeanVarianceNormalization(axes: [axis], epsilon: 1), [2, 3])
            assertRefused(L2Normalization(axes: [axis], epsilon: 1), [2, 3])
        }
        assertRefused(ChannelAffine(), [2, 3], [2], [3])
        assertRefused(ChannelAffine(), [2, 3], [3], [2])
        assertRefused(PReLU(), [2, 3], [1, 3])
        assertRefused(PReLU(), [], [1])
    }

    func testMovementsRefuseWhatDoesNotFit() {
        assertRefused(Reshape([5]), [2, 3])
        assertRefused(Reshape([-2, -3]), [2, 3])
        assertRefused(Reshape([1 << 40, 1 << 40]), [2, 3])
        assertRefused(Reshape([0, .max, .max]), [0])
        assertRefused(Reshape([.min]), [2, 3])
        for order in [[0], [0, 0], [0, 2], [-1, 0], [0, 1, 2]] { assertRefused(Transpose(order), [2, 3]) }
        assertRefused(Concat(axis: 0))
        assertRefused(Concat(axis: 0), [2, 3], [2, 4])
        assertRefused(Concat(axis: 0), [2, 3], [2, 3, 1])
        for sizes in [[], [1], [3, -1], [.max, .max], [.min, 2], [1, 2]] { assertRefused(Split(axis: 0, sizes: sizes), [2, 3]) }
        for (begin, extent, stride) in [
            (0, 6, 1), (1, 5, 1), (-1, 2, 1), (4, 2, 1), (0, 2, 5), (0, 2, -1), (.max, 2, 1), (.min, 2, 1), (0, .max, .max), (0, .min, 1),
            (0, -1, 1), (0, 2, .max), (0, 2, .min), (.max, 0, 1), (.min, 0, .min), (0, 1, .min),
        ] {
            assertRefused(Slice(begins: [begin], extents: [extent], strides: [stride]), [5])
        }
        assertRefused(Slice(begins: [0], extents: [1, 1], strides: [1]), [5])
        for times in [[0], [-1], [.max], [.min], [1 << 40], [1, 1]] { assertRefused(Tile(times), [5]) }
        assertRefused(BroadcastTo([4]), [3])
        assertRefused(BroadcastTo([3]), [2, 3])
        assertRefused(BroadcastTo([-5]), [1])
        assertRefused(BroadcastTo([.max, .max, 1]), [1])
        assertRefused(Gather(axis: 0), [], [1])
        for amount in [-1, .min, .max, 1 << 30] {
            assertRefused(Pad(.constant(0), before: [amount], after: [0]), [5])
            assertRefused(Pad(.replication, before: [0], after: [amount]), [5])
        }
        assertRefused(Pad(.constant(0), before: [0], after: [0, 0]), [5])
        assertRefused(Pad(.reflection, before: [5], after: [0]), [5])
        assertRefused(Pad(.replication, before: [1], after: [0]), [0])
    }

    func testOthersRefuseWhatDoesNotFit() {
        assertRefused(LocalResponseNormalization(size: 3, alpha: 1, beta: 1, k: 1), [3])
        for size in [0, -1, .min, .max] { assertRefused(LocalResponseNormalization(size: size, alpha: 1, beta: 1, k: 1), [1, 3]) }
        assertRefused(ArgReduce(axis: 0), [0, 3])
        for k in [0, -1, 4, .max, .min] { assertRefused(TopK(k: k, axis: 0), [3]) }
        assertRefused(TopK(k: 1, axis: 0), [0])
        for size in [Size2D(0, 1), Size2D(1, -1), Size2D(.max, 1), Size2D(1, .min)] {
            assertRefused(Resize(.bilinear, to: size, coordinates: .halfPixel), [1, 1, 2, 2])
        }
        assertRefused(Resize(.nearest, to: .one, coordinates: .halfPixel), [2])
        assertRefused(Resize(.nearest, to: .one, coordinates: .halfPixel), [1, 1, 0, 2])
        for value in [Float.nan, .infinity] {
            assertRefused(Resize(.nearest, to: .one, coordinates: .explicit(startY: value, stepY: 1, startX: 0, stepX: 1)), [2, 2])
        }
        for block in [0, -1, 3, .min, .max] {
            for mode in [RearrangeBlocks.Mode.spaceToDepth, .depthToSpace, .pixelShuffle] {
                assertRefused(RearrangeBlocks(mode, block: block), [1, 4, 2, 2])
            }
        }
        assertRefused(RearrangeBlocks(.pixelShuffle, block: 2), [4, 2, 2])
    }

    /// The builder refuses outputs that are too large, and figures about work do not overflow.
    func testHugeShapesAreRefusedByTheBuilder() throws {
        let half = 1 << 30
        let shapes: [(any NTGraph.Operator, [Shape])] = [
            (Binary(.add), [[half, 1], [1, half]]), (MatMul(), [[half, 1], [1, half]]), (Dense(), [[half, 1], [half, 1]]),
            (Pad(.constant(0), before: [1 << 24, 1 << 24], after: [0, 0]), [[1, 1]]),
            (Gather(axis: 0), [[2, half], [half]]), (Convolution(), [[half, 1, 1, 1], [half, 1, 1, 1]]),
            (Convolution(padding: Padding2D(top: 65536, left: 65536, bottom: 65536, right: 65536)), [[1, 1, 1, 1], [1, 1, 1, 1]]),
            (Resize(.nearest, to: Size2D(65536, 65536), coordinates: .halfPixel), [[1, 1]]),
            (ConvolutionTranspose(groups: 1 << 31), [[1, 0, 1, 1], [0, 2, 1, 1]]),
            (Reshape([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), [[1]]),
        ]
        for (op, inputs) in shapes {
            var builder = GraphBuilder(name: "huge")
            let ids = inputs.map { builder.input("x", .float32($0)) }
            XCTAssertThrowsError(try builder.apply(op, ids, layer: "the layer"), "\(op)") { error in
                XCTAssertTrue("\(error)".contains("the layer"), "\(error)")
            }
        }
        let most = 1 << 31
        let wide = Convolution(padding: Padding2D(top: 20000, left: 20000, bottom: 20000, right: 20000))
        let types: [TensorType] = [.float32([1, most, 1, 1]), .float32([1, most, 1, 1])]
        XCTAssertGreaterThan(wide.flops(inputs: types, outputs: [.float32([1, 1, 40001, 40001])]), 1 << 60)
        var builder = GraphBuilder(name: "work")
        let (x, w) = (builder.input("x", types[0]), builder.input("w", types[1]))
        for _ in 0..<3 { try builder.output(try builder.apply(wide, [x, w], layer: "wide")[0], name: "y") }
        XCTAssertEqual(builder.graph.flops, .max)
    }

    func testShapesWithZeroExtentsStayWithinBounds() {
        XCTAssertThrowsError(try Shape(checking: [0, .max, .max]))
        XCTAssertThrowsError(try Shape(checking: [0, 1 << 32]))
        XCTAssertNoThrow(try Shape(checking: [0, 1 << 31]))
    }

    func testGatherRefusesIndicesOutOfRange() throws {
        let x = try Tensor([3], [1, 2, 3])
        for index in [3, -4, 0.5, .nan, .infinity, 1e30] as [Float] {
            XCTAssertThrowsError(try Gather(axis: 0).evaluate([x, try Tensor([1], [index])]), "\(index)")
        }
    }

    func testTopKOrdersNaNAsTheLargest() throws {
        let x = try Tensor([5], [1, .nan, 3, .infinity, .nan])
        let largest = try TopK(k: 5, axis: 0).evaluate([x])
        XCTAssertEqual(largest[1].floatArray(), [1, 4, 3, 2, 0])
        let smallest = try TopK(k: 5, axis: 0, isSmallest: true).evaluate([x])
        XCTAssertEqual(smallest[1].floatArray(), [0, 2, 3, 1, 4])
    }

    /// Every operator with any number of inputs of any small shape either takes them or throws, and what it takes it computes.
    func testArbitraryInputsThrowOrCompute() throws {
        var random = TestRandom(seed: 7)
        let goldens = try OperatorGolden.load()
        var accepted = 0
        for _ in 0..<20 {
            for golden in goldens {
                let op = try golden.makeOperator()
                var shapes = golden.inputs.map { Shape($0.shape) }
                switch random.integer(0...3) {
                case 0: shapes = (0..<random.integer(0...4)).map { _ in Shape((0..<random.integer(0...4)).map { _ in random.integer(0...4) }) }
                case 1:
                    if !shapes.isEmpty {
                        shapes[random.integer(0...(shapes.count - 1))] = Shape((0..<random.integer(0...5)).map { _ in random.integer(0...5) })
                    }
                default:
                    let place = random.integer(0...(shapes.count - 1))
                    if shapes[place].rank > 0 { shapes[place][random.integer(0...(shapes[place].rank - 1))] = random.integer(0...6) }
                }
                guard let types = try? op.outputTypes(for: shapes.map { .float32($0) }), types.allSatisfy({ $0.shape.count < 100_000 }) else {
                    continue
                }
                let inputs = try shapes.map { try random.tensor($0, .integers(-1...1)) }
                // Those that read indices or lengths may still refuse their values.
                guard let results = try? op.evaluate(inputs) else {
                    let readers: Set = ["Gather", "GatherAlongAxis", "GatherND", "Scatter", "ReverseSequence", "CropResize"]
                    XCTAssertTrue(readers.contains(golden.kind), golden.kind)
                    continue
                }
                XCTAssertEqual(results.map(\.type), types, "\(op) of \(shapes)")
                accepted += 1
            }
        }
        XCTAssertGreaterThan(accepted, 500)
    }
}
