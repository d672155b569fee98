import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    mutating func convolution() throws {
        let inputs = try inputs(1...2)
        let x = try image(inputs[0])
        let channels = builder.shape(x)[1]
        let kernel = try size2D(20, "kernelSize", standard: 3)
        let strides = try size2D(30, "stride", standard: 1)
        let dilations = try size2D(40, "dilationFactor", standard: 1)
        let groups = max(1, try parameters.int(10))
        let isTransposed = try parameters.bool(60)
        let outputs = try parameters.int(1)
        let range = 1...Shape.maximumCount
        try require(
            range.contains(outputs) && groups <= channels && channels % groups == 0 && outputs % groups == 0,
            "\(groups) groups do not divide \(channels) input and \(outputs) output channels")
        try check(2, "kernelChannels", against: isTransposed ? channels : channels / groups)
        let dims =
            isTransposed
            ? [channels, outputs / groups, kernel.height, kernel.width]
            : [outputs, channels / groups, kernel.height, kernel.width]
        let w: ValueID
        if inputs.count == 2 {
            try require(inputs[1].dims == dims, "expected weights of shape \(dims) as second input, found \(inputs[1].dims)")
            w = try exact(inputs[1])
        } else {
            w = try constant(try weights(90, "weights", dims, channelAxis: isTransposed ? 1 : 0))
        }
        var operands = [x, w]
        let hasBias = try parameters.bool(70)
        if hasBias { operands.append(try constant(try weights(91, "biases", [outputs]))) }
        let op: any Operator =
            isTransposed
            ? try transposed(builder.shape(x), kernel, strides, groups, hasBias)
            : Convolution(
                strides: strides, dilations: dilations,
                padding: try windowPadding(valid: 50, same: 51, builder.shape(x), kernel, strides, dilations), groups: groups,
                hasBias: hasBias)
        guard let y = try builder.apply(op, operands, layer: current.name).first else { return }
        try define(imageResult(y, like: inputs[0]))
    }

    /// The padding around a window's input: `ValidPadding` amounts, or what `SamePadding` needs for this input.
    private func windowPadding(
        valid: Int, same: Int, _ shape: Shape, _ kernel: Size2D, _ strides: Size2D, _ dilations: Size2D
    ) throws -> Padding2D {
        guard let mode = try parameters.message(same) else {
            return try border(try parameters.message(valid)?.message(1), "paddingAmounts")
        }
        let smallerLast = try mode.int(1) == 1
        let vertical = Window.samePadding(
            input: shape[2], kernel: kernel.height, stride: strides.height, dilation: dilations.height, smallerLast: smallerLast)
        let horizontal = Window.samePadding(
            input: shape[3], kernel: kernel.width, stride: strides.width, dilation: dilations.width, smallerLast: smallerLast)
        return Padding2D(top: vertical.before, left: horizontal.before, bottom: vertical.after, right: horizontal.after)
    }

    /// A transposed convolution. Its dilation is ignored, as the format says. The extents of the result are stated, or H stride for
    /// `same`, or (H - 1) stride + K less the padding.
    private func transposed(
        _ shape: Shape, _ kernel: Size2D, _ strides: Size2D, _ groups: Int, _ hasBias: Bool
    ) throws -> ConvolutionTranspose {
        let same = try parameters.message(51)
        let stated = try parameters.ints(100, limit: 8)
        var op = ConvolutionTranspose(strides: strides, groups: groups, hasBias: hasBias)
        if stated.isEmpty, same == nil {
            op.cropping = try border(try parameters.message(50)?.message(1), "paddingAmounts")
            return op
        }
        try require(stated.isEmpty || stated.count == 2, "expected 2 extents of outputShape, found \(stated.count)")
        let wanted = stated.isEmpty ? [shape[2] * strides.height, shape[3] * strides.width] : stated
        let full = [(shape[2] - 1) * strides.height + kernel.height, (shape[3] - 1) * strides.width + kernel.width]
        let heavyFirst = try same?.int(1) == 1
        let amounts = try same == nil ? border(try parameters.message(50)?.message(1), "paddingAmounts") : .zero
        func cut(_ axis: Int, _ stride: Int) throws -> (before: Int, after: Int, extra: Int) {
            // Amounts stated beside the extents say where the result begins; where it ends follows from its extent.
            let begin = amounts == .zero ? nil : axis == 0 ? amounts.top : amounts.left
            let surplus = full[axis] - wanted[axis] - (begin ?? 0)
            try require(
                wanted[axis] >= 1 && surplus > -stride, "expected an output extent up to \(full[axis] + stride - 1), found \(wanted[axis])")
            let total = max(0, surplus)
            if let begin { return (begin, total, max(0, -surplus)) }
            let before = heavyFirst ? total - total / 2 : total / 2
            return (before, total - before, max(0, -surplus))
        }
        let (vertical, horizontal) = (try cut(0, strides.height), try cut(1, strides.width))
        op.cropping = Padding2D(
            top: vertical.before, left: horizontal.before, bottom: vertical.after, right: horizontal.after)
        op.outputPadding = Size2D(vertical.extra, horizontal.extra)
        return op
    }

    mutating func pooling() throws {
        let blob = try input()
        let x = try image(blob)
        let shape = builder.shape(x)
        let function: Pool.Function
        switch try parameters.int(1) {
        case 0: function = .maximum
        case 1: function = .average
        case 2: function = .l2
        case let other: throw failure("pooling type \(other) is unknown")
        }
        if try parameters.bool(60) {
            try define(imageResult(try add(Pool(function, kernel: Size2D(shape[2], shape[3])), x), like: blob))
            return
        }
        let kernel = try size2D(10, "kernelSize", standard: 3)
        let strides = try size2D(20, "stride", standard: 1)
        var op = Pool(function, kernel: kernel, strides: strides, countsPadding: !(try parameters.bool(50)))
        if let complete = try parameters.message(32) {
            let amounts = try sizes(10, "paddingAmounts", of: complete, standard: 0, range: 0...Window.maximumExtent)
            op.padding = Padding2D(top: amounts[0], left: amounts[1], bottom: amounts[0], right: amounts[1])
            op.rounding = .ceilIncludingLastPixel
        } else {
            op.padding = try windowPadding(valid: 30, same: 31, shape, kernel, strides, .one)
        }
        try define(imageResult(try add(op, x), like: blob))
    }

    /// A dense layer. Inputs of rank 4 and 5 are flattened: their last three extents are the features.
    mutating func innerProduct() throws {
        let blob = try input()
        try require((1...5).contains(blob.rank), "expected an input of rank 1 to 5, found shape \(blob.dims)")
        let features = blob.rank >= 4 ? blob.dims.suffix(3).reduce(1, *) : blob.dims[blob.rank - 1]
        try check(1, "inputChannels", against: features)
        let outputs = try parameters.int(2)
        let w = try constant(try weights(20, "weights", [outputs, features]))
        let x = blob.rank >= 4 ? try reshape(blob.id, [blob.leadCount, features]) : try exact(blob)
        var y: ValueID
        if try parameters.bool(10) {
            y = try add(Dense(hasBias: true), x, w, try constant(try weights(21, "biases", [outputs])))
        } else {
            y = try add(Dense(), x, w)
        }
        let dims = blob.rank >= 4 ? blob.dims.dropLast(3) + [outputs, 1, 1] : blob.dims.dropLast() + [outputs]
        try define(Blob(id: y, dims: Array(dims)))
    }

    /// Rows of a table picked by whole numbers. The table is stored with its columns as rows: [outputs, entries].
    mutating func embedding(isND: Bool) throws {
        let blob = try input()
        let (entries, outputs) = (try parameters.int(1), try parameters.int(2))
        if isND {
            try require(blob.rank >= 2 && blob.dims.last == 1, "expected a last extent of 1, found shape \(blob.dims)")
        } else {
            try require(
                blob.rank >= 4 && blob.dims.suffix(3) == [1, 1, 1], "expected last extents 1, 1, 1, found shape \(blob.dims)")
        }
        let lead = Array(blob.dims.dropLast(isND ? 1 : 3))
        let table = try add(Transpose([1, 0]), try constant(try weights(20, "weights", [outputs, entries])))
        var y = try add(Gather(axis: 0), table, try reshape(blob.id, [lead.reduce(1, *)]))
        if try parameters.bool(isND ? 3 : 10) {
            y = try add(Binary(.add), y, try constant(try weights(21, "biases", [outputs])))
        }
        try define(Blob(id: y, dims: lead + (isND ? [outputs] : [outputs, 1, 1])))
    }
}
