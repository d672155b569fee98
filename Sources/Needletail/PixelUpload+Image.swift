import NTImage
import NTRuntime

extension PixelUpload {
    /// The part of a picture that a preparation reads, and how.
    package init(_ view: PixelView, _ tables: ResampleTables, _ preprocessor: ImagePreprocessor) {
        let format = view.format
        let encoding: Encoding
        switch format {
        case .gray8: encoding = .gray
        case .nv12FullRange, .nv12VideoRange: encoding = .biplanar(videoRange: format == .nv12VideoRange)
        case .rgb8, .bgr8, .rgba8, .bgra8, .argb8, .abgr8:
            let offsets = format.channelOffsets
            encoding = .packed(byteCount: format.bytesPerPixel, red: offsets.red, green: offsets.green, blue: offsets.blue)
        }
        let color: Color
        switch preprocessor.color {
        case .rgb: color = .rgb
        case .bgr: color = .bgr
        case .grayscale: color = .luma
        }
        self.init(
            planes: Self.planes(view, tables), encoding: encoding, color: color,
            resampling: PixelResampling(
                columns: tables.columns.count, rows: tables.rows.count, isTransposed: tables.isTransposed, x: PixelResampling.Axis(tables.x),
                y: PixelResampling.Axis(tables.y), left: tables.left, top: tables.top, width: preprocessor.geometry.width,
                height: preprocessor.geometry.height))
    }

    private static func planes(_ view: PixelView, _ tables: ResampleTables) -> [Plane] {
        let (columns, rows, size) = (tables.columns, tables.rows, view.format.bytesPerPixel)
        let first = Plane(
            base: view.base + rows.lowerBound * view.bytesPerRow + columns.lowerBound * size, bytesPerRow: view.bytesPerRow,
            width: columns.count * size, height: rows.count)
        guard let chroma = view.chromaBase else { return [first] }
        return [
            first,
            Plane(
                base: chroma + rows.lowerBound / 2 * view.chromaBytesPerRow + columns.lowerBound, bytesPerRow: view.chromaBytesPerRow,
                width: (columns.count + 1) / 2 * 2, height: (rows.count + 1) / 2),
        ]
    }
}

extension PixelResampling.Axis {
    init(_ axis: ResampleTables.Axis) { self.init(first: axis.first, used: axis.used, taps: axis.taps, weights: axis.weights) }
}
