// How operators are kept: each attribute, once, in an order of its own. A change of it is a change of `CompiledLayout.version`.

extension Reshape {
    package static var blank: Self { Reshape([]) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.shape(&shape)
    }
}

extension Transpose {
    package static var blank: Self { Transpose([]) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&permutation)
    }
}

extension Concat {
    package static var blank: Self { Concat(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
    }
}

extension Split {
    package static var blank: Self { Split(axis: 0, sizes: []) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
        try coder.ints(&sizes)
    }
}

extension Slice {
    package static var blank: Self { Slice(begins: [], extents: [], strides: []) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&begins)
        try coder.ints(&extents)
        try coder.ints(&strides)
    }
}

extension Tile {
    package static var blank: Self { Tile([]) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&repeats)
    }
}

extension BroadcastTo {
    package static var blank: Self { BroadcastTo([]) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.shape(&shape)
    }
}

extension Reverse {
    package static var blank: Self { Reverse(axes: []) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.ints(&axes)
    }
}

extension Gather {
    package static var blank: Self { Gather(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
    }
}

extension Pad {
    package static var blank: Self { Pad(.replication, before: [], after: []) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.padMode(&mode)
        try coder.ints(&before)
        try coder.ints(&after)
    }
}

extension Resize {
    package static var blank: Self { Resize(.nearest, to: .one, coordinates: .asymmetric) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.choice(&mode)
        try coder.coordinates(&coordinates)
        try coder.size(&size)
    }
}

extension RearrangeBlocks {
    package static var blank: Self { RearrangeBlocks(.spaceToDepth, block: 1) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.choice(&mode)
        try coder.int(&block)
    }
}

extension CropResize {
    package static var blank: Self { CropResize(size: .one, sampling: .upsample, format: .cornersHeightFirst, isNormalized: false) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.size(&size)
        try coder.choice(&sampling)
        try coder.choice(&format)
        try coder.bool(&isNormalized)
        try coder.float(&spatialScale)
    }
}

extension GatherAlongAxis {
    package static var blank: Self { GatherAlongAxis(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
    }
}

extension GatherND {
    package static var blank: Self { GatherND() }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) {}
}

extension Scatter {
    package static var blank: Self { Scatter(.coordinates, mode: .update) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.addressing(&addressing)
        try coder.choice(&mode)
    }
}

extension CumulativeSum {
    package static var blank: Self { CumulativeSum(axis: 0) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&axis)
        try coder.bool(&isExclusive)
        try coder.bool(&isReversed)
    }
}

extension ReverseSequence {
    package static var blank: Self { ReverseSequence(batchAxis: 0, sequenceAxis: 1) }

    package mutating func codeAttributes(_ coder: inout AttributeCoder) throws {
        try coder.int(&batchAxis)
        try coder.int(&sequenceAxis)
    }
}
