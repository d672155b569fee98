// How operators are kept: each attribute, once, in an order of its own. A change of it is a change of `CompiledLayout.version`.

extension Convolution {
    package static var blank: Self { Convolution() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.size(&strides)
        try coder.size(&dilations)
        try coder.padding(&padding)
        try coder.int(&groups)
        try coder.bool(&hasBias)
        try coder.bool(&hasResidual)
        try coder.function(&activation)
    }
}

extension ConvolutionTranspose {
    package static var blank: Self { ConvolutionTranspose() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.size(&strides)
        try coder.size(&dilations)
        try coder.padding(&cropping)
        try coder.size(&outputPadding)
        try coder.int(&groups)
        try coder.bool(&hasBias)
        try coder.function(&activation)
    }
}

extension Dense {
    package static var blank: Self { Dense() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.bool(&hasBias)
        try coder.function(&activation)
    }
}

extension MatMul {
    package static var blank: Self { MatMul() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.bool(&transposeA)
        try coder.bool(&transposeB)
    }
}

extension Unary {
    package static var blank: Self { Unary(.identity) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.function(&function)
    }
}

extension Binary {
    package static var blank: Self { Binary(.add) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.choice(&function)
        try coder.function(&activation)
    }
}

extension Select {
    package static var blank: Self { Select() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) {}
}

extension ChannelAffine {
    package static var blank: Self { ChannelAffine(axis: 1) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
        try coder.function(&activation)
    }
}

extension PReLU {
    package static var blank: Self { PReLU(axis: 1) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
    }
}

extension Softmax {
    package static var blank: Self { Softmax(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
        try coder.bool(&isLog)
    }
}

extension LocalResponseNormalization {
    package static var blank: Self { LocalResponseNormalization(size: 1, alpha: 1, beta: 1, k: 1) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&size)
        try coder.float(&alpha)
        try coder.float(&beta)
        try coder.float(&k)
    }
}

extension MeanVarianceNormalization {
    package static var blank: Self { MeanVarianceNormalization(axes: [], epsilon: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&axes)
        try coder.bool(&normalizesVariance)
        try coder.float(&epsilon)
        try coder.bool(&epsilonOutside)
    }
}

extension L2Normalization {
    package static var blank: Self { L2Normalization(axes: [], epsilon: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&axes)
        try coder.float(&epsilon)
    }
}

extension Pool {
    package static var blank: Self { Pool(.maximum, kernel: .one) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.choice(&function)
        try coder.size(&kernel)
        try coder.size(&strides)
        try coder.size(&dilations)
        try coder.padding(&padding)
        try coder.choice(&rounding)
        try coder.bool(&countsPadding)
    }
}

extension Reduce {
    package static var blank: Self { Reduce(.sum, axes: []) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.choice(&function)
        try coder.ints(&axes)
        try coder.bool(&keepsDimensions)
        try coder.float(&epsilon)
    }
}

extension ArgReduce {
    package static var blank: Self { ArgReduce(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.bool(&isMinimum)
        try coder.int(&axis)
        try coder.bool(&keepsDimension)
    }
}

extension TopK {
    package static var blank: Self { TopK(k: 1, axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&k)
        try coder.int(&axis)
        try coder.bool(&isSmallest)
    }
}
