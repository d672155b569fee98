/// The bytes of a picture and how an image of a network's input is made of them: all a backend needs to know to do it on its device.
///
/// The memory is borrowed for the length of a call.
package struct PixelUpload {
    /// What the bytes of a pixel are.
    package enum Encoding: Sendable, Hashable {
        /// One byte, grey.
        case gray
        /// `byteCount` bytes, 3 or 4, with red, green and blue at these offsets.
        case packed(byteCount: Int, red: Int, green: Int, blue: Int)
        /// A plane of luma, and one of interleaved Cb Cr at half the columns and rows; BT.601, luma 16...235 and chroma 16...240 in video range.
        case biplanar(videoRange: Bool)
    }

    /// What the network wants, in planes.
    package enum Color: Sendable, Hashable {
        case rgb, bgr
        /// (19595 R + 38470 G + 7471 B + 32768) >> 16 of each stored pixel, before it is resampled.
        case luma

        /// 3 or 1.
        package var channelCount: Int { self == .luma ? 1 : 3 }
    }

    /// Rows of bytes.
    package struct Plane {
        /// The first byte that is read.
        package let base: UnsafeRawPointer
        package let bytesPerRow: Int
        /// Bytes of a row that are read, and rows.
        package let width: Int
        package let height: Int

        package init(base: UnsafeRawPointer, bytesPerRow: Int, width: Int, height: Int) {
            (self.base, self.bytesPerRow, self.width, self.height) = (base, bytesPerRow, width, height)
        }
    }

    /// One plane, or two for `.biplanar`, which begins at an even column and row.
    package let planes: [Plane]
    package let encoding: Encoding
    package let color: Color
    package let resampling: PixelResampling

    package init(planes: [Plane], encoding: Encoding, color: Color, resampling: PixelResampling) {
        (self.planes, self.encoding, self.color, self.resampling) = (planes, encoding, color, resampling)
    }
}

/// How each pixel of an image is a weighted sum of stored pixels: first along the target's x axis, rounded to a byte, then along its y axis, rounded again.
/// Sums are rounded as (sum + 2^21) >> 22 and held to 0...255.
package struct PixelResampling: Sendable, Hashable {
    /// One axis: for each of `count` target elements the first source element, how many are used, and their weights in units of 2^-22, laid out [taps][count].
    package struct Axis: Sendable, Hashable {
        package let first: [Int32]
        package let used: [Int32]
        package let taps: Int
        package let weights: [Int32]

        package init(first: [Int32], used: [Int32], taps: Int, weights: [Int32]) {
            (self.first, self.used, self.taps, self.weights) = (first, used, taps, weights)
        }

        /// Target elements.
        package var count: Int { first.count }

        /// Whether the tables have their sizes and no window leaves `extent` source elements.
        package func isValid(extent: Int) -> Bool {
            guard count > 0, used.count == count, taps > 0, weights.count == taps * count else { return false }
            for (start, length) in zip(first, used) {
                guard start >= 0, length >= 1, Int(length) <= taps, Int(start) + Int(length) <= extent else { return false }
            }
            return true
        }
    }

    /// Stored columns and rows that the windows lie in.
    package let columns: Int
    package let rows: Int
    /// The x axis walks over stored rows and the y axis over stored columns.
    package let isTransposed: Bool
    package let x: Axis
    package let y: Axis
    /// The drawn rectangle's first column and row in the image; the image is 0 around it.
    package let left: Int
    package let top: Int
    /// The image's columns and rows.
    package let width: Int
    package let height: Int

    package init(
        columns: Int, rows: Int, isTransposed: Bool, x: Axis, y: Axis, left: Int, top: Int, width: Int, height: Int
    ) {
        (self.columns, self.rows, self.isTransposed, self.x, self.y) = (columns, rows, isTransposed, x, y)
        (self.left, self.top, self.width, self.height) = (left, top, width, height)
    }

    /// Whether every window lies in the stored pixels and the drawn rectangle in the image.
    package var isValid: Bool {
        let (alongX, alongY) = isTransposed ? (rows, columns) : (columns, rows)
        guard columns > 0, rows > 0, x.isValid(extent: alongX), y.isValid(extent: alongY) else { return false }
        return left >= 0 && top >= 0 && left <= width - x.count && top <= height - y.count
    }
}

/// A compiled partition that can make its inputs from pictures' bytes where it runs.
package protocol PixelStaging: CompiledPartition {
    /// Whether an input may be staged.
    func takesPixels(input: Int) -> Bool

    /// Begins to make image `image` of an input, to be used by the state's next run instead of what the input's bytes say. Returns when the picture's
    /// bytes have been read; false, with nothing done, when this picture cannot be taken. Different images of one state may be staged by several
    /// threads at once.
    func stage(_ pixels: PixelUpload, input: Int, image: Int, in state: any PartitionState) throws -> Bool

    /// Forgets what has been staged and not run.
    func discardStaged(_ state: any PartitionState)
}
