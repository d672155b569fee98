import NTTensor

/// Zero rows and columns around an image.
package struct Padding2D: Sendable, Hashable, CustomStringConvertible {
    package var top: Int
    package var left: Int
    package var bottom: Int
    package var right: Int

    package init(top: Int = 0, left: Int = 0, bottom: Int = 0, right: Int = 0) {
        (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
    }

    package static let zero = Padding2D()
    package var isZero: Bool { self == .zero }
    package var description: String { "\(top),\(left),\(bottom),\(right)" }
}

/// Two extents: height and width.
package struct Size2D: Sendable, Hashable, CustomStringConvertible {
    package var height: Int
    package var width: Int

    package init(_ height: Int, _ width: Int) { (self.height, self.width) = (height, width) }

    package static let one = Size2D(1, 1)
    package var description: String { "\(height)x\(width)" }
}

/// Window arithmetic shared by convolution and pooling, one dimension at a time.
package enum Window {
    /// The largest kernel, stride, dilation or padding that is accepted.
    package static let maximumExtent = 1 << 16

    /// The extent that a kernel covers: (K - 1) d + 1.
    package static func coverage(kernel: Int, dilation: Int) -> Int { (kernel - 1) * dilation + 1 }

    /// Throws unless all parameters lie within 1 or 0 and `maximumExtent`, so that arithmetic with them does not overflow.
    package static func require(
        kernel: Int, stride: Int, dilation: Int, before: Int, after: Int, axis: String
    ) throws {
        let limit = 1...maximumExtent
        try OperatorError.require(limit.contains(kernel), "kernel \(axis) \(kernel) lies outside \(limit)")
        try OperatorError.require(limit.contains(stride), "stride \(axis) \(stride) lies outside \(limit)")
        try OperatorError.require(limit.contains(dilation), "dilation \(axis) \(dilation) lies outside \(limit)")
        try OperatorError.require(
            (0...maximumExtent).contains(before) && (0...maximumExtent).contains(after),
            "padding \(axis) \(before), \(after) lies outside \(0...maximumExtent)")
    }

    /// floor((H + before + after - K_eff) / stride) + 1. Throws when the kernel does not fit or a parameter is out of range.
    package static func outputExtent(
        input: Int, kernel: Int, stride: Int, dilation: Int, before: Int, after: Int, axis: String
    ) throws -> Int {
        try require(kernel: kernel, stride: stride, dilation: dilation, before: before, after: after, axis: axis)
        let room = input + before + after - coverage(kernel: kernel, dilation: dilation)
        try OperatorError.require(
            room >= 0,
            "kernel \(axis) \(coverage(kernel: kernel, dilation: dilation)) does not fit padded input \(axis) \(input + before + after)")
        return room / stride + 1
    }

    /// The padding of TensorFlow's SAME rule: output ceil(H / stride), the smaller half first unless `smallerLast`.
    /// None when a parameter is out of range, which `outputExtent` then refuses.
    package static func samePadding(
        input: Int, kernel: Int, stride: Int, dilation: Int, smallerLast: Bool
    ) -> (before: Int, after: Int) {
        let limit = 1...maximumExtent
        guard limit.contains(stride), limit.contains(kernel), limit.contains(dilation), (0...Shape.maximumCount).contains(input) else {
            return (0, 0)
        }
        let output = (input + stride - 1) / stride
        let total = max(0, (output - 1) * stride + coverage(kernel: kernel, dilation: dilation) - input)
        return smallerLast ? (total - total / 2, total / 2) : (total / 2, total - total / 2)
    }
}
