import NTTensor

/// Cuts boxes out of images and resizes each to one size, bilinearly.
///
/// Inputs: x [N, C, H, W]; boxes [M, 4], taken from every image, or [M, 5] whose first value is the image's index.
/// Output: [M N, C, OH, OW] with the box as the slower part of the first axis, or [M, C, OH, OW].
package struct CropResize: Operator, Hashable {
    /// Where `count` points lie between a box's first and last row or column.
    package enum Sampling: Int, Sendable, Hashable, CaseIterable {
        /// From the first to the last; a single point lies on the first.
        case strictAlignEndpoints
        /// The same, but a single point lies in the middle.
        case alignEndpoints
        /// Steps of extent/count from the first on, spread so that the last is at extent - extent/count; the extent is last - first + 1.
        case upsample
        /// The middles of `count` equal parts of max(1, last - first).
        case regionAlign
    }

    package enum BoxFormat: Int, Sendable, Hashable, CaseIterable {
        /// top, left, bottom, right
        case cornersHeightFirst
        /// left, top, right, bottom
        case cornersWidthFirst
        /// centre y, centre x, height, width
        case centerHeightFirst
        /// centre x, centre y, width, height
        case centerWidthFirst
    }

    package var size: Size2D
    package var sampling: Sampling
    package var format: BoxFormat
    /// Whether coordinates run from 0 to 1 and are to be multiplied by H - 1 and W - 1.
    package var isNormalized: Bool
    /// Multiplies coordinates.
    package var spatialScale: Float

    package init(size: Size2D, sampling: Sampling, format: BoxFormat, isNormalized: Bool, spatialScale: Float = 1) {
        (self.size, self.sampling, self.format) = (size, sampling, format)
        (self.isNormalized, self.spatialScale) = (isNormalized, spatialScale)
    }

    package func outputTypes(for inputs: [TensorType]) throws -> [TensorType] {
        try OperatorError.requireCount(inputs, 2...2)
        let (x, boxes) = (inputs[0].shape, inputs[1].shape)
        try OperatorError.require(x.rank == 4 && x[2] > 0 && x[3] > 0, "expected an input N C H W with pixels, found \(x)")
        try OperatorError.require(
            boxes.rank == 2 && (boxes[1] == 4 || boxes[1] == 5), "expected boxes of shape Mx4 or Mx5, found \(boxes)")
        let limit = 1...Window.maximumExtent
        try OperatorError.require(limit.contains(size.height) && limit.contains(size.width), "size \(size) is out of range")
        let (count, overflow) = boxes[0].multipliedReportingOverflow(by: boxes[1] == 4 ? x[0] : 1)
        try OperatorError.require(!overflow, "the number of boxes overflows")
        return [.float32([count, x[1], size.height, size.width])]
    }

    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { 7 * outputs[0].shape.count }

    /// `count` places between `first` and `last`, inside 0...limit.
    private func places(_ first: Double, _ last: Double, _ count: Int, _ limit: Int) -> [(low: Int, high: Int, weight: Double)] {
        let extent = last - first + 1
        return (0..<count).map { i in
            let steps = Double(max(1, count - 1))
            var place: Double
            switch sampling {
            case .strictAlignEndpoints: place = Double(i) * (extent - 1) / steps
            case .alignEndpoints: place = count == 1 ? (extent - 1) / 2 : Double(i) * (extent - 1) / steps
            case .upsample: place = min(extent - 1, Double(i) * (extent - extent / Double(count)) / steps)
            case .regionAlign: place = min(extent - 1, (Double(i) + 0.5) * max(1, extent - 1) / Double(count))
            }
            let source = min(max(first + place, 0), Double(limit - 1))
            guard source.isFinite else { return (0, 0, 0) }
            let low = Int(source)
            return (low, min(low + 1, limit - 1), source - Double(low))
        }
    }

    /// A box as its first and last row and column.
    private func corners(_ box: [Double], _ height: Int, _ width: Int) -> (top: Double, left: Double, bottom: Double, right: Double) {
        let heightFirst = format == .cornersHeightFirst || format == .centerHeightFirst
        var (y0, x0, y1, x1) = heightFirst ? (box[0], box[1], box[2], box[3]) : (box[1], box[0], box[3], box[2])
        if format == .centerHeightFirst || format == .centerWidthFirst {
            (y0, y1) = (y0 - y1 / 2, y0 + y1 / 2)
            (x0, x1) = (x0 - x1 / 2, x0 + x1 / 2)
        }
        let scale = Double(spatialScale)
        let (sy, sx) = isNormalized ? (scale * Double(height - 1), scale * Double(width - 1)) : (scale, scale)
        return (y0 * sy, x0 * sx, y1 * sy, x1 * sx)
    }

    package func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
        let output = try outputTypes(for: inputs.map(\.type))[0].shape
        let shape = inputs[0].shape
        let (height, width) = (shape[2], shape[3])
        let (fields, images) = (inputs[1].shape[1], shape[0])
        let (x, boxes) = (inputs[0].floats, inputs[1].floats)
        return [
            try Tensor(float32: output) { target in
                var element = 0
                for item in 0..<output[0] {
                    let row = fields == 4 ? item / max(1, images) : item
                    let image =
                        fields == 4 ? item % images : try IndexTensor.index(boxes[row * 5], extent: images)
                    let box = (0..<4).map { Double(boxes[row * fields + fields - 4 + $0]) }
                    let (top, left, bottom, right) = corners(box, height, width)
                    let rows = places(top, bottom, size.height, height)
                    let columns = places(left, right, size.width, width)
                    for plane in 0..<shape[1] {
                        let base = (image * shape[1] + plane) * height * width
                        for r in rows {
                            for c in columns {
                                func value(_ y: Int, _ column: Int) -> Double { Double(x[base + y * width + column]) }
                                let upper = value(r.low, c.low) + (value(r.low, c.high) - value(r.low, c.low)) * c.weight
                                let lower = value(r.high, c.low) + (value(r.high, c.high) - value(r.high, c.low)) * c.weight
                                target[element] = Float(upper + (lower - upper) * r.weight)
                                element += 1
                            }
                        }
                    }
                }
            }
        ]
    }
}
