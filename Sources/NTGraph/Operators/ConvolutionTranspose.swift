import NTTensor

/// Two-dimensional transposed convolution: each input element adds its kernel, times itself, to the output.
///
/// Inputs: x [N, C, H, W]; w [C, O / groups, KH, KW]; bias [O] when `hasBias`. The full extent is (H - 1) stride + K_eff;
/// `cropping` takes rows and columns off its edges, `outputPadding` adds zero ones at the bottom and the right before the bias.
package struct ConvolutionTranspose: Operator, Hashable {
    package var strides: Size2D
    package var dilations: Size2D
    package var cropping: Padding2D
    /// Rows and columns appended at the bottom and right (ONNX calls it output_padding).
    package var outputPadding: Size2D
    package var groups: Int
    package var hasBias: Bool
    package var activation: UnaryFunction

    package init(
        strides: Size2D = .one, dilations: Size2D = .one, cropping: Padding2D = .zero,
        outputPadding: Size2D = Size2D(0, 0), groups: Int = 1, hasBias: Bool = false,
        activation: UnaryFunction = .identity
    ) {
        (self.strides, self.dilations, self.cropping, self.outputPadding) = (strides, dilations, cropping, outputPadding)
        (self.groups, self.hasBias, self.activation) = (groups, hasBias, activation)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, hasBias ? 3...3 : 2...2)
        let (x, w) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(x.rank == 4 && w.rank == 4, "expected rank 4 inputs, found \(x) and \(w)")
        try OperatorError.require(
            (1...Shape.maximumCount).contains(groups) && x[1] % groups == 0 && w[0] == x[1],
            "expected weights for \(x[1]) channels in \(groups) groups, found \(w)")
        func extent(_ input: Int, _ kernel: Int, _ stride: Int, _ dilation: Int, _ before: Int, _ after: Int, _ extra: Int) throws -> Int {
            let limit = 1...Window.maximumExtent
            try OperatorError.require(
                limit.contains(input) && limit.contains(kernel) && limit.contains(stride) && limit.contains(dilation)
                    && (0...Window.maximumExtent).contains(extra),
                "input \(input), kernel \(kernel), stride \(stride), dilation \(dilation) must lie in \(limit)")
            let allowed = 0...Window.maximumExtent
            try OperatorError.require(
                allowed.contains(before) && allowed.contains(after), "cropping \(before), \(after) lies outside \(allowed)")
            let result = (input - 1) * stride + Window.coverage(kernel: kernel, dilation: dilation) - before - after + extra
            try OperatorError.require(result >= 1, "cropping \(before), \(after) leaves nothing of the output")
            return result
        }
        let height = try extent(
            x[2], w[2], strides.height, dilations.height, cropping.top, cropping.bottom, outputPadding.height)
        let width = try extent(
            x[3], w[3], strides.width, dilations.width, cropping.left, cropping.right, outputPadding.width)
        let channels = w[1] * groups
        if hasBias {
            try OperatorError.require(inputs[2].shape == [channels], "expected \(channels) biases, found \(inputs[2].shape)")
        }
        return [.float32([x[0], channels, height, width])]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        SaturatingArithmetic.product(2, inputs[0].shape.count, inputs[1].shape.dims[1...].reduce(1, *))
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        return [
            try Tensor(float32: output) { target in
                var element = 0
                for n in 0..<output[0] {
                    for o in 0..<output[1] {
                        let bias = hasBias ? Double(inputs[2].floats[o]) : 0
                        for oy in 0..<output[2] {
                            for ox in 0..<output[3] {
                                target[element] = Float(activation.evaluate(bias + sum(inputs, n, o, oy, ox)))
                                element += 1
                            }
                        }
                    }
                }
            }
        ]
    }

    /// What the input elements add to one output element.
    private func sum(_ inputs: [Tensor], _ n: Int, _ o: Int, _ oy: Int, _ ox: Int) -> Double {
        let (x, w) = (inputs[0].floats, inputs[1].floats)
        let (xs, ws) = (inputs[0].shape, inputs[1].shape)
        let perGroup = xs[1] / groups
        let (group, filter) = (o / ws[1], o % ws[1])
        var sum = 0.0
        for c in (group * perGroup)..<((group + 1) * perGroup) {
            for ky in 0..<ws[2] {
                let row = oy + cropping.top - ky * dilations.height
                guard row >= 0, row % strides.height == 0, row / strides.height < xs[2] else { continue }
                for kx in 0..<ws[3] {
                    let column = ox + cropping.left - kx * dilations.width
                    guard column >= 0, column % strides.width == 0, column / strides.width < xs[3] else { continue }
                    let value = x[((n * xs[1] + c) * xs[2] + row / strides.height) * xs[3] + column / strides.width]
                    sum += Double(value) * Double(w[((c * ws[1] + filter) * ws[2] + ky) * ws[3] + kx])
                }
            }
        }
        return sum
    }
}
