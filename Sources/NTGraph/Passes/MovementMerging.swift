import NTTensor

/// Merges reshapes and transposes: two in a row become one, a transpose that moves only axes of extent 1 becomes a reshape,
/// an element-wise function steps before a reshape or transpose of what it could be fused into, and a flattening in another
/// order before a dense layer is moved into its weights.
package struct MovementMerging: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        try Rewriter.sweep(&graph) { rewriter, index, node in
            switch node.op {
            case let op as Reshape: Self.mergeReshape(&rewriter, index, node, op)
            case let op as Transpose: Self.mergeTranspose(&rewriter, index, node, op)
            case is Unary: try Self.stepBeforeMovement(&rewriter, index, node, affineAxis: nil)
            case let op as ChannelAffine: try Self.stepBeforeMovement(&rewriter, index, node, affineAxis: op.axis)
            case let op as Dense: try Self.moveOrderIntoWeights(&rewriter, index, node, op)
            default: false
            }
        }
    }

    private static func mergeReshape(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Reshape) -> Bool {
        guard let producer = rewriter.producer(of: node.inputs[0]), producer.op is Reshape else { return false }
        rewriter.replace(index, op: op, inputs: producer.inputs)
        return true
    }

    private static func mergeTranspose(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Transpose) -> Bool {
        let shape = rewriter.shape(node.inputs[0])
        // Axes that matter stay in order: no element moves.
        let moved = op.permutation.filter { shape[$0] != 1 }
        if moved == moved.sorted() {
            rewriter.replace(index, op: Reshape(rewriter.shape(node.outputs[0])), inputs: node.inputs)
            return true
        }
        guard let producer = rewriter.producer(of: node.inputs[0]), let first = producer.op as? Transpose else { return false }
        rewriter.replace(index, op: Transpose(op.permutation.map { first.permutation[$0] }), inputs: producer.inputs)
        return true
    }

    /// f(reshape(x)) becomes reshape(f(x)), so that f meets the convolution or dense layer that computes x.
    private static func stepBeforeMovement(
        _ rewriter: inout Rewriter, _ index: Int, _ node: Node, affineAxis: Int?
    ) throws -> Bool {
        guard let movement = rewriter.soleProducer(of: node.inputs[0]), movement.op is Reshape || movement.op is Transpose else {
            return false
        }
        let source = movement.inputs[0]
        guard let maker = rewriter.soleProducer(of: source),
            maker.op is Convolution || maker.op is ConvolutionTranspose || maker.op is Dense || maker.op is Binary
                || maker.op is ChannelAffine || maker.op is Unary
        else { return false }
        var op = node.op
        if let affineAxis, var affine = node.op as? ChannelAffine {
            let (before, after) = (rewriter.shape(source), rewriter.shape(node.inputs[0]))
            guard let axis = try sameAxis(affineAxis, of: after, in: before, movement.op) else { return false }
            affine.axis = axis
            op = affine
        }
        guard let output = try rewriter.insert(before: index, op: op, inputs: [source] + node.inputs.dropFirst(), name: node.name)
        else { return false }
        rewriter.replace(index, op: movement.op, inputs: [output], name: movement.name)
        return true
    }

    /// The axis before a movement whose index is that of `axis` after it, or nil.
    private static func sameAxis(_ axis: Int, of after: Shape, in before: Shape, _ movement: any Operator) throws -> Int? {
        let axis = try OperatorError.normalizedAxis(axis, rank: after.rank)
        if let transpose = movement as? Transpose { return transpose.permutation[axis] }
        let (outer, extent, _) = StridedLoop.split(after, axis: axis)
        return before.dims.indices.first { candidate in
            before[candidate] == extent && StridedLoop.split(before, axis: candidate).outer == outer
        }
    }

    /// dense(reshape(transpose(x))) becomes dense(reshape(x)) with the weights' columns reordered.
    private static func moveOrderIntoWeights(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Dense) throws -> Bool {
        guard let weights = rewriter.constant(node.inputs[1]), let flatten = rewriter.soleProducer(of: node.inputs[0]),
            let reshape = flatten.op as? Reshape, let producer = rewriter.soleProducer(of: flatten.inputs[0]),
            let transpose = producer.op as? Transpose, transpose.permutation.first == 0
        else { return false }
        let source = rewriter.shape(producer.inputs[0])
        let inner = Shape(Array(source.dims.dropFirst()))
        guard reshape.shape.dims == [source[0], inner.count], inner.count > 0 else { return false }
        // Weights seen as [O, moved axes...] go back to [O, axes...].
        let order = transpose.permutation.dropFirst().map { $0 - 1 }
        let movedShape = Shape([weights.shape[0]] + order.map { inner[$0] })
        var back = [Int](repeating: 0, count: inner.rank + 1)
        for (place, axis) in order.enumerated() { back[axis + 1] = place + 1 }
        let reordered = try Transpose(back).evaluate([try weights.reshaped(movedShape)])[0].reshaped(weights.shape)
        guard let flat = try rewriter.insert(before: index, op: reshape, inputs: producer.inputs, name: flatten.name) else {
            return false
        }
        let constant = rewriter.addConstant(reordered, name: node.name)
        rewriter.replace(index, op: op, inputs: [flat, constant] + node.inputs.dropFirst(2))
        return true
    }
}
