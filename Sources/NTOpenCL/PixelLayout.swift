import NTRuntime

/// Sizes, macros and arguments of the two kernels of `pixels.cl` for one picture, every number checked.
struct PixelLayout {
    /// Where each plane begins in the buffer of stored pixels.
    let planeOffsets: [Int]
    let sourceBytes: Int
    let middleBytes: Int
    let narrowMacros: [String: String]
    let combineMacros: [String: String]
    let narrow: [Int]
    let combine: [Int]

    /// Nil when the picture is not what its description says, the image does not lie in a target of `targetBytes`, or a size passes what the kernels or
    /// the device can hold.
    init?(_ pixels: PixelUpload, image: Int, targetBytes: Int, device: OpenCLDevice) {
        let r = pixels.resampling
        let limit = min(device.maximumAllocationBytes, Int(Int32.max))
        guard r.isValid, r.width <= limit, r.height <= limit, r.columns <= limit, r.rows <= limit, (0..<limit).contains(image),
            pixels.planes.count == (pixels.isBiplanar ? 2 : 1)
        else { return nil }
        let (sourceSize, isSingle) = (pixels.bytesPerStoredPixel, pixels.color == .luma || pixels.encoding == .gray)
        var (offsets, total) = ([Int](), 0)
        for (index, plane) in pixels.planes.enumerated() {
            let width = index == 0 ? r.columns * sourceSize : (r.columns + 1) / 2 * 2
            let height = index == 0 ? r.rows : (r.rows + 1) / 2
            let (size, overflow) = plane.width.multipliedReportingOverflow(by: plane.height)
            guard plane.width == width, plane.height == height, plane.bytesPerRow >= width, !overflow, size <= limit - total else { return nil }
            offsets.append(total)
            total += size
        }
        (planeOffsets, sourceBytes) = (offsets, total)
        let (columns, lines) = (r.x.count, r.isTransposed ? r.columns : r.rows)
        let (middle, overflow) = columns.multipliedReportingOverflow(by: lines * (isSingle ? 1 : 4))
        let (plane, planeOverflow) = r.width.multipliedReportingOverflow(by: r.height)
        let imageCount = plane.multipliedReportingOverflow(by: pixels.color.channelCount)
        guard !overflow, middle <= limit, !planeOverflow, !imageCount.overflow, imageCount.partialValue <= limit else { return nil }
        let end = imageCount.partialValue.multipliedReportingOverflow(by: image + 1)
        guard !end.overflow, end.partialValue <= min(limit, targetBytes / 4) else { return nil }
        guard (r.x.taps + 2) * r.x.count + (r.y.taps + 2) * r.y.count <= limit / 4 else { return nil }
        middleBytes = middle
        combineMacros = isSingle ? ["COMBINE": "", "SINGLE": ""] : ["COMBINE": ""]
        (narrowMacros, narrow, combine) = Self.arguments(
            pixels, columns: columns, lines: lines, chroma: offsets.last ?? 0, offset: image * imageCount.partialValue)
    }

    private static func arguments(
        _ pixels: PixelUpload, columns: Int, lines: Int, chroma: Int, offset: Int
    ) -> (macros: [String: String], narrow: [Int], combine: [Int]) {
        let r = pixels.resampling
        var macros = ["NARROW": ""]
        var offsets = (0, 1, 2)
        switch pixels.encoding {
        case .gray: macros["GRAY"] = ""
        case .packed(let byteCount, let red, let green, let blue):
            macros["PACKED"] = "\(byteCount)"
            offsets = (red, green, blue)
        case .biplanar(let videoRange): macros["BIPLANAR"] = videoRange ? "1" : "0"
        }
        if pixels.color == .luma, pixels.encoding != .gray { macros["LUMA"] = "" }
        if r.isTransposed { macros["TRANSPOSED"] = "" }
        let order = pixels.color == .bgr ? [offsets.2, offsets.1, offsets.0] : [offsets.0, offsets.1, offsets.2]
        let narrow = [pixels.planes[0].width, chroma, pixels.planes.last?.width ?? 0, offsets.0, offsets.1, offsets.2]
        let combine =
            [(r.x.taps + 2) * r.x.count, r.width, r.height, r.left, r.top, offset, pixels.color.channelCount] + order
        return (macros, [columns, lines] + narrow, [columns, r.y.count] + combine)
    }
}

extension PixelUpload {
    var isBiplanar: Bool { if case .biplanar = encoding { true } else { false } }

    /// Bytes of a pixel in the first plane.
    var bytesPerStoredPixel: Int { if case .packed(let byteCount, _, _, _) = encoding { byteCount } else { 1 } }
}
