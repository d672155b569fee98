import NTTensor

/// A fully connected layer: `activation(x w^T + bias)`.
///
/// Inputs: x [..., K]; w [O, K]; bias [O] when `hasBias`. Output [..., O].
package struct Dense: Operator, Hashable {
    package var hasBias: Bool
    package var activation: UnaryFunction

    package init(hasBias: Bool = false, activation: UnaryFunction = .identity) {
        (self.hasBias, self.activation) = (hasBias, activation)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, hasBias ? 3...3 : 2...2)
        let (x, w) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(x.rank >= 1, "expected an input of rank 1 or more, found a scalar")
        try OperatorError.require(w.rank == 2, "expected weights of rank 2 (O K), found \(w)")
        try OperatorError.require(x[x.rank - 1] == w[1], "expected \(w[1]) input features, found \(x[x.rank - 1]) in \(x)")
        if hasBias {
            try OperatorError.require(inputs[2].shape == [w[0]], "expected \(w[0]) biases, found \(inputs[2].shape)")
        }
        return [.float32(Shape(x.dims.dropLast() + [w[0]]))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        SaturatingArithmetic.product(2, outputs[0].shape.count, inputs[1].shape[1])
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (x, w) = (inputs[0].floats, inputs[1].floats)
        let (features, depth) = (inputs[1].shape[0], inputs[1].shape[1])
        return [
            try Tensor(float32: output) { target in
                for index in 0..<output.count {
                    let (row, feature) = (index / features, index % features)
                    var sum = hasBias ? Double(inputs[2].floats[feature]) : 0
                    for k in 0..<depth { sum += Double(x[row * depth + k]) * Double(w[feature * depth + k]) }
                    target[index] = Float(activation.evaluate(sum))
                }
            }
        ]
    }
}
