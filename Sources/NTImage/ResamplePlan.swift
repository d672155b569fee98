/// All that depends on sizes alone: tables, strides, and how much scratch memory a run takes. Immutable; shared between runs.
final class ResamplePlan {
    /// What a plan was made for; equal keys have equal plans.
    struct Key: Hashable {
        var geometry: ImageGeometry
        var color: ImageColor
        var orientation: ImageOrientation
        var format: PixelFormat
        var width: Int
        var height: Int
        var extentWidth: Double
        var extentHeight: Double
    }

    let key: Key
    let placement: ImagePlacement
    /// Across stored columns, windows counted from `column`.
    let horizontal: ResampleAxis
    /// Across stored rows.
    let vertical: ResampleAxis
    /// Rows and columns change places on the way to the target.
    let isTransposed: Bool
    let conversion: RowConversion
    /// Bytes of a pixel while it is resampled: 4, or 1 for grey.
    let pixelBytes: Int
    /// Offsets of red, green and blue in such a pixel.
    let offsets: (Int32, Int32, Int32)
    /// First stored column that is read, and how many are.
    let column: Int
    let columnCount: Int
    /// Stored rows must be copied where the kernels may read past their ends.
    let copiesRows: Bool

    /// Bytes of a source row in scratch memory, with the slack the kernels may read.
    let sourceStride: Int
    /// Bytes of a narrowed row in scratch memory.
    let narrowStride: Int
    /// Rows of the ring between the passes.
    let ringCount: Int
    let layout: Layout

    /// The plan for those who resample elsewhere; made when first asked for, by the one thread that uses the plan.
    private(set) lazy var tables: ResampleTables = {
        // Windows across columns are counted from `column` already.
        let firstRow = key.format.isBiplanar ? vertical.span.lowerBound & ~1 : vertical.span.lowerBound
        let (columns, rows) = (horizontal.table(origin: 0), vertical.table(origin: firstRow))
        return ResampleTables(
            columns: column..<(column + columnCount), rows: firstRow..<vertical.span.upperBound, isTransposed: isTransposed,
            x: isTransposed ? rows : columns, y: isTransposed ? columns : rows, left: placement.drawn.x, top: placement.drawn.y)
    }()

    /// Byte offsets into scratch memory.
    struct Layout {
        var ring = 0
        var sources = 0
        var trash = 0
        var line = 0
        var intermediate = 0
        /// Row pointers handed to kernels: four in, four out, then one per vertical tap.
        var pointers = 0
        var byteCount = 0
    }

    /// - Throws: `ImageError` for an impossible geometry.
    init(key: Key) throws {
        self.key = key
        placement = try ImagePlacement(
            geometry: key.geometry, width: key.width, height: key.height, extent: (key.extentWidth, key.extentHeight),
            orientation: key.orientation)
        let turned = placement.orientation
        isTransposed = turned.isTransposed
        let toLuma = key.color == .grayscale
        conversion = RowConversion(from: key.format, toLuma: toLuma)
        pixelBytes = toLuma || key.format == .gray8 ? 1 : 4
        let lengths = isTransposed ? (x: key.height, y: key.width) : (x: key.width, y: key.height)
        let x = ResampleAxis(
            domain: placement.domain.x, box: placement.box.x, count: placement.drawn.width, pixelBytes: pixelBytes,
            length: lengths.x, mirrored: turned.flipsX)
        let y = ResampleAxis(
            domain: placement.domain.y, box: placement.box.y, count: placement.drawn.height, pixelBytes: pixelBytes,
            length: lengths.y, mirrored: turned.flipsY)
        (horizontal, vertical) = isTransposed ? (y, x) : (x, y)

        let native = key.format.channelOffsets
        offsets =
            pixelBytes == 1 || key.format.isBiplanar
            ? (pixelBytes == 1 ? (0, 0, 0) : (0, 1, 2)) : (Int32(native.red), Int32(native.green), Int32(native.blue))

        column = key.format.isBiplanar ? horizontal.span.lowerBound & ~1 : horizontal.span.lowerBound
        columnCount = horizontal.span.upperBound - column
        let inside = horizontal.place(origin: column, available: columnCount)
        copiesRows = !isTransposed && conversion.isNone && !inside

        func padded(_ byteCount: Int) -> Int { (byteCount + 63) / 64 * 64 }
        sourceStride = padded((columnCount + horizontal.taps) * pixelBytes)
        narrowStride = padded(horizontal.count * pixelBytes)
        ringCount = vertical.longest + 4
        var layout = Layout()
        func place(_ byteCount: Int) -> Int {
            defer { layout.byteCount += padded(byteCount) }
            return layout.byteCount
        }
        // Ring: narrowed rows before a vertical pass; or, transposed, converted source rows.
        layout.ring = place(ringCount * (isTransposed ? (conversion.isNone ? 0 : sourceStride) : narrowStride))
        // Four rows on their way into the horizontal pass.
        layout.sources = place(4 * sourceStride)
        layout.trash = place(4 * narrowStride)
        layout.line = place(max(narrowStride, sourceStride))
        layout.intermediate = place(conversion.needsIntermediate ? 4 * columnCount : 0)
        layout.pointers = place((8 + vertical.taps) * MemoryLayout<UnsafePointer<UInt8>?>.stride)
        self.layout = layout
    }
}
