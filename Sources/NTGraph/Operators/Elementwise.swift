import NTTensor

/// Applies a function to every element. Input and output: any shape.
package struct Unary: Operator, Hashable {
    package var function: UnaryFunction

    package init(_ function: UnaryFunction) { self.function = function }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        return [.float32(inputs[0].shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let x = inputs[0].floats
        return [
            try Tensor(float32: inputs[0].shape) { target in
                for index in 0..<x.count { target[index] = Float(function.evaluate(Double(x[index]))) }
            }
        ]
    }
}

/// Applies a function of two arguments with NumPy broadcasting, then an activation.
package struct Binary: Operator, Hashable {
    package var function: BinaryFunction
    package var activation: UnaryFunction

    package init(_ function: BinaryFunction, activation: UnaryFunction = .identity) {
        (self.function, self.activation) = (function, activation)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        guard let shape = Shape.broadcast(inputs[0].shape, inputs[1].shape) else {
            throw OperatorError("shapes \(inputs[0].shape) and \(inputs[1].shape) do not broadcast")
        }
        return [.float32(shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (a, b) = (inputs[0].floats, inputs[1].floats)
        return [
            try Tensor(float32: output) { target in
                StridedLoop.forEach(
                    output, inputs[0].shape.broadcastStrides(to: output), inputs[1].shape.broadcastStrides(to: output)
                ) { index, left, right in
                    target[index] = Float(activation.evaluate(function.evaluate(Double(a[left]), Double(b[right]))))
                }
            }
        ]
    }
}

/// `condition != 0 ? a : b` with NumPy broadcasting of the three inputs.
package struct Select: Operator, Hashable {
    package init() {}

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 3...3)
        guard let both = Shape.broadcast(inputs[1].shape, inputs[2].shape),
            let shape = Shape.broadcast(inputs[0].shape, both)
        else { throw OperatorError("shapes \(inputs.map(\.shape)) do not broadcast") }
        return [.float32(shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let condition = inputs[0].floats
        var taken = [Bool](repeating: false, count: output.count)
        StridedLoop.forEach(output, strides: inputs[0].shape.broadcastStrides(to: output)) { taken[$0] = condition[$1] != 0 }
        let (a, b) = (inputs[1].floats, inputs[2].floats)
        return [
            try Tensor(float32: output) { target in
                StridedLoop.forEach(
                    output, inputs[1].shape.broadcastStrides(to: output), inputs[2].shape.broadcastStrides(to: output)
                ) { target[$0] = taken[$0] ? a[$1] : b[$2] }
            }
        ]
    }
}

/// `activation(x * scale[c] + bias[c])` along one axis: batch normalisation, scale and bias layers, preprocessing.
///
/// Inputs: x [...]; scale [C]; bias [C], C being x's extent along `axis`.
package struct ChannelAffine: Operator, Hashable {
    package var axis: Int
    package var activation: UnaryFunction

    package init(axis: Int = 1, activation: UnaryFunction = .identity) { (self.axis, self.activation) = (axis, activation) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 3...3)
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let channels = inputs[0].shape[axis]
        try OperatorError.require(
            inputs[1].shape == [channels] && inputs[2].shape == [channels],
            "expected \(channels) scales and biases for \(inputs[0].shape), found \(inputs[1].shape) and \(inputs[2].shape)")
        return [.float32(inputs[0].shape)]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 2 * outputs[0].shape.count }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let (_, channels, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let (x, scale, bias) = (inputs[0].floats, inputs[1].floats, inputs[2].floats)
        return [
            try Tensor(float32: inputs[0].shape) { target in
                for index in 0..<x.count {
                    let c = index / inner % channels
                    target[index] = Float(activation.evaluate(Double(x[index]) * Double(scale[c]) + Double(bias[c])))
                }
            }
        ]
    }
}

/// `x < 0 ? slope[c] x : x` along one axis. Inputs: x [...]; slope [C].
package struct PReLU: Operator, Hashable {
    package var axis: Int

    package init(axis: Int = 1) { self.axis = axis }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        try OperatorError.require(
            inputs[1].shape == [inputs[0].shape[axis]],
            "expected \(inputs[0].shape[axis]) slopes for \(inputs[0].shape), found \(inputs[1].shape)")
        return [.float32(inputs[0].shape)]
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let axis = try OperatorError.normalizedAxis(axis, rank: inputs[0].shape.rank)
        let (_, channels, inner) = StridedLoop.split(inputs[0].shape, axis: axis)
        let (x, slope) = (inputs[0].floats, inputs[1].floats)
        return [
            try Tensor(float32: inputs[0].shape) { target in
                for index in 0..<x.count {
                    target[index] = x[index] < 0 ? Float(Double(x[index]) * Double(slope[index / inner % channels])) : x[index]
                }
            }
        ]
    }
}
