import NTGraph
import NTTensor

extension OperatorCases {
    /// Gathering and scattering by indices, running sums, reversed sequences, cropped images.
    static let selection: [OperatorCase] = {
        var cases: [OperatorCase] = []
        for (shape, axis, picked) in [
            ([5, 3], 0, [2, 3]), ([2, 7, 3], 1, [2, 4, 3]), ([2, 3, 17], -1, [2, 3, 33]),
        ] as [(Shape, Int, Shape)] {
            let extent = shape[axis < 0 ? axis + shape.rank : axis]
            let indices = Fill.integers(-extent...(extent - 1))
            cases.append(
                OperatorCase("\(shape) axis \(axis)", GatherAlongAxis(axis: axis), [.input(shape, .counting), .input(picked, indices)]))
            for mode in Scatter.Mode.allCases where mode != .divide {
                cases.append(
                    OperatorCase(
                        "\(mode) elements \(shape) axis \(axis)", Scatter(.elements(axis: axis), mode: mode),
                        [.input(shape), .input(picked, indices), .input(picked, .integers(-1...1))]))
            }
            for (exclusive, reversed) in [(false, false), (true, false), (false, true), (true, true)] {
                cases.append(
                    OperatorCase(
                        "\(shape) axis \(axis) exclusive \(exclusive) reversed \(reversed)",
                        CumulativeSum(axis: axis, isExclusive: exclusive, isReversed: reversed), [.input(shape)]))
            }
        }
        for (shape, picked) in [([5, 3], [4, 1]), ([3, 3, 5], [2, 2]), ([3, 3, 3], [2, 4, 3])] as [(Shape, Shape)] {
            let indices = Fill.integers(-3...2)
            let updates = Shape(picked.dims.dropLast() + shape.dims[picked[picked.rank - 1]...])
            cases.append(OperatorCase("\(shape) at \(picked)", GatherND(), [.input(shape, .counting), .input(picked, indices)]))
            cases.append(
                OperatorCase(
                    "coordinates \(shape) at \(picked)", Scatter(.coordinates, mode: .update),
                    [.input(shape), .input(picked, indices), .input(updates)]))
        }
        cases.append(
            OperatorCase(
                "slices", Scatter(.slices(axis: 1), mode: .add),
                [.input([2, 5, 3]), .input([4], .values([1, -1, 0, 1])), .input([2, 4, 3])]))
        for (shape, batch, sequence, lengths) in [([3, 4, 2], 0, 1, [0, 4, 3]), ([4, 17], 1, 0, [0, 1, 2, 3, 4])]
            as [(Shape, Int, Int, [Float])]
        {
            cases.append(
                OperatorCase(
                    "\(shape) batch \(batch) along \(sequence)", ReverseSequence(batchAxis: batch, sequenceAxis: sequence),
                    [.input(shape, .counting), .input([shape[batch]], .values(lengths))]))
        }
        for sampling in CropResize.Sampling.allCases {
            for format in CropResize.BoxFormat.allCases {
                let op = CropResize(size: Size2D(3, 1), sampling: sampling, format: format, isNormalized: sampling == .upsample)
                cases.append(
                    OperatorCase(
                        "\(sampling) \(format)", op,
                        [.input([2, 3, 5, 7]), .input([3, 4], .values([0.5, 1, 3, 2.5, 0, 0, 4, 6, 0.25, 0.5, 1, 0.75]))],
                        tolerance: .float32))
                cases.append(
                    OperatorCase(
                        "\(sampling) \(format) of one image", op,
                        [.input([2, 3, 5, 7]), .input([2, 5], .values([1, 1, 1, 3, 2, -1, 0, 0, 9, 9]))], tolerance: .float32))
            }
        }
        return cases
    }()
}
