/// The extents of a tensor, outermost first. Logical layouts are N C H W; the last dimension is contiguous in memory.
package struct Shape: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The extents, outermost first. Zero extents are allowed; negative ones are refused by `init(checking:)`.
    package var dims: [Int]

    /// A shape of extents that are known to be sound.
    package init(_ dims: [Int]) { self.dims = dims }

    package init(arrayLiteral elements: Int...) { dims = elements }

    /// A shape of extents from outside. Throws when an extent is negative, or when the product of the extents that are not zero exceeds
    /// `maximumCount`, so that no stride or partial product of an accepted shape overflows.
    package init(checking dims: [Int]) throws(TensorError) {
        var total = 1
        for extent in dims {
            guard extent >= 0 else { throw TensorError.badShape(dims: dims, reason: "an extent is negative") }
            let (product, overflow) = total.multipliedReportingOverflow(by: max(1, extent))
            guard !overflow, product <= Shape.maximumCount else {
                throw TensorError.badShape(dims: dims, reason: "more than \(Shape.maximumCount) elements")
            }
            total = product
        }
        guard dims.count <= Shape.maximumRank else {
            throw TensorError.badShape(dims: dims, reason: "rank above \(Shape.maximumRank)")
        }
        self.dims = dims
    }

    /// The most elements a tensor may have: 2^31, 8 GiB of float32.
    package static let maximumCount = 1 << 31
    /// The most dimensions a tensor may have.
    package static let maximumRank = 16

    /// The number of dimensions.
    package var rank: Int { dims.count }

    /// The number of elements; 1 for a scalar.
    package var count: Int { dims.reduce(1, *) }

    /// Elements to step for one step in each dimension, row-major.
    package var strides: [Int] {
        var result = [Int](repeating: 1, count: rank)
        for axis in stride(from: rank - 2, through: 0, by: -1) { result[axis] = result[axis + 1] * dims[axis + 1] }
        return result
    }

    package subscript(axis: Int) -> Int {
        get { dims[axis] }
        set { dims[axis] = newValue }
    }

    /// For example `1x3x224x224`; `scalar` for rank 0.
    package var description: String { dims.isEmpty ? "scalar" : dims.map(String.init).joined(separator: "x") }

    /// The NumPy broadcast of two shapes, or nil when they do not broadcast.
    package static func broadcast(_ a: Shape, _ b: Shape) -> Shape? {
        let rank = max(a.rank, b.rank)
        var dims = [Int](repeating: 1, count: rank)
        for axis in 0..<rank {
            let x = axis < rank - a.rank ? 1 : a.dims[axis - (rank - a.rank)]
            let y = axis < rank - b.rank ? 1 : b.dims[axis - (rank - b.rank)]
            guard x == y || x == 1 || y == 1 else { return nil }
            dims[axis] = x == 1 ? y : x
        }
        return Shape(dims)
    }

    /// Row-major strides of `self` seen from a broadcast result of shape `target`: 0 where an extent is repeated.
    /// `self` must broadcast to `target`.
    package func broadcastStrides(to target: Shape) -> [Int] {
        let own = strides
        let lead = target.rank - rank
        return (0..<target.rank).map { axis in
            axis < lead || dims[axis - lead] == 1 ? 0 : own[axis - lead]
        }
    }
}
