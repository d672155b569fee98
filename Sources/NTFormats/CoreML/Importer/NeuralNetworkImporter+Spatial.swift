import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// Cuts the borders off, or cuts a window of the second input's size at an offset.
    mutating func crop() throws {
        let inputs = try inputs(1...2)
        let x = try image(inputs[0])
        let shape = builder.shape(x)
        var (begins, extents) = ([0, 0, 0, 0], shape.dims)
        if inputs.count == 2 {
            try require(inputs[1].rank >= 2, "expected a second input of rank 2 or more, found shape \(inputs[1].dims)")
            let offset = try sizes(5, "offset", standard: 0, range: 0...Window.maximumExtent)
            for axis in 0..<2 {
                begins[2 + axis] = offset[axis]
                extents[2 + axis] = inputs[1].extent(fromBack: axis - 2)
            }
        } else {
            let amounts = try border(try parameters.message(1), "cropAmounts")
            (begins[2], begins[3]) = (amounts.top, amounts.left)
            extents[2] -= amounts.top + amounts.bottom
            extents[3] -= amounts.left + amounts.right
            try require(
                extents[2] > 0 && extents[3] > 0, "crop amounts \(amounts) leave nothing of \(shape[2])x\(shape[3])")
        }
        let id = try add(Slice(begins: begins, extents: extents, strides: [1, 1, 1, 1]), x)
        try define(imageResult(id, like: inputs[0]))
    }

    mutating func padding() throws {
        let blob = try input()
        let amounts = try border(try parameters.message(10), "paddingAmounts")
        let mode: Pad.Mode
        if try parameters.data(2) != nil {
            mode = .reflection
        } else if try parameters.data(3) != nil {
            mode = .replication
        } else {
            mode = .constant(try parameters.message(1)?.float(1) ?? 0)
        }
        let op = Pad(mode, before: [0, 0, amounts.top, amounts.left], after: [0, 0, amounts.bottom, amounts.right])
        try define(imageResult(try add(op, try image(blob)), like: blob))
    }

    mutating func upsample() throws {
        let blob = try input()
        let x = try image(blob)
        let shape = builder.shape(x)
        let isBilinear = try parameters.int(5) == 1
        let fractions = try parameters.floats(7)
        var size: Size2D
        if fractions.isEmpty {
            let factor = try size2D(1, "scalingFactor", standard: 1)
            let (height, tall) = shape[2].multipliedReportingOverflow(by: factor.height)
            let (width, wide) = shape[3].multipliedReportingOverflow(by: factor.width)
            try require(!tall && !wide, "scalingFactor \(factor) is out of range")
            size = Size2D(height, width)
        } else {
            try require(
                fractions.count == 2 && fractions.allSatisfy { $0 > 0 && $0 <= Float(Window.maximumExtent) },
                "expected 2 positive values of fractionalScalingFactor, found \(fractions.prefix(4))")
            let extents = [2, 3].map { (Double(shape[$0]) * Double(fractions[$0 - 2])).rounded(.down) }
            try require(
                extents.allSatisfy { $0 >= 1 && $0 <= Double(Window.maximumExtent) },
                "fractionalScalingFactor \(fractions) is out of range")
            size = Size2D(Int(extents[0]), Int(extents[1]))
        }
        let coordinates: Resize.Coordinates
        switch isBilinear ? try parameters.int(6) : -1 {
        case -1: coordinates = .asymmetric
        case 0: coordinates = .upsample
        case 1: coordinates = .alignCorners
        case 2: coordinates = .halfPixel
        case let other: throw failure("linearUpsampleMode \(other) is unknown")
        }
        let op = Resize(isBilinear ? .bilinear : .nearest, to: size, coordinates: coordinates)
        try define(imageResult(try add(op, x), like: blob))
    }

    /// The `SamplingMode` message: strict align 0, align 1, upsample 2, region align 3.
    private func sampling(_ field: Int) throws -> CropResize.Sampling {
        let number = try parameters.message(field)?.int(1) ?? 0
        guard let mode = CropResize.Sampling(rawValue: number) else { throw failure("sampling method \(number) is unknown") }
        return mode
    }

    mutating func resizeBilinear() throws {
        let blob = try input()
        let x = try image(blob)
        let shape = builder.shape(x)
        let size = try size2D(1, "targetSize", standard: 1)
        let coordinates: Resize.Coordinates
        switch try sampling(2) {
        case .strictAlignEndpoints: coordinates = .alignCorners
        case .upsample: coordinates = .upsample
        case .alignEndpoints:
            // A single point lies in the middle; otherwise the endpoints meet.
            func line(_ input: Int, _ output: Int) -> (start: Float, step: Float) {
                output == 1 ? (Float(input - 1) / 2, 0) : (0, Float(Double(input - 1) / Double(output - 1)))
            }
            let (y, x) = (line(shape[2], size.height), line(shape[3], size.width))
            coordinates =
                size.height > 1 && size.width > 1
                ? .alignCorners : .explicit(startY: y.start, stepY: y.step, startX: x.start, stepX: x.step)
        case .regionAlign:
            let (y, x) = (Float(max(1, shape[2] - 1)) / Float(size.height), Float(max(1, shape[3] - 1)) / Float(size.width))
            coordinates = .explicit(startY: y / 2, stepY: y, startX: x / 2, stepX: x)
        }
        try define(imageResult(try add(Resize(.bilinear, to: size, coordinates: coordinates), x), like: blob))
    }

    mutating func cropResize() throws {
        let inputs = try inputs(2...2)
        let (features, boxes) = (inputs[0], inputs[1])
        try require(features.rank >= 4, "expected images of rank 4 or more, found shape \(features.dims)")
        try require(
            boxes.rank == 5 && (boxes.dims[2] == 4 || boxes.dims[2] == 5) && boxes.dims[1] == 1
                && boxes.dims[3...].allSatisfy { $0 == 1 },
            "expected boxes of shape [N, 1, 4 or 5, 1, 1], found \(boxes.dims)")
        let number = try parameters.message(4)?.int(1) ?? 0
        guard let format = CropResize.BoxFormat(rawValue: number) else { throw failure("box coordinates mode \(number) is unknown") }
        let op = CropResize(
            size: try size2D(1, "targetSize", standard: 1), sampling: try sampling(3), format: format,
            isNormalized: try parameters.bool(2), spatialScale: try float(5, zeroMeans: 1))
        let x = try image(features)
        let id = try add(op, x, try reshape(boxes.id, [boxes.dims[0], boxes.dims[2]]))
        let images = boxes.dims[2] == 4 ? builder.shape(x)[0] : 1
        try define(Blob(id: id, dims: [boxes.dims[0], images] + builder.shape(id).dims[1...]))
    }

    mutating func reorganizeData() throws {
        let blob = try input()
        let block = try parameters.int(2)
        let mode: RearrangeBlocks.Mode
        switch try parameters.int(1) {
        case 0: mode = .spaceToDepth
        case 1: mode = .depthToSpace
        case 2: mode = .pixelShuffle
        case let other: throw failure("mode \(other) is unknown")
        }
        try define(imageResult(try add(RearrangeBlocks(mode, block: block), try image(blob)), like: blob))
    }
}
