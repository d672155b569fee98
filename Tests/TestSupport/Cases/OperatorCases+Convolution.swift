import NTGraph
import NTTensor

extension OperatorCases {
    /// A convolution case of integer data, so that results are exact. `x` and `w` are N C H W and O C/groups KH KW.
    private static func conv(
        _ x: Shape, _ w: Shape, stride: Int = 1, dilation: Int = 1, pad: Padding2D = .zero, groups: Int = 1,
        bias: Bool = true, residual: Bool = false, activation: UnaryFunction = .identity, constantWeights: Bool = true,
        constantBias: Bool = true, tolerance: Tolerance = .exact, fill: Fill = .integers(-3...3), note: String = ""
    ) -> OperatorCase {
        let op = Convolution(
            strides: Size2D(stride, stride), dilations: Size2D(dilation, dilation), padding: pad, groups: groups,
            hasBias: bias, hasResidual: residual, activation: activation)
        var operands = [Operand.input(x, fill), constantWeights ? .constant(w, fill) : .input(w, fill)]
        if bias { operands.append(constantBias ? .constant([w[0]], fill) : .input([w[0]], fill)) }
        let open = Convolution(strides: op.strides, dilations: op.dilations, padding: pad, groups: groups, hasBias: bias)
        if residual, let output = try? open.outputTypes(for: operands.map { .float32($0.shape) }) {
            operands.append(.input(output[0].shape, fill))
        }
        let name =
            "\(x) * \(w) s\(stride) d\(dilation) p\(pad) g\(groups)\(bias ? " bias" : "")\(residual ? " residual" : "")"
            + " \(activation)\(constantWeights ? "" : " variable weights")\(constantBias ? "" : " variable bias")\(note)"
        return OperatorCase(name, op, operands, tolerance: tolerance)
    }

    private static func pad(_ amount: Int) -> Padding2D { Padding2D(top: amount, left: amount, bottom: amount, right: amount) }

    /// Dense and grouped convolutions.
    package static let convolution: [OperatorCase] = {
        var cases: [OperatorCase] = []
        // Pointwise, around register tiles in every dimension.
        for (c, o, size) in [
            (1, 1, 1), (1, 3, 2), (3, 1, 5), (3, 5, 7), (7, 9, 6), (8, 8, 8), (15, 17, 7), (16, 16, 4), (16, 32, 14), (17, 33, 5),
            (31, 31, 3), (32, 64, 7), (33, 49, 9), (64, 65, 3), (65, 13, 13),
        ] {
            cases.append(conv([1, c, size, size], [o, c, 1, 1]))
        }
        cases.append(conv([1, 512, 1, 1], [40, 512, 1, 1]))
        cases.append(conv([1, 24, 28, 28], [32, 24, 1, 1], activation: .clip(0, 6)))
        cases.append(conv([1, 8, 9, 9], [8, 8, 1, 1], stride: 2))
        cases.append(conv([1, 8, 5, 5], [8, 8, 1, 1], pad: pad(1), note: " padded pointwise"))
        cases.append(conv([3, 9, 4, 5], [10, 9, 1, 1], note: " batch"))
        // Kernels, strides, dilations, paddings.
        for (c, o, size) in [(1, 1, 3), (1, 8, 9), (3, 16, 11), (4, 4, 4), (8, 16, 13), (16, 8, 14), (17, 19, 15), (32, 32, 8)] {
            cases.append(conv([1, c, size, size], [o, c, 3, 3], pad: pad(1)))
            cases.append(conv([1, c, size, size + 2], [o, c, 3, 3], stride: 2, pad: Padding2D(bottom: 1, right: 1)))
        }
        cases.append(conv([1, 3, 32, 32], [16, 3, 7, 7], stride: 2, pad: pad(3), activation: .relu, note: " stem"))
        cases.append(conv([1, 3, 33, 31], [16, 3, 3, 3], stride: 2, pad: Padding2D(bottom: 1, right: 1), note: " stem"))
        cases.append(conv([1, 3, 40, 40], [8, 3, 11, 11], stride: 4, pad: pad(2), note: " AlexNet stem"))
        cases.append(conv([1, 5, 9, 8], [6, 5, 1, 7], pad: Padding2D(left: 3, right: 3)))
        cases.append(conv([1, 5, 9, 8], [6, 5, 7, 1], pad: Padding2D(top: 3, bottom: 3)))
        cases.append(conv([1, 4, 8, 8], [6, 4, 5, 5], pad: pad(2)))
        cases.append(conv([1, 4, 8, 8], [6, 4, 2, 2], stride: 2))
        cases.append(conv([1, 4, 7, 9], [6, 4, 2, 3], pad: Padding2D(top: 2, left: 0, bottom: 1, right: 3)))
        cases.append(conv([1, 6, 12, 11], [7, 6, 3, 3], dilation: 2, pad: pad(2)))
        cases.append(conv([1, 3, 16, 16], [4, 3, 3, 3], stride: 2, dilation: 3, pad: pad(3)))
        cases.append(conv([1, 3, 10, 10], [4, 3, 2, 2], stride: 3))
        cases.append(conv([1, 2, 1, 1], [3, 2, 3, 3], pad: pad(1), note: " kernel larger than input"))
        cases.append(conv([1, 2, 2, 2], [3, 2, 3, 3], pad: pad(4), note: " windows wholly in padding"))
        cases.append(conv([1, 2, 1, 40], [3, 2, 1, 3], pad: Padding2D(left: 1, right: 1), note: " one row"))
        cases.append(conv([1, 2, 40, 1], [3, 2, 3, 1], note: " one column"))
        cases.append(conv([1, 8, 6, 6], [5, 8, 6, 6], note: " kernel equals input"))
        cases.append(conv([2, 3, 6, 7], [5, 3, 3, 3], pad: pad(1), note: " batch"))
        // Groups.
        cases.append(conv([1, 4, 6, 6], [6, 2, 3, 3], pad: pad(1), groups: 2))
        cases.append(conv([1, 12, 5, 5], [8, 3, 1, 1], groups: 4))
        cases.append(conv([2, 32, 7, 7], [64, 16, 3, 3], stride: 2, pad: pad(1), groups: 2, activation: .relu))
        cases.append(conv([1, 9, 5, 6], [12, 3, 3, 3], groups: 3, bias: false))
        cases += epilogues
        return cases
    }()

    /// Bias, residual and activation at the store; weights and biases that are no constants.
    private static var epilogues: [OperatorCase] {
        var cases: [OperatorCase] = []
        let activations: [UnaryFunction] = [
            .relu, .clip(0, 6), .clip(-1, 1), .leakyReLU(0.25), .sigmoid, .hardSigmoid(0.2, 0.5), .hardSwish, .silu, .tanh,
            .elu(0.5), .geluExact, .geluTanh, .linear(2, 1), .threshold(1),
        ]
        for activation in activations {
            cases.append(
                conv(
                    [1, 6, 7, 6], [9, 6, 3, 3], pad: pad(1), activation: activation, tolerance: .float32, fill: .uniform(-0.5...0.5)))
        }
        for residual in [false, true] {
            for bias in [false, true] {
                cases.append(conv([1, 6, 5, 5], [18, 6, 1, 1], bias: bias, residual: residual))
                cases.append(conv([1, 6, 5, 6], [7, 6, 3, 3], pad: pad(1), bias: bias, residual: residual, activation: .relu))
            }
        }
        cases.append(conv([1, 16, 7, 7], [33, 16, 1, 1], residual: true, activation: .clip(0, 6)))
        cases.append(
            conv([1, 4, 5, 5], [8, 4, 1, 1], residual: true, activation: .silu, tolerance: .float32, fill: .uniform(-1...1)))
        cases.append(conv([1, 4, 6, 6], [8, 4, 3, 3], constantWeights: false))
        cases.append(conv([1, 4, 6, 6], [8, 4, 1, 1], constantWeights: false, constantBias: false))
        cases.append(conv([1, 4, 6, 6], [8, 4, 3, 3], pad: pad(1), activation: .relu, constantBias: false))
        cases.append(
            conv(
                [1, 48, 9, 9], [24, 48, 3, 3], pad: pad(1), tolerance: Tolerance(relative: 2e-6, absolute: 5e-5), fill: .unit,
                note: " fractions"))
        return cases
    }

    /// One filter per channel, and a few.
    package static let depthwise: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for (channels, height, width) in [
            (1, 1, 1), (2, 3, 3), (3, 7, 5), (8, 8, 8), (15, 9, 7), (16, 14, 14), (17, 6, 19), (32, 7, 7), (33, 5, 33), (48, 4, 17),
        ] {
            let (x, w): (Shape, Shape) = ([1, channels, height, width], [channels, 1, 3, 3])
            cases.append(conv(x, w, pad: pad(1), groups: channels))
            cases.append(conv(x, w, stride: 2, pad: pad(1), groups: channels, activation: .clip(0, 6)))
            if height > 1 { cases.append(conv(x, w, stride: 2, pad: Padding2D(bottom: 1, right: 1), groups: channels, bias: false)) }
        }
        for kernel in [2, 5, 7] {
            cases.append(conv([1, 18, 11, 12], [18, 1, kernel, kernel], pad: pad(kernel / 2), groups: 18))
            cases.append(conv([1, 18, 13, 16], [18, 1, kernel, kernel], stride: 2, pad: pad(kernel / 2), groups: 18))
        }
        cases.append(conv([1, 16, 9, 9], [16, 1, 1, 1], groups: 16, note: " depthwise pointwise"))
        cases.append(conv([1, 16, 9, 10], [16, 1, 1, 5], pad: Padding2D(left: 2, right: 2), groups: 16))
        cases.append(conv([1, 16, 9, 10], [16, 1, 5, 1], pad: Padding2D(top: 2, bottom: 2), groups: 16))
        cases.append(conv([1, 20, 12, 12], [20, 1, 3, 3], dilation: 2, pad: pad(2), groups: 20))
        cases.append(conv([1, 16, 10, 10], [16, 1, 3, 3], groups: 16, note: " no padding"))
        cases.append(conv([1, 16, 2, 2], [16, 1, 5, 5], pad: pad(2), groups: 16, note: " kernel larger than input"))
        cases.append(conv([2, 10, 6, 5], [10, 1, 3, 3], pad: pad(1), groups: 10, note: " batch"))
        cases.append(conv([1, 8, 7, 7], [8, 1, 3, 3], stride: 3, groups: 8))
        cases.append(conv([1, 8, 7, 7], [16, 1, 3, 3], pad: pad(1), groups: 8, note: " multiplier 2"))
        cases.append(conv([1, 3, 9, 9], [12, 1, 3, 3], stride: 2, pad: pad(1), groups: 3, note: " multiplier 4"))
        cases.append(conv([1, 16, 7, 7], [16, 1, 3, 3], pad: pad(1), groups: 16, residual: true, activation: .relu))
        cases.append(conv([1, 8, 6, 6], [8, 1, 3, 3], pad: pad(1), groups: 8, constantWeights: false))
        cases.append(
            conv(
                [1, 24, 8, 8], [24, 1, 5, 5], pad: pad(2), groups: 24, activation: .hardSwish, tolerance: .float32,
                fill: .uniform(-0.5...0.5)))
        cases.append(
            conv([1, 24, 8, 8], [24, 1, 3, 3], pad: pad(1), groups: 24, activation: .silu, tolerance: .float32, fill: .uniform(-1...1)))
        return cases
    }()

    package static let convolutionTranspose: [OperatorCase] = {
        func make(
            _ x: Shape, _ w: Shape, stride: Int = 1, dilation: Int = 1, crop: Padding2D = .zero, extra: Int = 0, groups: Int = 1,
            bias: Bool = true, activation: UnaryFunction = .identity
        ) -> OperatorCase {
            let op = ConvolutionTranspose(
                strides: Size2D(stride, stride), dilations: Size2D(dilation, dilation), cropping: crop,
                outputPadding: Size2D(extra, extra), groups: groups, hasBias: bias, activation: activation)
            let operands: [Operand] = [.input(x, .integers(-3...3)), .constant(w, .integers(-3...3))]
            return OperatorCase(
                "\(x) * \(w) s\(stride) d\(dilation) c\(crop) e\(extra) g\(groups)\(bias ? " bias" : "") \(activation)", op,
                operands + (bias ? [.constant([w[1] * groups])] : []))
        }
        return [
            make([1, 1, 1, 1], [1, 1, 1, 1]), make([1, 3, 4, 5], [3, 2, 3, 3]), make([1, 8, 5, 5], [8, 4, 2, 2], stride: 2),
            make([1, 4, 6, 7], [4, 5, 3, 3], stride: 2, crop: pad(1), extra: 1, activation: .relu),
            make([2, 3, 4, 4], [3, 4, 4, 4], stride: 2, crop: pad(1), bias: false),
            make([1, 6, 5, 5], [6, 2, 3, 3], stride: 2, crop: Padding2D(top: 0, left: 1, bottom: 1, right: 0), groups: 2),
            make([1, 5, 5, 4], [5, 1, 4, 4], stride: 2, crop: pad(1), groups: 5),
            make([1, 3, 4, 4], [3, 3, 3, 3], stride: 3, dilation: 2, crop: pad(2)),
            make([1, 17, 3, 3], [17, 9, 1, 1], stride: 2), make([1, 2, 7, 1], [2, 3, 5, 1], crop: Padding2D(top: 2, bottom: 2)),
        ]
    }()
}
