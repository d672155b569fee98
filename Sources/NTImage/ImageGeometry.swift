/// What part of a picture goes where in a target: orientation, then region of interest, then crop and scale.
package struct ImageGeometry: Sendable, Hashable {
    /// Columns and rows of the target.
    package var width: Int
    package var height: Int
    package var cropAndScale: CropAndScale
    /// In the upright picture. Resampling sees nothing outside of it: the pixels it touches are cut out first.
    package var regionOfInterest: NormalizedRect
    /// Replaces the orientation that a source carries; nil keeps that one.
    package var orientation: ImageOrientation?

    package init(
        width: Int, height: Int, cropAndScale: CropAndScale = .scaleFill, regionOfInterest: NormalizedRect = .full,
        orientation: ImageOrientation? = nil
    ) {
        self.width = width
        self.height = height
        self.cropAndScale = cropAndScale
        self.regionOfInterest = regionOfInterest
        self.orientation = orientation
    }

    /// A reduced-size decoding still has at least this many pixels for each target pixel along both axes, so that what the
    /// antialiasing filter averages stays close to what it would have averaged at full size.
    package static let minimumOversampling = 1.5

    /// The largest of 8, 4, 2 and 1 by which a decoder may divide the size of a stored `width` x `height` picture.
    package func reduction(forWidth width: Int, height: Int, orientation: ImageOrientation) -> Int {
        guard
            let placement = try? ImagePlacement(
                geometry: self, width: width, height: height, extent: (Double(width), Double(height)),
                orientation: self.orientation ?? orientation)
        else { return 1 }
        let ratio = min(
            (placement.box.x.upper - placement.box.x.lower) / Double(placement.drawn.width),
            (placement.box.y.upper - placement.box.y.lower) / Double(placement.drawn.height))
        return [8, 4, 2].first { ratio / Double($0) >= Self.minimumOversampling } ?? 1
    }

    /// The stored columns of a `width` x `height` picture, of which `extent` is filled, that a decoder must give: those that the filter reads, and
    /// some at either side whose colours they are smoothed with. All of them when little would be saved.
    func columns(ofWidth width: Int, height: Int, extent: (Double, Double), orientation: ImageOrientation) -> Range<Int> {
        guard
            let placement = try? ImagePlacement(
                geometry: self, width: width, height: height, extent: extent, orientation: self.orientation ?? orientation)
        else { return 0..<width }
        let turned = placement.orientation
        let box = turned.isTransposed ? placement.box.y : placement.box.x
        let count = turned.isTransposed ? placement.drawn.height : placement.drawn.width
        let isMirrored = turned.isTransposed ? turned.flipsY : turned.flipsX
        let margin = max((box.upper - box.lower) / Double(count), 1) + 8
        let (lower, upper) = (max(0, Int(box.lower - margin)), min(width, Int((box.upper + margin).rounded(.up))))
        guard upper - lower < width / 8 * 7 else { return 0..<width }
        return isMirrored ? (width - upper)..<(width - lower) : lower..<upper
    }
}
