/// The geometry worked out for one picture size: which box of the turned picture is drawn on which rectangle of the target.
///
/// Coordinates are pixels of the turned (upright, and further turned where the option says so) picture; the top-left corner is (0, 0).
struct ImagePlacement {
    /// From stored to turned.
    var orientation: ImageOrientation
    /// The part that is drawn; edges may lie between pixels.
    var box: (x: (lower: Double, upper: Double), y: (lower: Double, upper: Double))
    /// The pixels the filter may see: those the region of interest touches.
    var domain: (x: Range<Int>, y: Range<Int>)
    /// The rectangle of the target that is drawn; the rest is black.
    var drawn: (x: Int, y: Int, width: Int, height: Int)

    /// - Parameters:
    ///   - width: stored columns; `height`: stored rows; `extent`: the part of them that the picture fills.
    /// - Throws: `ImageError` for an impossible target or region.
    init(geometry: ImageGeometry, width: Int, height: Int, extent: (Double, Double), orientation: ImageOrientation) throws {
        try Self.check(geometry)
        let size = orientation.isTransposed ? (x: height, y: width) : (x: width, y: height)
        let filled = orientation.isTransposed ? (x: extent.1, y: extent.0) : (x: extent.0, y: extent.1)
        let roi = geometry.regionOfInterest
        let originX = orientation.flipsX ? Double(size.x) - filled.x : 0
        let originY = orientation.flipsY ? Double(size.y) - filled.y : 0
        var x = try Self.interval(roi.x, roi.width, origin: originX, length: filled.x)
        var y = try Self.interval(1 - roi.y - roi.height, roi.height, origin: originY, length: filled.y)
        var turned = orientation
        if geometry.cropAndScale.rotates {
            // Counter-clockwise: the new column is the old row, the new row counts old columns from the right.
            let right = Double(size.x)
            (x, y) = (y, (right - x.upper, right - x.lower))
            turned = orientation.followed(by: .left)
        }
        let bounds = turned.isTransposed ? (x: height, y: width) : (x: width, y: height)
        domain = (Self.cover(x, limit: bounds.x), Self.cover(y, limit: bounds.y))
        self.orientation = turned
        drawn = (0, 0, geometry.width, geometry.height)
        let target = (width: Double(geometry.width), height: Double(geometry.height))
        let (boxWidth, boxHeight) = (x.upper - x.lower, y.upper - y.lower)
        switch geometry.cropAndScale {
        case .scaleFill, .scaleFillRotate90CCW: break
        case .centerCrop:
            if boxWidth * target.height > boxHeight * target.width {
                let kept = boxHeight * target.width / target.height
                x.lower += (boxWidth - kept) / 2
                x.upper = x.lower + kept
            } else {
                let kept = boxWidth * target.height / target.width
                y.lower += (boxHeight - kept) / 2
                y.upper = y.lower + kept
            }
        case .scaleFit, .scaleFitRotate90CCW:
            let scale = min(target.width / boxWidth, target.height / boxHeight)
            drawn.width = min(max(Int((boxWidth * scale).rounded()), 1), geometry.width)
            drawn.height = min(max(Int((boxHeight * scale).rounded()), 1), geometry.height)
            drawn.x = (geometry.width - drawn.width) / 2
            drawn.y = (geometry.height - drawn.height) / 2
        }
        box = (x, y)
    }

    private static func check(_ geometry: ImageGeometry) throws {
        guard geometry.width > 0, geometry.height > 0 else {
            throw ImageError(.invalidArgument, "a target of \(geometry.width) x \(geometry.height) pixels; expected at least 1 x 1")
        }
        guard geometry.width <= ImageLimits.maximumSide, geometry.height <= ImageLimits.maximumSide,
            geometry.width * geometry.height <= ImageLimits.maximumTargetPixelCount
        else {
            throw ImageError(
                .tooLarge,
                "a target of \(geometry.width) x \(geometry.height) pixels; the limit is \(ImageLimits.maximumTargetPixelCount) pixels")
        }
        let roi = geometry.regionOfInterest
        guard roi.isValid else {
            throw ImageError(
                .invalidArgument,
                "region of interest x \(roi.x), y \(roi.y), width \(roi.width), height \(roi.height); expected a part of the unit square")
        }
    }

    /// A fraction of a length in pixels, edges within a millionth of a pixel of a pixel border put on it.
    private static func interval(_ start: Double, _ part: Double, origin: Double, length: Double) throws -> (lower: Double, upper: Double) {
        func edge(_ fraction: Double) -> Double {
            let value = origin + min(max(fraction, 0), 1) * length
            let whole = value.rounded()
            return abs(value - whole) <= 1e-6 ? whole : value
        }
        let (lower, upper) = (edge(start), edge(start + part))
        guard upper - lower >= 1e-3 else {
            throw ImageError(.invalidArgument, "a region of interest under a thousandth of a pixel wide")
        }
        return (lower, upper)
    }

    /// The whole pixels that an interval touches.
    private static func cover(_ interval: (lower: Double, upper: Double), limit: Int) -> Range<Int> {
        let lower = min(max(Int(interval.lower.rounded(.down)), 0), limit - 1)
        return lower..<min(max(Int(interval.upper.rounded(.up)), lower + 1), limit)
    }
}
