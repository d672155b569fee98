import NTGraph
import NTTensor
import TestSupport
import XCTest

/// ConstantFolding, DeadNodeElimination, IdentityElimination, MovementMerging, ReductionNormalization.
final class FoldingPassTests: PassTestCase {
    /// A graph whose builder would have folded: the constant is put in afterwards.
    private func graphWithConstantInput(_ body: (inout CaseBuilder, ValueID) throws -> Void) throws -> (Graph, [Tensor]) {
        var builder = CaseBuilder(name: "constant")
        let fixed = try builder.input([1, 2, 2, 2])
        try body(&builder, fixed)
        var graph = builder.graph
        graph[fixed].constant = builder.inputs[0]
        graph.inputs.removeFirst()
        return (graph, Array(builder.inputs.dropFirst()))
    }

    func testConstantsAreFolded() throws {
        let (graph, inputs) = try graphWithConstantInput { b, fixed in
            let x = try b.input([1, 2, 2, 2])
            try b.output(try b.add(Binary(.add), x, try b.add(Unary(.square), try b.add(Unary(.relu), fixed))))
        }
        var folded = graph
        XCTAssertTrue(try ConstantFolding().run(&folded))
        XCTAssertEqual(folded.kinds, ["Binary"])
        try assertSame(graph, folded, inputs: inputs, tolerance: .exact)
    }

    func testAConstantOutputKeepsANode() throws {
        let (graph, inputs) = try graphWithConstantInput { b, fixed in try b.output(try b.add(Unary(.square), fixed)) }
        var folded = graph
        XCTAssertTrue(try ConstantFolding().run(&folded))
        XCTAssertEqual(folded.operators(Unary.self), [Unary(.identity)])
        try assertSame(graph, folded, inputs: inputs, tolerance: .exact)
        XCTAssertFalse(try ConstantFolding().run(&folded))
    }

    func testAFailingConstantStays() throws {
        let (graph, _) = try graphWithConstantInput { b, fixed in
            let index = try b.input([1], .values([7]))
            try b.output(try b.add(Gather(axis: 3), fixed, index))
        }
        var folded = graph
        folded[folded.inputs[0]].constant = try Tensor([1], [7])
        folded.inputs.removeAll()
        XCTAssertFalse(try ConstantFolding().run(&folded))
        XCTAssertEqual(folded.kinds, ["Gather"])
    }

    func testDeadNodesAndConstantsGo() throws {
        let graph = try apply(DeadNodeElimination()) { b in
            let x = try b.input([2, 3])
            _ = try b.input([4])
            _ = try b.add(Unary(.exp), try b.add(Binary(.add), x, b.constant([3])))
            _ = try b.constant([1000])
            let parts = try b.apply(Split(axis: 1, sizes: [1, 2]), [x])
            try b.output(parts[1])
        }
        XCTAssertEqual(graph.kinds, ["Split"])
        XCTAssertEqual(graph.values.count, 4, "two inputs and two pieces")
        XCTAssertEqual(graph.inputs.count, 2, "an input that nothing reads stays")
    }

    func testIdentitiesGo() throws {
        let operators: [any NTGraph.Operator] = [
            Unary(.identity), Unary(.linear(1, 0)), Unary(.power(1)), Reshape([1, 4, 2, 2]), Transpose([0, 1, 2, 3]),
            Pad(.reflection, before: [0, 0, 0, 0], after: [0, 0, 0, 0]),
            Slice(begins: [0, 0, 0, 0], extents: [1, 4, 2, 2], strides: [7, 1, 1, 1]), Tile([1, 1, 1, 1]), Concat(axis: 2),
            Split(axis: 1, sizes: [4]), BroadcastTo([1, 4, 2, 2]), Reverse(axes: [0]),
            Resize(.bilinear, to: Size2D(2, 2), coordinates: .halfPixel), RearrangeBlocks(.pixelShuffle, block: 1),
            Pool(.maximum, kernel: .one), Reduce(.mean, axes: [0]),
        ]
        for op in operators {
            let graph = try apply(IdentityElimination()) { b in
                let x = try b.input([1, 4, 2, 2])
                try b.output(try b.add(Unary(.exp), try b.add(op, try b.add(Unary(.relu), x))))
            }
            XCTAssertEqual(graph.kinds, ["Unary", "Unary"], "\(op)")
        }
    }

    func testWhatOnlyLooksLikeAnIdentityStays() throws {
        let operators: [any NTGraph.Operator] = [
            Unary(.linear(1, 1)), Unary(.linear(-1, 0)), Unary(.relu), Reverse(axes: [1]), Transpose([0, 1, 3, 2]), Reduce(.l2, axes: [0]),
            Resize(.nearest, to: Size2D(2, 2), coordinates: .explicit(startY: 1, stepY: 0, startX: 0, stepX: 1)),
            Slice(begins: [0, 3, 0, 0], extents: [1, 4, 2, 2], strides: [1, -1, 1, 1]), Pool(.l2, kernel: .one),
        ]
        for op in operators {
            let graph = try apply(IdentityElimination()) { b in
                let x = try b.input([1, 4, 2, 2])
                try b.output(try b.add(op, try b.add(Unary(.exp), x)))
            }
            XCTAssertEqual(graph.kinds.count, 2, "\(op)")
        }
    }

    func testOutputsStayApartAndNamed() throws {
        let graph = try apply(IdentityElimination()) { b in
            let x = try b.input([2, 3])
            let y = try b.add(Unary(.exp), x)
            try b.output(try b.add(Unary(.identity), x))
            try b.output(try b.add(Unary(.identity), y))
            try b.output(try b.add(Reshape([2, 3]), y))
            try b.output(try b.add(Unary(.relu), y))
        }
        XCTAssertEqual(graph.kinds.count, 4, graph.dump())
        XCTAssertEqual(graph.outputs.map { graph[$0].name }, ["y0", "y1", "y2", "y3"])
    }

    func testAUnitAffineLeavesItsActivation() throws {
        let graph = try apply(IdentityElimination()) { b in
            let x = try b.input([1, 3, 2, 2])
            let op = ChannelAffine(activation: .relu)
            try b.output(try b.add(op, x, b.constant([3], .values([1])), b.constant([3], .values([0]))))
        }
        XCTAssertEqual(graph.operators(Unary.self), [Unary(.relu)])
    }

    func testEmptyPartsOfAConcatGo() throws {
        let graph = try apply(IdentityElimination()) { b in
            let x = try b.input([1, 3, 2, 2])
            let empty = try b.input([1, 0, 2, 2])
            try b.output(try b.add(Unary(.exp), try b.add(Concat(axis: 1), empty, x)))
        }
        XCTAssertEqual(graph.kinds, ["Unary"])
    }

    func testReshapesMerge() throws {
        let graph = try apply(MovementMerging(), DeadNodeElimination()) { b in
            let x = try b.input([2, 3, 4])
            let first = try b.add(Reshape([24]), x)
            try b.output(try b.add(Reshape([4, 6]), try b.add(Reshape([6, 4]), first)))
            try b.output(first)
        }
        XCTAssertEqual(graph.operators(Reshape.self), [Reshape([24]), Reshape([4, 6])])
        XCTAssertEqual(graph.nodes.map(\.inputs), [graph.inputs, graph.inputs], "both read the input")
    }

    func testTransposesMerge() throws {
        let there = try apply(MovementMerging(), IdentityElimination()) { b in
            let x = try b.input([2, 3, 4, 5], .counting)
            let y = try b.add(Transpose([0, 3, 1, 2]), try b.add(Transpose([0, 2, 3, 1]), try b.add(Unary(.relu), x)))
            try b.output(try b.add(Unary(.exp2), y))
        }
        XCTAssertEqual(there.kinds, ["Unary", "Unary"])
        let composed = try apply(MovementMerging()) { b in
            let x = try b.input([2, 3, 4, 5], .counting)
            try b.output(try b.add(Transpose([1, 3, 0, 2]), try b.add(Transpose([0, 2, 3, 1]), x)))
        }
        XCTAssertEqual(composed.operators(Transpose.self), [Transpose([2, 1, 0, 3])])
    }

    func testATransposeOfUnitAxesIsAReshape() throws {
        let graph = try apply(MovementMerging()) { b in
            let x = try b.input([1, 7, 1, 1], .counting)
            try b.output(try b.add(Transpose([0, 2, 3, 1]), x))
        }
        XCTAssertEqual(graph.operators(Reshape.self), [Reshape([1, 1, 1, 7])])
    }

    func testFunctionsStepBeforeMovements() throws {
        let graph = try optimize { b in
            let x = try b.input([2, 6])
            let dense = try b.add(Dense(), x, b.constant([5, 6]))
            let image = try b.add(Reshape([2, 5, 1, 1]), dense)
            let affine = try b.add(ChannelAffine(axis: 1), image, b.constant([5], .values([2, 1, -1])), b.constant([5]))
            try b.output(try b.add(Unary(.relu), affine))
        }
        XCTAssertEqual(graph.kinds, ["Dense", "Reshape"])
        XCTAssertEqual(graph.operators(Dense.self), [Dense(hasBias: true, activation: .relu)])
    }

    func testAFunctionStaysAfterAMovementThatOthersRead() throws {
        let graph = try optimize { b in
            let x = try b.input([2, 6])
            let image = try b.add(Reshape([2, 5, 1, 1]), try b.add(Dense(), x, b.constant([5, 6])))
            try b.output(try b.add(Unary(.relu), image))
            try b.output(image)
        }
        XCTAssertEqual(graph.kinds, ["Dense", "Reshape", "Unary"])
    }

    func testAFlatteningOrderMovesIntoTheWeights() throws {
        let graph = try apply(MovementMerging()) { b in
            let x = try b.input([2, 3, 4, 5])
            let flat = try b.add(Reshape([2, 60]), try b.add(Transpose([0, 2, 3, 1]), x))
            try b.output(try b.add(Dense(), flat, b.constant([7, 60])))
        }
        XCTAssertEqual(graph.kinds, ["Reshape", "Dense"])
        // Not when rows are mixed.
        let mixed = try apply(MovementMerging()) { b in
            let x = try b.input([2, 3, 4, 5])
            let flat = try b.add(Reshape([3, 40]), try b.add(Transpose([1, 0, 2, 3]), x))
            try b.output(try b.add(Dense(), flat, b.constant([7, 40])))
        }
        XCTAssertEqual(mixed.kinds, ["Transpose", "Reshape", "Dense"])
    }

    func testMeansOverImagesHaveOneForm() throws {
        let normal = Reduce(.mean, axes: [2, 3])
        let forms: [(any NTGraph.Operator, [String])] = [
            (Pool(.average, kernel: Size2D(3, 4), strides: Size2D(3, 4)), ["Reduce"]),
            (Pool(.average, kernel: Size2D(3, 4), countsPadding: true), ["Reduce"]),
            (Reduce(.mean, axes: [-1, -2]), ["Reduce"]), (Reduce(.mean, axes: [3, 2], keepsDimensions: false), ["Reduce", "Reshape"]),
        ]
        for (op, kinds) in forms {
            let graph = try apply(ReductionNormalization()) { b in
                let x = try b.input([2, 5, 3, 4], .counting)
                try b.output(try b.add(op, x))
            }
            XCTAssertEqual(graph.kinds, kinds, "\(op)")
            XCTAssertEqual(graph.operators(Reduce.self), [normal], "\(op)")
        }
    }

    func testOtherReductionsKeepTheirForm() throws {
        let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
        let others: [any NTGraph.Operator] = [
            Pool(.average, kernel: Size2D(3, 4), padding: one), Pool(.maximum, kernel: Size2D(3, 4)), Pool(.average, kernel: Size2D(3, 3)),
            Pool(.average, kernel: Size2D(3, 4), strides: .one, padding: Padding2D(bottom: 1)), Reduce(.sum, axes: [2, 3]), Reduce(.mean, axes: [1]),
        ]
        for op in others {
            let graph = try apply(ReductionNormalization()) { b in try b.output(try b.add(op, b.input([2, 5, 3, 4]))) }
            XCTAssertEqual(graph.kinds, [op.kind])
            XCTAssertEqual(graph.nodes[0].op.attributeText, op.attributeText)
        }
    }

    func testAReductionOfUnitAxesIsAReshape() throws {
        let graph = try apply(ReductionNormalization()) { b in
            try b.output(try b.add(Reduce(.maximum, axes: [2, 3], keepsDimensions: false), b.input([2, 5, 1, 1])))
        }
        XCTAssertEqual(graph.kinds, ["Reshape"])
    }
}
