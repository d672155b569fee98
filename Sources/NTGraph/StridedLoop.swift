import NTTensor

/// Walks a row-major shape while tracking offsets under other strides; what the reference operators are written with.
package enum StridedLoop {
    /// Calls `body(element, offset)` for each element of `shape` in row-major order, `offset` being the dot product of the index and `strides`.
    package static func forEach(_ shape: Shape, strides: [Int], offset: Int = 0, _ body: (Int, Int) throws -> Void) rethrows {
        try forEach(shape, strides, [Int](repeating: 0, count: shape.rank), offset) {
            try body($0, $1)
            _ = $2
        }
    }

    /// The same with two sets of strides: `body(element, offsetA, offsetB)`.
    package static func forEach(
        _ shape: Shape, _ a: [Int], _ b: [Int], _ startA: Int = 0, _ body: (Int, Int, Int) throws -> Void
    ) rethrows {
        let count = shape.count
        guard count > 0 else { return }
        var index = [Int](repeating: 0, count: shape.rank)
        var (offsetA, offsetB) = (startA, 0)
        for element in 0..<count {
            try body(element, offsetA, offsetB)
            var axis = shape.rank - 1
            while axis >= 0 {
                index[axis] += 1
                offsetA += a[axis]
                offsetB += b[axis]
                if index[axis] < shape[axis] { break }
                offsetA -= a[axis] * shape[axis]
                offsetB -= b[axis] * shape[axis]
                index[axis] = 0
                axis -= 1
            }
        }
    }

    /// A shape split around an axis: `outer` x `extent` x `inner` elements.
    package static func split(_ shape: Shape, axis: Int) -> (outer: Int, extent: Int, inner: Int) {
        (shape.dims[..<axis].reduce(1, *), shape[axis], shape.dims[(axis + 1)...].reduce(1, *))
    }
}
