import NTTensor

/// Two-dimensional pooling over x [N, C, H, W].
package struct Pool: Operator, Hashable {
    package enum Function: String, Sendable, Hashable {
        /// The largest value; padding never wins.
        case maximum
        case average
        /// The square root of the sum of squares.
        case l2
    }

    /// How the number of windows is rounded.
    package enum Rounding: String, Sendable, Hashable {
        case floor
        /// Core ML's includeLastPixel, as Caffe: rounded up, less one window when padding is present and the last would start in it.
        /// A window may then reach past the padded input; what lies past it is never counted.
        case ceilIncludingLastPixel
    }

    package var function: Function
    package var kernel: Size2D
    package var strides: Size2D
    package var dilations: Size2D
    package var padding: Padding2D
    package var rounding: Rounding
    /// Whether an average divides by the window's full extent inside the padded input, counting padding as zeros.
    package var countsPadding: Bool

    package init(
        _ function: Function, kernel: Size2D, strides: Size2D = .one, dilations: Size2D = .one,
        padding: Padding2D = .zero, rounding: Rounding = .floor, countsPadding: Bool = false
    ) {
        (self.function, self.kernel, self.strides, self.dilations) = (function, kernel, strides, dilations)
        (self.padding, self.rounding, self.countsPadding) = (padding, rounding, countsPadding)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let x = inputs[0].shape
        try OperatorError.require(x.rank == 4, "expected an input of rank 4 (N C H W), found \(x)")
        let height = try extent(
            x[2], kernel.height, strides.height, dilations.height, padding.top, padding.bottom, "height")
        let width = try extent(x[3], kernel.width, strides.width, dilations.width, padding.left, padding.right, "width")
        return [.float32([x[0], x[1], height, width])]
    }

    private func extent(
        _ input: Int, _ kernel: Int, _ stride: Int, _ dilation: Int, _ before: Int, _ after: Int, _ axis: String
    ) throws -> Int {
        try Window.require(kernel: kernel, stride: stride, dilation: dilation, before: before, after: after, axis: axis)
        let coverage = Window.coverage(kernel: kernel, dilation: dilation)
        let missing = rounding == .floor ? 0 : max(0, coverage - (input + before + after))
        let windows = try Window.outputExtent(
            input: input + missing, kernel: kernel, stride: stride, dilation: dilation, before: before, after: after,
            axis: axis)
        guard rounding == .ceilIncludingLastPixel else { return windows }
        var result = (max(0, input + before + after - coverage) + stride - 1) / stride + 1
        if before > 0 || after > 0, result > 1, (result - 1) * stride >= input + before { result -= 1 }
        return result
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        SaturatingArithmetic.product(outputs[0].shape.count, kernel.height, kernel.width)
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let xs = inputs[0].shape
        let x = inputs[0].floats
        return [
            try Tensor(float32: output) { target in
                var element = 0
                for plane in 0..<(output[0] * output[1]) {
                    for oy in 0..<output[2] {
                        for ox in 0..<output[3] {
                            target[element] = window(x, plane * xs[2] * xs[3], xs, oy, ox)
                            element += 1
                        }
                    }
                }
            }
        ]
    }

    private func window(_ x: UnsafeBufferPointer<Float>, _ base: Int, _ xs: Shape, _ oy: Int, _ ox: Int) -> Float {
        let (top, left) = (oy * strides.height - padding.top, ox * strides.width - padding.left)
        var (best, sum, squares) = (-Double.infinity, 0.0, 0.0)
        var (inside, padded) = (0, 0)
        for ky in 0..<kernel.height {
            let y = top + ky * dilations.height
            if y >= xs[2] + padding.bottom { continue }
            for kx in 0..<kernel.width {
                let column = left + kx * dilations.width
                if column >= xs[3] + padding.right { continue }
                padded += 1
                if y < 0 || y >= xs[2] || column < 0 || column >= xs[3] { continue }
                let value = Double(x[base + y * xs[3] + column])
                inside += 1
                sum += value
                squares += value * value
                if value > best || value.isNaN { best = value }
            }
        }
        switch function {
        case .maximum: return inside == 0 ? 0 : Float(best)
        case .average:
            let divisor = countsPadding ? padded : inside
            return divisor == 0 ? 0 : Float(sum / Double(divisor))
        case .l2: return Float(squares.squareRoot())
        }
    }
}
