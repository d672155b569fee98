import NTTensor

/// Turns operators with constant operands into the special operators for that: arithmetic with a number or with one number per
/// channel into `Unary` and `ChannelAffine`, products with a constant matrix into `Dense`.
package struct ConstantOperands: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        try Rewriter.sweep(&graph) { rewriter, index, node in
            switch node.op {
            case let op as Binary: try Self.rewriteBinary(&rewriter, index, node, op)
            case let op as ChannelAffine: Self.rewriteUniform(&rewriter, index, node, op)
            case let op as MatMul: try Self.rewriteProduct(&rewriter, index, node, op)
            default: false
            }
        }
    }

    private static func rewriteBinary(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: Binary) throws -> Bool {
        guard op.activation == .identity else { return false }
        let output = rewriter.shape(node.outputs[0])
        for isLeft in [false, true] {
            let (variable, fixed) = isLeft ? (node.inputs[1], node.inputs[0]) : (node.inputs[0], node.inputs[1])
            guard let constant = rewriter.constant(fixed), rewriter.shape(variable) == output, output.count > 0 else { continue }
            if constant.count == 1 {
                guard let function = function(op.function, constant.floats[0], isLeft: isLeft) else { continue }
                rewriter.replace(index, op: Unary(function), inputs: [variable])
                return true
            }
            guard let axis = channelAxis(of: constant.shape, in: output),
                let affine = affine(op.function, constant.floats.map { Double($0) }, axis: axis, isLeft: isLeft)
            else { continue }
            let scale = try rewriter.addConstant(affine.scales, name: node.name)
            let bias = try rewriter.addConstant(affine.biases, name: node.name)
            rewriter.replace(index, op: ChannelAffine(axis: axis), inputs: [variable, scale, bias])
            return true
        }
        return false
    }

    /// The function of x that `f(x, number)`, or `f(number, x)`, is.
    private static func function(_ function: BinaryFunction, _ number: Float, isLeft: Bool) -> UnaryFunction? {
        if let affine = affine(function, [Double(number)], axis: nil, isLeft: isLeft) {
            return .linear(Float(affine.scales[0]), Float(affine.biases[0]))
        }
        switch function {
        case .maximum: return number.isNaN ? nil : .threshold(number)
        case .minimum: return number.isNaN ? nil : .clip(-.infinity, number)
        case .power: return isLeft ? nil : .power(number)
        case .divide: return isLeft && number == 1 ? .inverse(0) : nil
        default: return nil
        }
    }

    private static func affine(_ function: BinaryFunction, _ numbers: [Double], axis: Int?, isLeft: Bool) -> Affine? {
        let (ones, zeros) = ([Double](repeating: 1, count: numbers.count), [Double](repeating: 0, count: numbers.count))
        switch function {
        case .add: return Affine(axis: axis, scales: ones, biases: numbers)
        case .subtract:
            return isLeft
                ? Affine(axis: axis, scales: ones.map { -$0 }, biases: numbers)
                : Affine(axis: axis, scales: ones, biases: numbers.map { -$0 })
        case .multiply: return Affine(axis: axis, scales: numbers, biases: zeros)
        case .divide:
            guard !isLeft, numbers.allSatisfy({ $0 != 0 && Affine.isRepresentable(1 / $0) }) else { return nil }
            return Affine(axis: axis, scales: numbers.map { 1 / $0 }, biases: zeros)
        default: return nil
        }
    }

    /// The axis of `target` along which a constant of this shape varies, when it is one.
    private static func channelAxis(of shape: Shape, in target: Shape) -> Int? {
        let axes = shape.dims.indices.filter { shape[$0] != 1 }
        guard axes.count == 1, shape.rank <= target.rank else { return nil }
        return axes[0] + target.rank - shape.rank
    }

    /// A `ChannelAffine` whose numbers are all the same is a linear function.
    private static func rewriteUniform(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: ChannelAffine) -> Bool {
        guard op.activation == .identity, let scale = rewriter.constant(node.inputs[1])?.floats,
            let bias = rewriter.constant(node.inputs[2])?.floats, let first = scale.first, let firstBias = bias.first,
            scale.allSatisfy({ $0 == first }), bias.allSatisfy({ $0 == firstBias })
        else { return false }
        rewriter.replace(index, op: Unary(.linear(first, firstBias)), inputs: [node.inputs[0]])
        return true
    }

    private static func rewriteProduct(_ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ op: MatMul) throws -> Bool {
        guard !op.transposeA, let matrix = rewriter.constant(node.inputs[1]), matrix.shape.rank == 2 else { return false }
        // Dense weights are [O, K].
        let weights =
            op.transposeB
            ? node.inputs[1]
            : rewriter.addConstant(try Transpose([1, 0]).evaluate([matrix])[0], name: node.name)
        rewriter.replace(index, op: Dense(), inputs: [node.inputs[0], weights])
        return true
    }
}
