import NTGraph

/// The tile of a convolution that one work-item or one group computes.
package enum ConvolutionTile: Sendable, Hashable, Codable {
    /// Wide cores: `rows` pixels by `vectors` vectors of `width` output channels in registers.
    case registers(rows: Int, vectors: Int, width: Int)
    /// Many cores: groups of `side` x `side` work-items, each of `rows` pixels by `columns` channels, `depth` steps of the inner product staged at a time;
    /// `splits` groups share the inner product of one such tile, where it has as many stages.
    case local(side: Int, rows: Int, columns: Int, depth: Int, splits: Int = 1)
    /// Many cores, few pixels: groups of `items` work-items share the inner products of all pixels by `columns` channels.
    case shared(items: Int, columns: Int)

    /// Output channels of a panel of packed weights.
    var panelWidth: Int {
        switch self {
        case .registers(_, let vectors, let width): vectors * width
        case .local(let side, _, let columns, _, _): side * columns
        case .shared(_, let columns): columns
        }
    }

    /// Pixels that are few, and sums of a work-item that leave it registers.
    private static let (mostSharedPixels, mostSharedSums) = (4, 8)

    /// Row counts that `convolution.cl` is written for.
    static let registerRows = [1, 2, 4, 5, 6, 7, 8, 10, 12, 14]

    /// Whether the kernels are written for this tile and the device can run it.
    func isSupported(_ style: DeviceStyle) -> Bool {
        switch self {
        case .registers(let rows, let vectors, let width):
            return style.family == .wideCores && Self.registerRows.contains(rows) && [1, 2, 4].contains(vectors)
                && [4, 8, 16].contains(width) && width <= style.vectorWidth
        case .local(let side, let rows, let columns, let depth, let splits):
            return style.family == .manyCores && [8, 16].contains(side) && side <= style.groupSide
                && [1, 2, 4, 8].contains(rows) && [4, 8].contains(columns) && [4, 8, 16, 32].contains(depth) && (1...64).contains(splits)
                && 4 * depth * (side * rows + 4 + side * columns) <= min(style.localMemoryBytes, 32 << 10)
        case .shared(let items, let columns):
            return style.family == .manyCores && items > 1 && [1, 2, 4].contains(columns)
                && style.groupSize(wanted: items, sums: Self.mostSharedSums) == items
        }
    }

    /// Whether the kernel is written for the shape. `shared` takes single pixels that are neighbours, which a shape with one tap may yet not have.
    func fits(_ shape: ConvolutionShape) -> Bool {
        guard case .shared(_, let columns) = self else { return true }
        return shape.taps == 1 && shape.groups == 1 && shape.pixels <= Self.mostSharedPixels && shape.pixels * columns <= Self.mostSharedSums
    }

    /// Every tile worth measuring on a device.
    static func candidates(_ style: DeviceStyle) -> [ConvolutionTile] {
        let all: [ConvolutionTile]
        switch style.family {
        case .wideCores:
            let registers = style.vectorWidth == 16 ? 31 : 15
            all = [style.vectorWidth, style.vectorWidth / 2].flatMap { width in
                [1, 2, 4].flatMap { vectors in
                    [1, 4, 7, 8, 10, 12].filter { $0 * vectors + vectors < registers && (vectors < 4 || $0 <= 4) }.map {
                        .registers(rows: $0, vectors: vectors, width: width)
                    }
                }
            }
        case .manyCores:
            // The likeliest first: a search may be cut short.
            all =
                sharedCandidates + manyCoresDefaults(splits: [1, 4, 16])
                + [16, 8].flatMap { depth in
                    [(16, 8, 4), (16, 4, 8), (16, 2, 4), (8, 8, 8), (8, 4, 8), (8, 8, 4), (8, 2, 4)].map {
                        .local(side: $0, rows: $1, columns: $2, depth: depth)
                    }
                }
        }
        return all.filter { $0.isSupported(style) }
    }

    /// The tile to use where nothing has been measured.
    ///
    /// On wide cores the one with the least estimated time over the whole output. Per step of the inner product a tile costs its multiply-adds,
    /// or its loads (a vector load like two broadcasts), or the latency of one multiply-add, whichever is most; the store costs some steps more.
    /// Tiles are kept to rows of `rowLength` pixels. On many cores see `manyCoresCost`.
    static func standard(_ shape: ConvolutionShape, style: DeviceStyle, isPointwise: Bool = true) -> ConvolutionTile {
        guard style.family == .wideCores else {
            let tiles = ((isPointwise ? sharedCandidates : []) + manyCoresDefaults(splits: [1, 2, 4, 8, 16, 32])).filter {
                $0.isSupported(style) && $0.fits(shape)
            }
            let costs = tiles.map { $0.manyCoresCost(shape, style: style) }
            let best = costs.indices.min { costs[$0] < costs[$1] }
            return best.map { tiles[$0] } ?? .local(side: 8, rows: 1, columns: 4, depth: 4)
        }
        let (pixels, outputs) = (shape.pixels, shape.outputs)
        var best = ConvolutionTile.registers(rows: 1, vectors: 1, width: style.vectorWidth)
        var bestCost = Double.infinity
        for width in [style.vectorWidth, style.vectorWidth / 2] where width >= 4 {
            for vectors in [1, 2, 4] {
                for rows in style.tileRows where vectors < 4 || rows == 1 {
                    let row = shape.rowLength
                    let runs = rows <= row ? max(1, pixels / max(1, row)) * ((row + rows - 1) / rows) : (pixels + rows - 1) / rows
                    let tiles = runs * ((outputs + vectors * width - 1) / (vectors * width))
                    let step = max(Double(rows * vectors), Double(rows) * 0.5 + Double(vectors), 4) + 0.5
                    let cost = Double(tiles) * step * (width == style.vectorWidth ? 1 : 0.75)
                    if cost < bestCost { (best, bestCost) = (.registers(rows: rows, vectors: vectors, width: width), cost) }
                }
            }
        }
        return best
    }

    private static let sharedCandidates: [ConvolutionTile] = [(64, 4), (64, 2), (64, 1), (256, 2)].map { .shared(items: $0, columns: $1) }

    /// The tiles that defaults on many cores are chosen from, few for the sake of few programs: for much work, for some, for little, and for dense layers.
    private static func manyCoresDefaults(splits: [Int]) -> [ConvolutionTile] {
        splits.flatMap { splits in
            [(16, 8, 8, 8), (16, 4, 4, 16), (8, 4, 4, 16), (8, 1, 4, 32)].map {
                .local(side: $0, rows: $1, columns: $2, depth: $3, splits: splits)
            }
        }
    }

    /// Cycles that a convolution takes on many cores, by arithmetic alone and not measured: the largest of what the multiply-adds of the compute unit with
    /// most groups take at 128 a cycle, each tile's loads from local memory counted in, of what its operands take at 32 bytes a cycle, and of how long groups
    /// that wait for memory stage after stage take one after the other, of which a unit has 2048 work-items' worth at once, 16 at most. Splits add a launch
    /// and their sums' way through memory.
    private func manyCoresCost(_ shape: ConvolutionShape, style: DeviceStyle) -> Double {
        if case .shared(let items, let columns) = self { return sharedCost(shape, items: items, columns: columns, style: style) }
        guard case .local(let side, let rows, let columns, let depth, let wanted) = self else { return .infinity }
        let stages = max(1, (shape.channels * shape.taps + depth - 1) / depth)
        let span = (stages + wanted - 1) / wanted
        let splits = (stages + span - 1) / span
        let panels = (shape.outputs + panelWidth - 1) / panelWidth * shape.groups
        let groups = (shape.pixels + side * rows - 1) / (side * rows) * panels * splits
        let (items, perUnit) = (side * side, (groups + style.computeUnits - 1) / style.computeUnits)
        let loads = 2 * ((rows + 3) / 4 + columns / 4)
        let stage = Double(items * (rows * columns + loads) * depth)
        let arithmetic = Double(perUnit * span) * stage / 128
        let operands = Double(perUnit * span * depth * (side * rows + panelWidth) * shape.storedType.byteCount) / 32
        let resident = min(16, 2048 / items)
        let waiting = Double((perUnit + resident - 1) / resident) * (Double(span) * max(600, stage / Double(min(128, items))) + 1000)
        let cycles = max(arithmetic, operands, waiting)
        guard splits > 1 else { return cycles }
        let sums = Double((splits + 1) * shape.pixels * panels * panelWidth * 4)
        return cycles + 4000 + sums / Double(16 * style.computeUnits)
    }

    /// The same for groups that share inner products. Two of an item's vectors are on their way from memory at once; then the items' sums meet, which takes
    /// a shuffle of 30 cycles or a barrier of 60 for each halving. For a dense layer of 1024 to 1000 at batch 1 on 132 compute units that makes 2400 cycles,
    /// where the best tile with local memory takes 5700: it multiplies eight pixels where there is one, and its sums need a second launch.
    private func sharedCost(_ shape: ConvolutionShape, items: Int, columns: Int, style: DeviceStyle) -> Double {
        let groups = (shape.outputs + columns - 1) / columns
        let perUnit = (groups + style.computeUnits - 1) / style.computeUnits
        let rounds = ((shape.channels + 3) / 4 + items - 1) / items
        let arithmetic = Double(perUnit * rounds * items * 4 * shape.pixels * columns) / 128
        let operands = Double(perUnit * rounds * items * 4 * (shape.pixels + columns) * shape.storedType.byteCount) / 32
        let meeting = Double((items - 1).bitWidth - (items - 1).leadingZeroBitCount) * (style.subgroups == nil ? 60 : 30)
        let resident = min(16, 2048 / items)
        let waiting = Double((perUnit + resident - 1) / resident) * (Double((rounds + 1) / 2) * 600 + meeting + 1000)
        return max(arithmetic, operands, waiting)
    }
}

/// What decides whether a depthwise convolution and the 1x1 that reads it are faster as one kernel.
package struct SeparableShape: Sendable, Hashable {
    /// Images, rows, columns of the result.
    var images: Int
    var rows: Int
    var columns: Int
    var channels: Int
    var outputs: Int
    var kernel: Size2D
    var strides: Size2D
    var storedType: ElementType

    var multiplyAdds: Int { SaturatingArithmetic.product(images, rows, columns, channels, outputs) }

    /// The shape in a tuning file.
    var key: String {
        "\(images)x\(rows)x\(columns) \(channels)x\(outputs) \(kernel.height)x\(kernel.width) \(strides.height)x\(strides.width) \(storedType.rawValue)"
    }
}

/// What decides how fast a tile is: the extents of a convolution and what it is stored in.
package struct ConvolutionShape: Sendable, Hashable {
    var pixels: Int
    /// Pixels that follow one another evenly: a row, or all.
    var rowLength: Int
    var outputs: Int
    var channels: Int
    var taps: Int
    var groups: Int
    var storedType: ElementType

    /// Of one run, in all groups.
    var multiplyAdds: Int { SaturatingArithmetic.product(pixels, outputs, channels, taps, groups) }

    /// The shape in a tuning file.
    var key: String { "\(pixels)/\(rowLength)x\(outputs)x\(channels)x\(taps)g\(groups) \(storedType.rawValue)" }
}
