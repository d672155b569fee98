/// How the stored picture must be turned to stand upright, counted as EXIF does.
///
/// Described as up to three steps from stored to upright: exchange rows and columns, then mirror left-right, then top-bottom.
package enum ImageOrientation: UInt32, Sendable, CaseIterable {
    case up = 1
    case upMirrored = 2
    case down = 3
    case downMirrored = 4
    case leftMirrored = 5
    case right = 6
    case rightMirrored = 7
    case left = 8

    /// 1...8; any other number, 0 among them, is up.
    package init(exif: UInt32) {
        self = ImageOrientation(rawValue: exif) ?? .up
    }

    /// The stored rows are the upright columns.
    package var isTransposed: Bool { rawValue >= 5 }

    /// After the exchange, if any, columns run the other way.
    package var flipsX: Bool {
        switch self {
        case .upMirrored, .down, .right, .rightMirrored: true
        default: false
        }
    }

    /// After the exchange, if any, rows run the other way.
    package var flipsY: Bool {
        switch self {
        case .down, .downMirrored, .rightMirrored, .left: true
        default: false
        }
    }

    /// The orientation with these steps.
    package init(transposed: Bool, flipsX: Bool, flipsY: Bool) {
        switch (transposed, flipsX, flipsY) {
        case (false, false, false): self = .up
        case (false, true, false): self = .upMirrored
        case (false, true, true): self = .down
        case (false, false, true): self = .downMirrored
        case (true, false, false): self = .leftMirrored
        case (true, true, false): self = .right
        case (true, true, true): self = .rightMirrored
        case (true, false, true): self = .left
        }
    }

    /// First this orientation, then the upright picture is turned again by `next`.
    package func followed(by next: ImageOrientation) -> ImageOrientation {
        // Mirrors before an exchange become mirrors of the other axis after it.
        let x = next.isTransposed ? flipsY : flipsX
        let y = next.isTransposed ? flipsX : flipsY
        return ImageOrientation(
            transposed: isTransposed != next.isTransposed, flipsX: x != next.flipsX, flipsY: y != next.flipsY)
    }
}
