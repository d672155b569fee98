import NTGraph

/// The tile of a convolution that one work-item or one group computes.
package enum ConvolutionTile: Sendable, Hashable, Codable {
    /// Wide cores: `rows` pixels by `vectors` vectors of `width` output channels in registers.
    case registers(rows: Int, vectors: Int, width: Int)
    /// Many cores: groups of `side` x `side` work-items, each of `rows` pixels by `columns` channels, `depth` channels staged at a time.
    case local(side: Int, rows: Int, columns: Int, depth: Int)

    /// Output channels of a panel of packed weights.
    var panelWidth: Int {
        switch self {
        case .registers(_, let vectors, let width): vectors * width
        case .local(let side, _, let columns, _): side * columns
        }
    }

    /// Row counts that `convolution.cl` is written for.
    static let registerRows = [1, 2, 4, 5, 6, 7, 8, 10, 12, 14]

    /// Whether the kernels are written for this tile and the device can run it.
    func isSupported(_ style: DeviceStyle) -> Bool {
        switch self {
        case .registers(let rows, let vectors, let width):
            return style.family == .wideCores && Self.registerRows.contains(rows) && [1, 2, 4].contains(vectors)
                && [4, 8, 16].contains(width) && width <= style.vectorWidth
        case .local(let side, let rows, let columns, let depth):
            return style.family == .manyCores && [8, 16].contains(side) && side <= style.groupSide
                && [1, 2, 4, 8].contains(rows) && [1, 2, 4, 8].contains(columns) && [4, 8, 16, 32].contains(depth)
                && 4 * depth * (side * rows + 1 + side * columns) <= style.localMemoryBytes
        }
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
            all = [16, 8, 32].flatMap { depth in
                [16, 8].flatMap { side in
                    [(8, 8), (4, 8), (8, 4), (4, 4), (2, 4)].map { .local(side: side, rows: $0, columns: $1, depth: depth) }
                }
            }
        }
        return all.filter { $0.isSupported(style) }
    }

    /// The tile to use where nothing has been measured.
    ///
    /// On wide cores the one with the least estimated time over the whole output. Per step of the inner product a tile costs its multiply-adds,
    /// or its loads (a vector load like two broadcasts), or the latency of one multiply-add, whichever is most; the store costs some steps more.
    /// `rowLength` is what tiles are kept to, all pixels by default.
    static func standard(pixels: Int, rowLength: Int? = nil, outputs: Int, style: DeviceStyle) -> ConvolutionTile {
        guard style.family == .wideCores else { return .local(side: style.groupSide, rows: 4, columns: 4, depth: 16) }
        var best = ConvolutionTile.registers(rows: 1, vectors: 1, width: style.vectorWidth)
        var bestCost = Double.infinity
        for width in [style.vectorWidth, style.vectorWidth / 2] where width >= 4 {
            for vectors in [1, 2, 4] {
                for rows in style.tileRows where vectors < 4 || rows == 1 {
                    let row = rowLength ?? pixels
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
