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
}
