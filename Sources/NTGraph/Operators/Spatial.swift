import NTTensor

/// Resizes the last two axes of x [..., H, W].
package struct Resize: Operator, Hashable {
    package enum Mode: String, Sendable, Hashable { case nearest, bilinear }

    /// Where output place i reads, for input extent n and output extent m.
    package enum Coordinates: Sendable, Hashable {
        /// i (n - 1) / (m - 1); the first and last elements map onto each other. 0 when m is 1.
        case alignCorners
        /// i n / m.
        case asymmetric
        /// (i + 1/2) n / m - 1/2, clamped to the input.
        case halfPixel
        /// i (n - n/m) / (m - 1), Core ML's default of resizing ("UPSAMPLE"); 0 when m is 1.
        case upsample
        /// i step + start along height and width, the same for every image.
        case explicit(startY: Float, stepY: Float, startX: Float, stepX: Float)
    }

    package var mode: Mode
    package var coordinates: Coordinates
    package var size: Size2D

    package init(_ mode: Mode, to size: Size2D, coordinates: Coordinates) {
        (self.mode, self.size, self.coordinates) = (mode, size, coordinates)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let shape = inputs[0].shape
        try OperatorError.require(
            shape.rank >= 2 && shape[shape.rank - 1] > 0 && shape[shape.rank - 2] > 0,
            "expected an input of rank 2 or more with pixels, found \(shape)")
        let limit = 1...Window.maximumExtent
        try OperatorError.require(limit.contains(size.height) && limit.contains(size.width), "size \(size) is out of range")
        if case .explicit(let startY, let stepY, let startX, let stepX) = coordinates {
            try OperatorError.require(
                [startY, stepY, startX, stepX].allSatisfy(\.isFinite), "coordinates \(coordinates) are not finite")
        }
        return [.float32(Shape(shape.dims.dropLast(2) + [size.height, size.width]))]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int {
        mode == .nearest ? 0 : 7 * outputs[0].shape.count
    }

    /// One axis of the map: for each output place the two input places it blends and the second one's weight.
    package func taps(input n: Int, output m: Int, vertical: Bool) -> [(low: Int, high: Int, weight: Double)] {
        (0..<m).map { i in
            let (place, extent, count) = (Double(i), Double(n), Double(m))
            var source: Double
            switch coordinates {
            case .alignCorners: source = m > 1 ? place * (extent - 1) / (count - 1) : 0
            case .asymmetric: source = place * extent / count
            case .halfPixel: source = (place + 0.5) * extent / count - 0.5
            case .upsample: source = m > 1 ? place * (extent - extent / count) / (count - 1) : 0
            case .explicit(let startY, let stepY, let startX, let stepX):
                source = vertical ? Double(startY) + place * Double(stepY) : Double(startX) + place * Double(stepX)
            }
            if mode == .nearest {
                // Half-pixel centres round down at ties, the others truncate, as the frameworks that define them do.
                let index: Double
                switch coordinates {
                case .halfPixel: index = (source + 0.5).rounded(.down)
                case .alignCorners: index = source.rounded()
                default: index = source.rounded(.down)
                }
                let clamped = Int(min(max(index, 0), extent - 1))
                return (clamped, clamped, 0)
            }
            source = min(max(source, 0), extent - 1)
            let low = Int(source)
            return (low, min(low + 1, n - 1), source - Double(low))
        }
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let shape = inputs[0].shape
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (height, width) = (shape[shape.rank - 2], shape[shape.rank - 1])
        let rows = taps(input: height, output: size.height, vertical: true)
        let columns = taps(input: width, output: size.width, vertical: false)
        let x = inputs[0].floats
        return [
            try Tensor(float32: output) { target in
                var element = 0
                for plane in 0..<(shape.count / (height * width)) {
                    for row in rows {
                        let (upper, lower) = ((plane * height + row.low) * width, (plane * height + row.high) * width)
                        for column in columns {
                            let top = Self.blend(x[upper + column.low], x[upper + column.high], column.weight)
                            let bottom = Self.blend(x[lower + column.low], x[lower + column.high], column.weight)
                            target[element] = Float(top + (bottom - top) * row.weight)
                            element += 1
                        }
                    }
                }
            }
        ]
    }

    private static func blend(_ a: Float, _ b: Float, _ weight: Double) -> Double {
        Double(a) + (Double(b) - Double(a)) * weight
    }
}

/// Moves blocks of pixels between space and channels, x [N, C, H, W].
package struct RearrangeBlocks: Operator, Hashable {
    package enum Mode: String, Sendable, Hashable {
        /// [N, C, H, W] to [N, C b^2, H/b, W/b]; the block's place is the slower part of the channel: (by b + bx) C + c.
        case spaceToDepth
        /// The inverse of `spaceToDepth`.
        case depthToSpace
        /// [N, C b^2, H, W] to [N, C, H b, W b]; the block's place is the faster part of the channel: c b^2 + by b + bx.
        case pixelShuffle
    }

    package var mode: Mode
    package var block: Int

    package init(_ mode: Mode, block: Int) { (self.mode, self.block) = (mode, block) }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 1...1)
        let x = inputs[0].shape
        try OperatorError.require(x.rank == 4, "expected an input of rank 4 (N C H W), found \(x)")
        try OperatorError.require((1...4096).contains(block), "block \(block) lies outside 1...4096")
        if mode == .spaceToDepth {
            try OperatorError.require(x[2] % block == 0 && x[3] % block == 0, "block \(block) does not divide \(x)")
            return [.float32([x[0], x[1] * block * block, x[2] / block, x[3] / block])]
        }
        try OperatorError.require(x[1] % (block * block) == 0, "block \(block) squared does not divide the channels of \(x)")
        return [.float32([x[0], x[1] / (block * block), x[2] * block, x[3] * block])]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 0 }

    /// The move as a reshape to rank 6, a transpose and a reshape.
    package func decomposition(of x: Shape) -> (expanded: Shape, permutation: [Int]) {
        let b = block
        switch mode {
        case .spaceToDepth: return ([x[0], x[1], x[2] / b, b, x[3] / b, b], [0, 3, 5, 1, 2, 4])
        case .depthToSpace: return ([x[0], b, b, x[1] / (b * b), x[2], x[3]], [0, 3, 4, 1, 5, 2])
        case .pixelShuffle: return ([x[0], x[1] / (b * b), b, b, x[2], x[3]], [0, 1, 4, 2, 5, 3])
        }
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let (expanded, permutation) = decomposition(of: inputs[0].shape)
        let moved = try Transpose(permutation).evaluate([try inputs[0].reshaped(expanded)])
        return [try moved[0].reshaped(output)]
    }
}
