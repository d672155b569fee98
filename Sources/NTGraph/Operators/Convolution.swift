import NTTensor

/// Two-dimensional cross-correlation with an epilogue: `activation(x * w + bias + residual)`.
///
/// Inputs: x [N, C, H, W]; w [O, C / groups, KH, KW]; then bias [O] when `hasBias`; then residual [N, O, OH, OW] when `hasResidual`.
/// Output: [N, O, OH, OW] with OH = floor((H + top + bottom - ((KH - 1) dilation + 1)) / stride) + 1.
package struct Convolution: Operator, Hashable {
    package var strides: Size2D
    package var dilations: Size2D
    package var padding: Padding2D
    package var groups: Int
    package var hasBias: Bool
    package var hasResidual: Bool
    package var activation: UnaryFunction

    package init(
        strides: Size2D = .one, dilations: Size2D = .one, padding: Padding2D = .zero, groups: Int = 1,
        hasBias: Bool = false, hasResidual: Bool = false, activation: UnaryFunction = .identity
    ) {
        (self.strides, self.dilations, self.padding, self.groups) = (strides, dilations, padding, groups)
        (self.hasBias, self.hasResidual, self.activation) = (hasBias, hasResidual, activation)
    }

    /// The index of the residual among the inputs.
    package var residualIndex: Int? { hasResidual ? (hasBias ? 3 : 2) : nil }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        let count = 2 + (hasBias ? 1 : 0) + (hasResidual ? 1 : 0)
        try OperatorError.requireCount(inputs, count...count)
        let (x, w) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(x.rank == 4, "expected an input of rank 4 (N C H W), found \(x)")
        try OperatorError.require(w.rank == 4, "expected weights of rank 4 (O C/groups KH KW), found \(w)")
        try OperatorError.require(
            groups >= 1 && x[1] % groups == 0 && w[0] % groups == 0,
            "\(groups) groups do not divide \(x[1]) input and \(w[0]) output channels")
        try OperatorError.require(
            w[1] == x[1] / groups, "expected weights for \(x[1] / groups) channels a group, found \(w[1])")
        let height = try Window.outputExtent(
            input: x[2], kernel: w[2], stride: strides.height, dilation: dilations.height, before: padding.top,
            after: padding.bottom, axis: "height")
        let width = try Window.outputExtent(
            input: x[3], kernel: w[3], stride: strides.width, dilation: dilations.width, before: padding.left,
            after: padding.right, axis: "width")
        let output = Shape([x[0], w[0], height, width])
        if hasBias {
            try OperatorError.require(inputs[2].shape == [w[0]], "expected \(w[0]) biases, found \(inputs[2].shape)")
        }
        if let index = residualIndex {
            try OperatorError.require(
                inputs[index].shape == output, "expected a residual of shape \(output), found \(inputs[index].shape)")
        }
        return [.float32(output)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        SaturatingArithmetic.product(2, outputs[0].shape.count, inputs[1].shape.dims[1...].reduce(1, *))
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (x, w) = (inputs[0].floats, inputs[1].floats)
        let (xs, ws) = (inputs[0].shape, inputs[1].shape)
        let perGroup = ws[0] / groups
        let result = try Tensor(float32: output) { target in
            var element = 0
            for n in 0..<output[0] {
                for o in 0..<output[1] {
                    let firstChannel = o / perGroup * ws[1]
                    let bias = hasBias ? Double(inputs[2].floats[o]) : 0
                    for oy in 0..<output[2] {
                        for ox in 0..<output[3] {
                            var sum = bias
                            for c in 0..<ws[1] {
                                let plane = (n * xs[1] + firstChannel + c) * xs[2]
                                let kernel = (o * ws[1] + c) * ws[2]
                                for ky in 0..<ws[2] {
                                    let y = oy * strides.height - padding.top + ky * dilations.height
                                    if y < 0 || y >= xs[2] { continue }
                                    for kx in 0..<ws[3] {
                                        let column = ox * strides.width - padding.left + kx * dilations.width
                                        if column < 0 || column >= xs[3] { continue }
                                        sum += Double(x[(plane + y) * xs[3] + column]) * Double(w[(kernel + ky) * ws[3] + kx])
                                    }
                                }
                            }
                            if let index = residualIndex { sum += Double(inputs[index].floats[element]) }
                            target[element] = Float(activation.evaluate(sum))
                            element += 1
                        }
                    }
                }
            }
        }
        return [result]
    }
}
