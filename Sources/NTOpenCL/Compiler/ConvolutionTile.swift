/// The register tile of a convolution on wide cores: rows (pixels) by vectors of output channels.
struct ConvolutionTile: Hashable {
    var rows: Int
    var vectors: Int
    var vectorWidth: Int

    var width: Int { vectors * vectorWidth }

    /// The tile with the least estimated time over the whole output. Per step of the inner product a tile costs its multiply-adds, or its loads
    /// (a vector load like two broadcasts), or the latency of one multiply-add, whichever is most; the store costs a few steps more.
    static func choose(pixels: Int, outputs: Int, style: DeviceStyle) -> ConvolutionTile {
        var best = ConvolutionTile(rows: 1, vectors: 1, vectorWidth: style.vectorWidth)
        var bestCost = Double.infinity
        let registers = style.vectorWidth == 16 ? 30 : 15
        for vectorWidth in [style.vectorWidth, style.vectorWidth / 2] where vectorWidth >= 4 {
            for vectors in [1, 2] {
                for rows in style.tileRows where rows * vectors + vectors + 1 <= registers {
                    let tile = ConvolutionTile(rows: rows, vectors: vectors, vectorWidth: vectorWidth)
                    let tiles = (pixels + rows - 1) / rows * ((outputs + tile.width - 1) / tile.width)
                    let step = max(Double(rows * vectors), Double(rows) * 0.5 + Double(vectors), 4) + 0.5
                    let cost = Double(tiles) * step * (vectorWidth == style.vectorWidth ? 1 : 0.75)
                    if cost < bestCost { (best, bestCost) = (tile, cost) }
                }
            }
        }
        return best
    }
}
