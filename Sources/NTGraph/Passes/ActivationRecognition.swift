import NTTensor

/// Recognises activations that converters write out: SiLU, hard sigmoid, hard swish and GELU as products and sums.
package struct ActivationRecognition: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            switch node.op {
            case let op as Binary where op.function == .multiply && op.activation == .identity:
                return Self.rewriteProduct(&rewriter, index, node)
            case let op as Unary:
                guard case .linear(let alpha, let beta) = op.function else { return false }
                return Self.rewriteLinear(&rewriter, index, node, Double(alpha), Double(beta))
            default: return false
            }
        }
    }

    /// Equal but for the rounding of the constants.
    private static func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 2e-7 * max(1, abs(b)) }

    /// x * gate(x), in either order.
    private static func rewriteProduct(_ rewriter: inout Rewriter, _ index: Int, _ node: Node) -> Bool {
        for (x, other) in [(node.inputs[0], node.inputs[1]), (node.inputs[1], node.inputs[0])] where x != other {
            if let function = gated(&rewriter, x, other) {
                rewriter.replace(index, op: Unary(function), inputs: [x])
                return true
            }
            // (x / 2) * (1 + erf(x / sqrt 2))
            if let half = rewriter.soleUnary(of: x), case .linear(let alpha, 0) = half.function, isNear(Double(alpha), 0.5),
                let source = scaledErf(&rewriter, other, scale: 1, bias: 1), source == half.input
            {
                rewriter.replace(index, op: Unary(.geluExact), inputs: [source])
                return true
            }
        }
        return false
    }

    /// The function that x times `gate` is, when `gate` is a known function of x.
    private static func gated(_ rewriter: inout Rewriter, _ x: ValueID, _ gate: ValueID) -> UnaryFunction? {
        if scaledErf(&rewriter, gate, scale: 0.5, bias: 0.5) == x { return .geluExact }
        guard let outer = rewriter.soleUnary(of: gate) else { return nil }
        switch outer.function {
        case .sigmoid:
            if outer.input == x { return .silu }
            guard let inner = rewriter.soleUnary(of: outer.input), case .linear(let alpha, 0) = inner.function else { return nil }
            return inner.input == x && isNear(Double(alpha), 1.702) ? .geluSigmoid : nil
        case .hardSigmoid(let alpha, let beta):
            return outer.input == x && isNear(Double(alpha), 1.0 / 6) && isNear(Double(beta), 0.5) ? .hardSwish : nil
        default: return nil
        }
    }

    /// The x of `scale erf(x / sqrt 2) + bias`.
    private static func scaledErf(_ rewriter: inout Rewriter, _ id: ValueID, scale: Double, bias: Double) -> ValueID? {
        guard let outer = rewriter.soleUnary(of: id), case .linear(let alpha, let beta) = outer.function,
            isNear(Double(alpha), scale), isNear(Double(beta), bias), let erf = rewriter.soleUnary(of: outer.input),
            erf.function == .erf, let inner = rewriter.soleUnary(of: erf.input), case .linear(let factor, 0) = inner.function,
            isNear(Double(factor), 0.5.squareRoot())
        else { return nil }
        return inner.input
    }

    /// alpha y + beta, where y is a clamp of a linear function, or a product with one.
    private static func rewriteLinear(
        _ rewriter: inout Rewriter, _ index: Int, _ node: Node, _ alpha: Double, _ beta: Double
    ) -> Bool {
        // alpha clip(c x + d, lo, hi) + beta with the bounds going to 0 and 1.
        if let clamp = rewriter.soleUnary(of: node.inputs[0]), case .clip(let lower, let upper) = clamp.function,
            let inner = rewriter.soleUnary(of: clamp.input), case .linear(let scale, let shift) = inner.function, alpha > 0,
            isNear(alpha * Double(lower) + beta, 0), isNear(alpha * Double(upper) + beta, 1)
        {
            let function = UnaryFunction.hardSigmoid(Float(alpha * Double(scale)), Float(alpha * Double(shift) + beta))
            rewriter.replace(index, op: Unary(function), inputs: [inner.input])
            return true
        }
        guard beta == 0, let product = rewriter.soleProducer(of: node.inputs[0]), let op = product.op as? Binary,
            op.function == .multiply, op.activation == .identity
        else { return false }
        for (x, other) in [(product.inputs[0], product.inputs[1]), (product.inputs[1], product.inputs[0])] where x != other {
            if isNear(alpha, 0.5), scaledErf(&rewriter, other, scale: 1, bias: 1) == x {
                rewriter.replace(index, op: Unary(.geluExact), inputs: [x])
                return true
            }
            // x clip(x + 3, 0, 6) / 6
            if isNear(alpha, 1.0 / 6), let clamp = rewriter.soleUnary(of: other), clamp.function == .clip(0, 6),
                let shifted = rewriter.soleUnary(of: clamp.input), shifted.function == .linear(1, 3), shifted.input == x
            {
                rewriter.replace(index, op: Unary(.hardSwish), inputs: [x])
                return true
            }
        }
        return false
    }
}
