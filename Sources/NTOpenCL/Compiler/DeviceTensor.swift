import NTTensor

/// The element types of device memory; the raw value is the macro the kernels are built with.
enum ElementType: String, Sendable, Hashable {
    case float, half

    var byteCount: Int { self == .float ? 4 : 2 }
}

/// A tensor as a window on a storage: extents of the logical axes, and how far apart their elements lie. Movement operators make new windows
/// where they can; a kernel that needs another layout asks the compiler for a copy.
struct DeviceTensor: Sendable, Hashable {
    /// The storage's index in the compiler.
    var storage: Int
    /// Elements from the storage's beginning.
    var offset = 0
    var dims: [Int]
    /// Per logical axis, in elements; zero repeats, negative runs backwards.
    var strides: [Int]
    var type: ElementType

    /// Whether four neighbours lie aligned as a vector wherever the first of them is at a multiple of 4 of the axis with unit stride. Storages begin aligned.
    var isAligned: Bool { offset % 4 == 0 && dims.indices.allSatisfy { dims[$0] == 1 || strides[$0] == 1 || strides[$0] % 4 == 0 } }

    var count: Int { dims.reduce(1, *) }
    var rank: Int { dims.count }

    /// A dense tensor whose axes lie in memory in `order`, outermost first.
    init(storage: Int, dims: [Int], order: [Int], type: ElementType) {
        self.storage = storage
        self.dims = dims
        self.type = type
        strides = Self.strides(dims, order: order)
    }

    static func strides(_ dims: [Int], order: [Int]) -> [Int] {
        var result = [Int](repeating: 1, count: dims.count)
        var step = 1
        for axis in order.reversed() {
            result[axis] = step
            step *= max(1, dims[axis])
        }
        return result
    }

    /// Whether the elements lie without gaps in this order of axes, from the storage's beginning.
    func isDense(order: [Int]) -> Bool {
        let expected = Self.strides(dims, order: order)
        return offset == 0 && count > 0 && dims.indices.allSatisfy { dims[$0] == 1 || strides[$0] == expected[$0] }
    }

    /// The order of axes in memory, outermost first; row-major where strides say nothing.
    var memoryOrder: [Int] {
        dims.indices.sorted { a, b in
            let (left, right) = (abs(strides[a]), abs(strides[b]))
            return dims[a] == 1 || dims[b] == 1 || left == right ? a < b : left > right
        }
    }

    /// The order in memory when the tensor is dense in it; row-major otherwise. What an element-wise result is laid out in.
    var denseOrder: [Int] {
        for order in [Self.rowMajor(rank), Self.channelsLast(rank)] where isDense(order: order) { return order }
        let order = memoryOrder
        return isDense(order: order) ? order : Self.rowMajor(rank)
    }

    static func rowMajor(_ rank: Int) -> [Int] { Array(0..<rank) }
    /// N H W C for rank 4, row-major for any other.
    static func channelsLast(_ rank: Int) -> [Int] { rank == 4 ? [0, 2, 3, 1] : rowMajor(rank) }

    /// The same elements under other extents, where that takes no copy.
    func reshaped(_ target: [Int]) -> DeviceTensor? {
        guard count > 0 else {
            var result = self
            (result.dims, result.strides) = (target, [Int](repeating: 0, count: target.count))
            return result
        }
        // Runs of source axes that step evenly, matched with runs of target axes of the same extent.
        let source = dims.indices.filter { dims[$0] != 1 }
        var strides = [Int](repeating: 1, count: target.count)
        var (from, to) = (0, 0)
        while from < source.count || to < target.count {
            if to < target.count, target[to] == 1 {
                to += 1
                continue
            }
            guard from < source.count, to < target.count else { return nil }
            var (fromEnd, toEnd) = (from + 1, to + 1)
            var (a, b) = (dims[source[from]], target[to])
            while a != b {
                if a < b {
                    guard fromEnd < source.count else { return nil }
                    a *= dims[source[fromEnd]]
                    fromEnd += 1
                } else {
                    guard toEnd < target.count else { return nil }
                    b *= target[toEnd]
                    toEnd += 1
                }
            }
            for k in from..<(fromEnd - 1) {
                let (outer, inner) = (source[k], source[k + 1])
                guard self.strides[outer] == self.strides[inner] * dims[inner] else { return nil }
            }
            var step = self.strides[source[fromEnd - 1]]
            for axis in stride(from: toEnd - 1, through: to, by: -1) {
                strides[axis] = step
                step *= target[axis]
            }
            (from, to) = (fromEnd, toEnd)
        }
        var result = self
        (result.dims, result.strides) = (target, strides)
        return result
    }

    /// Output axis i is this tensor's axis `permutation[i]`.
    func transposed(_ permutation: [Int]) -> DeviceTensor {
        var result = self
        result.dims = permutation.map { dims[$0] }
        result.strides = permutation.map { strides[$0] }
        return result
    }

    /// Elements `start..<start + extent` of an axis.
    func sliced(axis: Int, start: Int, extent: Int) -> DeviceTensor {
        var result = self
        result.offset += start * strides[axis]
        result.dims[axis] = extent
        return result
    }

    /// The window repeated over a shape it broadcasts to.
    func broadcast(to target: [Int]) -> DeviceTensor {
        let lead = target.count - rank
        var result = self
        result.dims = target
        result.strides = target.indices.map { $0 < lead || dims[$0 - lead] == 1 ? 0 : strides[$0 - lead] }
        return result
    }
}
