/// A rectangle in fractions of a picture's upright size. The origin is the LOWER-left corner; y grows upwards.
package struct NormalizedRect: Sendable, Hashable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double

    /// The whole picture.
    package static let full = NormalizedRect(x: 0, y: 0, width: 1, height: 1)

    package init(x: Double, y: Double, width: Double, height: Double) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Inside the unit square up to rounding (1e-6), and not empty.
    package var isValid: Bool {
        let slack = 1e-6
        return [x, y, width, height].allSatisfy(\.isFinite) && x >= -slack && y >= -slack && width > 0 && height > 0
            && x + width <= 1 + slack && y + height <= 1 + slack
    }
}
