import NTGraph
import NTTensor

extension OperatorCases {
    package static let movement: [OperatorCase] = {
        var cases: [OperatorCase] = []
        let reshapes: [(Shape, Shape)] = [
            ([1, 8, 3, 3], [1, 72]), ([6], [2, 3]), ([2, 3, 4], [4, 3, 2]), ([1, 17, 1, 1], [17]), ([], [1, 1]), ([1], []),
            ([2, 3], [1, 2, 1, 3, 1]), ([1, 16, 1, 1], [1, 16]),
        ]
        for (from, to) in reshapes { cases.append(OperatorCase("\(from) to \(to)", Reshape(to), [.input(from, .counting)])) }
        let transposes: [(Shape, [Int])] = [
            ([2, 3], [1, 0]), ([17, 33], [1, 0]), ([1, 3, 5, 7], [0, 2, 3, 1]), ([1, 5, 7, 3], [0, 3, 1, 2]), ([2, 16, 4, 8], [0, 2, 3, 1]),
            ([2, 3, 4, 5], [3, 2, 1, 0]), ([2, 3, 4, 5], [0, 1, 2, 3]), ([2, 3, 4], [1, 0, 2]), ([2, 3, 4, 5, 6], [4, 0, 2, 1, 3]), ([4], [0]),
            ([1, 33, 1, 1], [0, 2, 3, 1]), ([2, 4, 3, 5, 5], [0, 2, 1, 3, 4]),
        ]
        for (shape, order) in transposes { cases.append(OperatorCase("\(shape) by \(order)", Transpose(order), [.input(shape, .counting)])) }
        let concats: [([Shape], Int)] = [
            ([[1, 3, 4, 4], [1, 5, 4, 4]], 1), ([[1, 16, 3, 3], [1, 16, 3, 3], [1, 32, 3, 3]], 1),
            ([[1, 7, 3, 2], [1, 1, 3, 2], [1, 17, 3, 2]], 1),
            ([[2, 3], [2, 5]], -1), ([[2, 3], [4, 3]], 0), ([[1, 2, 3, 4], [1, 2, 5, 4]], 2), ([[1, 2, 3, 4], [1, 2, 3, 1]], 3), ([[3]], 0),
            ([[2, 2, 3], [2, 1, 3], [2, 4, 3]], 1), ([[1, 4, 5, 5], [1, 0, 5, 5]], 1),
        ]
        for (shapes, axis) in concats {
            cases.append(
                OperatorCase(
                    "\(shapes.map(\.description).joined(separator: " + ")) axis \(axis)", Concat(axis: axis), shapes.map { .input($0) }))
        }
        cases.append(OperatorCase("with a constant", Concat(axis: 1), [.input([1, 3, 2, 2]), .constant([1, 2, 2, 2])]))
        cases.append(
            OperatorCase("one value twice", kinds: ["Concat"]) { builder in
                let x = try builder.input([1, 5, 3, 3])
                try builder.output(try builder.add(Concat(axis: 1), x, x))
            })
        let splits: [(Shape, Int, [Int])] = [
            ([1, 8, 3, 3], 1, [4, 4]), ([1, 17, 3, 3], 1, [1, 16]), ([6, 5], 0, [1, 2, 3]), ([6, 5], -1, [5]), ([2, 3, 4, 6], 3, [2, 2, 2]),
            ([2, 4], 1, [4, 0]), ([1, 32, 2, 2], 1, [16, 8, 8]),
        ]
        for (shape, axis, sizes) in splits {
            cases.append(OperatorCase("\(shape) axis \(axis) into \(sizes)", Split(axis: axis, sizes: sizes), [.input(shape, .counting)]))
        }
        cases += slices + pads
        let tiles: [(Shape, [Int])] = [([2, 3], [1, 1]), ([2, 3], [2, 3]), ([1, 3, 2, 2], [1, 1, 4, 4]), ([5], [3]), ([1, 1, 2], [2, 1, 3])]
        for (shape, times) in tiles { cases.append(OperatorCase("\(shape) by \(times)", Tile(times), [.input(shape, .counting)])) }
        let broadcasts: [(Shape, Shape)] = [
            ([], [2, 3]), ([1, 5, 1, 1], [1, 5, 4, 4]), ([3], [2, 3]), ([3, 1], [2, 3, 4]), ([2, 3], [2, 3]), ([1, 1, 4, 4], [1, 17, 4, 4]),
        ]
        for (from, to) in broadcasts { cases.append(OperatorCase("\(from) to \(to)", BroadcastTo(to), [.input(from, .counting)])) }
        for (shape, axes) in [([5], [0]), ([2, 3, 4], [1, -1]), ([1, 3, 4, 5], [3]), ([1, 3, 4, 5], [1]), ([2, 3], [])] as [(Shape, [Int])] {
            cases.append(OperatorCase("\(shape) axes \(axes)", Reverse(axes: axes), [.input(shape, .counting)]))
        }
        return cases
    }()

    private static var slices: [OperatorCase] {
        let slices: [(Shape, [Int], [Int], [Int])] = [
            ([1, 8, 5, 5], [0, 2, 0, 0], [1, 4, 5, 5], [1, 1, 1, 1]), ([1, 8, 6, 7], [0, 0, 1, 2], [1, 8, 4, 3], [1, 1, 1, 1]),
            ([1, 3, 8, 9], [0, 0, 0, 0], [1, 3, 4, 5], [1, 1, 2, 2]), ([7], [6], [7], [-1]), ([4, 5], [3, 1], [2, 2], [-2, 3]),
            ([1, 17, 4, 4], [0, 16, 0, 0], [1, 1, 4, 4], [1, 1, 1, 1]), ([1, 17, 4, 4], [0, 1, 0, 0], [1, 8, 4, 4], [1, 2, 1, 1]),
            ([2, 3, 4], [0, 0, 0], [2, 3, 4], [1, 1, 1]), ([2, 3, 4], [0, 1, 0], [2, 0, 4], [1, 1, 1]), ([], [], [], []),
        ]
        return slices.map { shape, begins, extents, strides in
            OperatorCase(
                "\(shape) from \(begins) count \(extents) by \(strides)", Slice(begins: begins, extents: extents, strides: strides),
                [.input(shape, .counting)])
        }
    }

    private static var pads: [OperatorCase] {
        var cases: [OperatorCase] = []
        for mode in [Pad.Mode.constant(0), .constant(-1.5), .reflection, .replication] {
            let paddings: [(Shape, [Int], [Int])] = [
                ([1, 3, 4, 5], [0, 0, 1, 2], [0, 0, 3, 1]), ([1, 17, 3, 3], [0, 0, 0, 0], [0, 0, 1, 1]), ([4], [2], [3]),
                ([2, 3, 4], [1, 2, 3], [0, 1, 2]), ([2, 2], [0, 0], [0, 0]),
            ]
            for (shape, before, after) in paddings {
                cases.append(
                    OperatorCase("\(mode) \(shape) by \(before), \(after)", Pad(mode, before: before, after: after), [.input(shape)]))
            }
        }
        cases.append(
            OperatorCase("channels", Pad(.constant(0), before: [0, 0, 0, 0], after: [0, 5, 0, 0]), [.input([1, 3, 4, 4])]))
        return cases
    }

    package static let gather: [OperatorCase] = {
        let gathers: [(Shape, Int, Shape, [Float])] = [
            ([5], 0, [3], [4, 0, -1]), ([5], 0, [], [2]), ([4, 3], 0, [2, 2], [3, 0, -4, 1]), ([4, 3], 1, [2], [2, 2]),
            ([1, 6, 2, 2], 1, [4], [5, 0, 3, 3]), ([2, 3, 4], -1, [1, 2], [0, -1]), ([7, 5], 0, [0], []),
        ]
        return gathers.flatMap { shape, axis, indexShape, indices -> [OperatorCase] in
            let name = "\(shape) axis \(axis) at \(indexShape)"
            return [
                OperatorCase(
                    name + " constant indices", Gather(axis: axis), [.input(shape, .counting), .constant(indexShape, .values(indices))]),
                OperatorCase(name + " variable indices", Gather(axis: axis), [.input(shape, .counting), .input(indexShape, .values(indices))]),
            ]
        }
    }()
}
