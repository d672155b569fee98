import NTTensor

/// A convolution or dense layer with constant weights, in double precision, for folding affine functions into it.
struct WeightedLayer {
    private let node: Node
    private let shape: Shape
    private let inputRank: Int
    private var weights: [Double]
    /// One number per output channel, or nil when the layer has no bias.
    private var bias: [Double]?
    /// Inputs after weights and bias: the residual.
    private let others: [ValueID]

    /// Nil unless the node is such a layer whose bias is constant as well and, unless `allowsEpilogue`, nothing happens after the bias.
    init?(_ node: Node, _ rewriter: Rewriter, allowsEpilogue: Bool = false) {
        let (hasBias, activation, hasResidual): (Bool, UnaryFunction, Bool)
        switch node.op {
        case let op as Convolution: (hasBias, activation, hasResidual) = (op.hasBias, op.activation, op.hasResidual)
        case let op as ConvolutionTranspose: (hasBias, activation, hasResidual) = (op.hasBias, op.activation, false)
        case let op as Dense: (hasBias, activation, hasResidual) = (op.hasBias, op.activation, false)
        default: return nil
        }
        guard allowsEpilogue || (activation == .identity && !hasResidual), let tensor = rewriter.constant(node.inputs[1]) else {
            return nil
        }
        if hasBias {
            guard let constant = rewriter.constant(node.inputs[2]) else { return nil }
            bias = constant.floats.map { Double($0) }
        }
        self.node = node
        shape = tensor.shape
        inputRank = rewriter.shape(node.inputs[0]).rank
        weights = tensor.floats.map { Double($0) }
        others = Array(node.inputs.dropFirst(hasBias ? 3 : 2))
    }

    /// The layer with `affine` applied to its result, or nil when that cannot be folded.
    func followed(by affine: Affine) -> WeightedLayer? {
        guard affine.axis == nil || affine.axis == channelAxis else { return nil }
        var result = self
        var biases = bias ?? [Double](repeating: 0, count: outputChannels)
        forEachKernel { output, _, kernel in
            let scale = affine.values(at: output).scale
            for index in kernel { result.weights[index] *= scale }
        }
        for output in biases.indices {
            let (scale, shift) = affine.values(at: output)
            biases[output] = biases[output] * scale + shift
        }
        if bias != nil || affine.hasBias { result.bias = biases }
        return result.isFinite ? result : nil
    }

    /// The layer with `affine` applied to its input, or nil when that cannot be folded exactly.
    func preceded(by affine: Affine) -> WeightedLayer? {
        guard affine.axis == nil || affine.axis == channelAxis, !affine.hasBias || seesWholeInputAlways else { return nil }
        var result = self
        var biases = bias ?? [Double](repeating: 0, count: outputChannels)
        forEachKernel { output, input, kernel in
            let (scale, shift) = affine.values(at: input)
            for index in kernel {
                biases[output] += shift * weights[index]
                result.weights[index] *= scale
            }
        }
        if bias != nil || affine.hasBias { result.bias = biases }
        return result.isFinite ? result : nil
    }

    /// Puts the layer in the place of the node at `index`. `activation` replaces the layer's own unless it is nil.
    func store(_ rewriter: inout Rewriter, _ index: Int, input: ValueID, activation: UnaryFunction?, name: String) throws {
        let tensor = try Tensor(float32: shape) { target in
            for index in weights.indices { target[index] = Float(weights[index]) }
        }
        var inputs = [input, rewriter.addConstant(tensor, name: name)]
        if let bias { inputs.append(try rewriter.addConstant(bias, name: name)) }
        rewriter.replace(index, op: finished(activation), inputs: inputs + others, name: name)
    }

    private func finished(_ activation: UnaryFunction?) -> any Operator {
        switch node.op {
        case var op as Convolution:
            op.hasBias = bias != nil
            op.activation = activation ?? op.activation
            return op
        case var op as ConvolutionTranspose:
            op.hasBias = bias != nil
            op.activation = activation ?? op.activation
            return op
        case var op as Dense:
            op.hasBias = bias != nil
            op.activation = activation ?? op.activation
            return op
        default: return node.op
        }
    }

    /// The axis of channels or features, in the input and in the output.
    private var channelAxis: Int { node.op is Dense ? inputRank - 1 : 1 }

    private var outputChannels: Int {
        guard let op = node.op as? ConvolutionTranspose else { return shape[0] }
        return shape[1] * op.groups
    }

    /// Whether each output is a sum over every weight of its kernel: no padding and no edges.
    private var seesWholeInputAlways: Bool {
        switch node.op {
        case let op as Convolution: op.padding.isZero
        case is Dense: true
        default: false
        }
    }

    private var isFinite: Bool {
        weights.allSatisfy { Float($0).isFinite } && (bias ?? []).allSatisfy { Float($0).isFinite }
    }

    /// Calls `body(output channel, input channel, places in weights)` for each kernel of H x W weights, one weight in a dense layer.
    private func forEachKernel(_ body: (Int, Int, Range<Int>) -> Void) {
        let taps = shape.dims.dropFirst(2).reduce(1, *)
        for first in 0..<shape[0] {
            for second in 0..<shape[1] {
                let (output, input) = channels(first, second)
                let start = (first * shape[1] + second) * taps
                body(output, input, start..<(start + taps))
            }
        }
    }

    /// The output and input channel of a place in the first two dimensions of the weights.
    private func channels(_ first: Int, _ second: Int) -> (output: Int, input: Int) {
        switch node.op {
        case let op as Convolution: (first, first / (shape[0] / op.groups) * shape[1] + second)
        case let op as ConvolutionTranspose: (first / (shape[0] / op.groups) * shape[1] + second, first)
        default: (first, second)
        }
    }
}
