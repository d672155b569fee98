/// The axes that a strided kernel walks: extents and each operand's strides, neighbouring axes joined where every operand allows it.
struct IterationSpace {
    private(set) var dims: [Int] = []
    /// Per operand, per axis.
    private(set) var strides: [[Int]]

    /// Axes are taken in `order`, outermost first; those of extent 1 are dropped. There is always one axis at least.
    init(dims source: [Int], operands: [[Int]], order: [Int]) {
        strides = [[Int]](repeating: [], count: operands.count)
        for axis in order where source[axis] != 1 {
            let joins =
                !dims.isEmpty
                && operands.indices.allSatisfy { strides[$0][dims.count - 1] == operands[$0][axis] * source[axis] }
            if joins {
                dims[dims.count - 1] *= source[axis]
                for operand in operands.indices { strides[operand][dims.count - 1] = operands[operand][axis] }
            } else {
                dims.append(source[axis])
                for operand in operands.indices { strides[operand].append(operands[operand][axis]) }
            }
        }
        if dims.isEmpty {
            dims = [1]
            for operand in operands.indices { strides[operand] = [1] }
        }
    }

    var count: Int { dims.reduce(1, *) }
    var innerExtent: Int { dims[dims.count - 1] }
    var outerCount: Int { dims.dropLast().reduce(1, *) }

    /// An operand's stride along the inner axis.
    func innerStride(_ operand: Int) -> Int { strides[operand][dims.count - 1] }

    /// One row per axis: the extent, then each operand's stride.
    func rows(_ axes: Range<Int>) -> [Int] {
        axes.flatMap { axis in [dims[axis]] + strides.map { $0[axis] } }
    }
}
