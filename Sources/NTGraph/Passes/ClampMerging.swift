/// Gives functions of one number their plainest form and merges clamps: ReLU, clip, threshold, minimum and maximum in a row become one,
/// also between two negations, as converters write ReLU6.
package struct ClampMerging: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            guard let op = node.op as? Unary else { return false }
            let plain = op.function.plainest
            if plain != op.function {
                rewriter.replace(index, op: Unary(plain), inputs: node.inputs)
                return true
            }
            if op.function == .linear(-1, 0), let clamp = rewriter.soleUnary(of: node.inputs[0]),
                let bounds = clamp.function.soundClampBounds, let negation = rewriter.soleUnary(of: clamp.input),
                negation.function == .linear(-1, 0) || negation.function == .negate, bounds.lower <= bounds.upper
            {
                let mirrored = UnaryFunction.clip(-bounds.upper, -bounds.lower).plainest
                rewriter.replace(index, op: Unary(mirrored), inputs: [negation.input])
                return true
            }
            guard let inner = rewriter.soleUnary(of: node.inputs[0]), let merged = op.function.clamp(after: inner.function) else {
                return false
            }
            rewriter.replace(index, op: Unary(merged), inputs: [inner.input])
            return true
        }
    }
}

extension UnaryFunction {
    /// `clampBounds`, unless one of them is NaN or the function is the identity.
    var soundClampBounds: (lower: Float, upper: Float)? {
        guard self != .identity, let bounds = clampBounds, !bounds.lower.isNaN, !bounds.upper.isNaN else { return nil }
        return bounds
    }

    /// The one clamp that does what `self` does to the result of `inner`, when both are clamps. NaN passes all of them.
    func clamp(after inner: UnaryFunction) -> UnaryFunction? {
        guard let first = inner.soundClampBounds, let second = soundClampBounds else { return nil }
        func clamped(_ value: Float) -> Float { max(second.lower, min(second.upper, value)) }
        // With crossed bounds the inner clamp gives its lower bound always.
        return UnaryFunction.clip(clamped(first.lower), clamped(max(first.lower, first.upper))).plainest
    }

    /// The same function in the form that passes and backends look for.
    var plainest: UnaryFunction {
        switch self {
        case .clip(let lower, .infinity): lower == 0 ? .relu : lower == -.infinity ? .identity : .threshold(lower)
        case .threshold(let lower): lower == 0 ? .relu : lower == -.infinity ? .identity : self
        case .negate: .linear(-1, 0)
        case .power(2): .square
        case .power(1), .leakyReLU(1): .identity
        case .scaledTanh(1, 1): .tanh
        default: self
        }
    }
}
