import NTGraph
import NTTensor

// Layers over volumes [N, C, D, H, W], as image operators: the depths stand among the images or the channels, and windows along the
// depth are combined from images at several depths.
extension NeuralNetworkImporter {
    /// Windows along depth, height and width.
    private struct VolumeWindow {
        var kernel: [Int]
        var strides: [Int]
        var dilations: [Int]
        /// Before and after, for each axis.
        var padding: [(before: Int, after: Int)]

        var imagePadding: Padding2D {
            Padding2D(top: padding[1].before, left: padding[2].before, bottom: padding[1].after, right: padding[2].after)
        }
    }

    private func volume(_ blob: Blob) throws -> [Int] {
        try require(blob.rank == 5, "expected an input of rank 5 [N, C, D, H, W], found shape \(blob.dims)")
        return blob.dims
    }

    /// Reads a window. `padding` is the field of the padding's type (custom 0, valid 1, same 2); six amounts start at `amounts`.
    private func volumeWindow(
        _ dims: [Int], kernel: Int, strides: Int, dilations: Int?, padding: Int, amounts: Int
    ) throws -> VolumeWindow {
        func three(_ field: Int, _ name: String) throws -> [Int] {
            let values = try (0..<3).map { try parameters.int(field + $0) }
            let limit = 0...Window.maximumExtent
            try require(values.allSatisfy(limit.contains), "\(name) \(values) lies outside \(limit)")
            return values
        }
        let size = try three(kernel, "kernel")
        try require(size.allSatisfy { $0 >= 1 }, "expected a kernel of positive extents, found \(size)")
        let steps = try three(strides, "stride").map { max(1, $0) }
        let spread = try dilations.map { try three($0, "dilation").map { max(1, $0) } } ?? [1, 1, 1]
        var pads = [(before: 0, after: 0), (0, 0), (0, 0)]
        switch try parameters.int(padding) {
        case 0:
            let sides = try three(amounts, "padding") + three(amounts + 3, "padding")
            pads = (0..<3).map { (sides[2 * $0], sides[2 * $0 + 1]) }
        case 1: break
        case 2:
            pads = (0..<3).map {
                Window.samePadding(
                    input: dims[2 + $0], kernel: size[$0], stride: steps[$0], dilation: spread[$0], smallerLast: false)
            }
        case let other: throw failure("padding type \(other) is unknown")
        }
        return VolumeWindow(kernel: size, strides: steps, dilations: spread, padding: pads)
    }

    /// The sum, over the kernel's depths, of convolutions of the images that lie there.
    mutating func convolution3D() throws {
        let blob = try input()
        let dims = try volume(blob)
        if try parameters.bool(86) { throw unsupported("transposed convolutions over volumes are not supported") }
        let (outputs, groups) = (try parameters.int(1), max(1, try parameters.int(10)))
        try require(
            (1...Shape.maximumCount).contains(outputs) && groups <= dims[1] && dims[1] % groups == 0 && outputs % groups == 0,
            "\(groups) groups do not divide \(dims[1]) input and \(outputs) output channels")
        try check(2, "inputChannels", against: dims[1])
        let window = try volumeWindow(dims, kernel: 20, strides: 31, dilations: 40, padding: 70, amounts: 80)
        let w = try constant(try weights(60, "weights", [outputs, dims[1] / groups] + window.kernel))
        let bias = try parameters.bool(50) ? try constant(try weights(61, "bias", [outputs])) : nil
        let (front, back) = window.padding[0]
        let depth = try Window.outputExtent(
            input: dims[2], kernel: window.kernel[0], stride: window.strides[0], dilation: window.dilations[0], before: front,
            after: back, axis: "depth")
        var x = try add(Transpose([0, 2, 1, 3, 4]), try exact(blob))
        if front > 0 || back > 0 { x = try add(Pad(.constant(0), before: [0, front, 0, 0, 0], after: [0, back, 0, 0, 0]), x) }
        var sum: ValueID?
        for offset in 0..<window.kernel[0] {
            let images = try add(
                Slice(
                    begins: [0, offset * window.dilations[0], 0, 0, 0], extents: [dims[0], depth, dims[1], dims[3], dims[4]],
                    strides: [1, window.strides[0], 1, 1, 1]), x)
            let layer = try add(
                Slice(
                    begins: [0, 0, offset, 0, 0], extents: [outputs, dims[1] / groups, 1] + window.kernel[1...],
                    strides: [1, 1, 1, 1, 1]), w)
            var operands = [
                try reshape(images, [dims[0] * depth, dims[1], dims[3], dims[4]]),
                try reshape(layer, [outputs, dims[1] / groups] + window.kernel[1...]),
            ]
            if offset == 0, let bias { operands.append(bias) }
            let op = Convolution(
                strides: Size2D(window.strides[1], window.strides[2]), dilations: Size2D(window.dilations[1], window.dilations[2]),
                padding: window.imagePadding, groups: groups, hasBias: operands.count == 3)
            let part = try builder.apply(op, operands, layer: current.name)[0]
            if let before = sum { sum = try add(Binary(.add), before, part) } else { sum = part }
        }
        guard let sum else { throw failure("the kernel has no depth") }
        let image = builder.shape(sum).dims
        let split = try reshape(sum, [dims[0], depth] + image[1...])
        try defineExact(try add(Transpose([0, 2, 1, 3, 4]), split))
    }

    /// Pooling of each depth's image, then of each pixel along the depth: largest values and averages over boxes come apart so.
    mutating func pooling3D() throws {
        let blob = try input()
        let dims = try volume(blob)
        let function: Pool.Function = try parameters.int(1) == 0 ? .maximum : .average
        let window = try volumeWindow(dims, kernel: 2, strides: 5, dilations: nil, padding: 15, amounts: 8)
        let countsPadding = !(try parameters.bool(14))
        let planes = Pool(
            function, kernel: Size2D(window.kernel[1], window.kernel[2]),
            strides: Size2D(window.strides[1], window.strides[2]), padding: window.imagePadding, countsPadding: countsPadding)
        let images = try add(planes, try reshape(blob.id, [dims[0], dims[1] * dims[2], dims[3], dims[4]]))
        let (height, width) = (builder.shape(images)[2], builder.shape(images)[3])
        let (front, back) = window.padding[0]
        let depths = Pool(
            function, kernel: Size2D(window.kernel[0], 1), strides: Size2D(window.strides[0], 1),
            padding: Padding2D(top: front, left: 0, bottom: back, right: 0), countsPadding: countsPadding)
        let columns = try add(depths, try reshape(images, [dims[0], dims[1], dims[2], height * width]))
        let depth = builder.shape(columns)[2]
        try defineExact(try reshape(columns, [dims[0], dims[1], depth, height, width]))
    }

    mutating func globalPooling3D() throws {
        let blob = try input()
        _ = try volume(blob)
        let function: Reduce.Function = try parameters.int(1) == 0 ? .maximum : .mean
        try defineExact(try add(Reduce(function, axes: [-3, -2, -1], keepsDimensions: true), try exact(blob)))
    }
}
