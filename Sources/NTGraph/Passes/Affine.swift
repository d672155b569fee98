import NTTensor

/// `x * scale + bias` with known numbers, in double precision: the same for all elements, or per index along an axis.
struct Affine {
    /// The axis along which the numbers differ, counted from the front; nil when there is one of each.
    var axis: Int?
    var scales: [Double]
    var biases: [Double]

    init(axis: Int?, scales: [Double], biases: [Double]) { (self.axis, self.scales, self.biases) = (axis, scales, biases) }

    /// What a node computes before its activation, when it is a linear function or a `ChannelAffine` of constants.
    init?(_ node: Node, _ rewriter: Rewriter) {
        switch node.op {
        case let op as Unary:
            guard case .linear(let alpha, let beta) = op.function else { return nil }
            self.init(axis: nil, scales: [Double(alpha)], biases: [Double(beta)])
        case let op as ChannelAffine:
            guard let scale = rewriter.constant(node.inputs[1]), let bias = rewriter.constant(node.inputs[2]),
                let axis = try? OperatorError.normalizedAxis(op.axis, rank: rewriter.shape(node.inputs[0]).rank)
            else { return nil }
            self.init(axis: axis, scales: scale.floats.map { Double($0) }, biases: bias.floats.map { Double($0) })
        default: return nil
        }
    }

    /// The activation that a node applies after its affine function.
    static func activation(of node: Node) -> UnaryFunction { (node.op as? ChannelAffine)?.activation ?? .identity }

    var hasBias: Bool { biases.contains { $0 != 0 } }

    /// The numbers for one index along the axis.
    func values(at index: Int) -> (scale: Double, bias: Double) {
        axis == nil ? (scales[0], biases[0]) : (scales[index], biases[index])
    }

    /// `self` after `inner`, or nil when they run along different axes or the numbers leave the range of float32.
    func after(_ inner: Affine) -> Affine? {
        guard axis == nil || inner.axis == nil || axis == inner.axis else { return nil }
        let count = axis == nil ? inner.scales.count : scales.count
        var result = Affine(axis: axis ?? inner.axis, scales: [], biases: [])
        for index in 0..<count {
            let (outer, first) = (values(at: index), inner.values(at: index))
            let (scale, bias) = (outer.scale * first.scale, outer.scale * first.bias + outer.bias)
            guard Affine.isRepresentable(scale), Affine.isRepresentable(bias) else { return nil }
            result.scales.append(scale)
            result.biases.append(bias)
        }
        return result
    }

    /// Whether rounding to float32 costs no more than the usual half unit: finite, and zero or normal.
    static func isRepresentable(_ value: Double) -> Bool {
        value == 0 || (value.isFinite && Float(abs(value)).isNormal)
    }
}
