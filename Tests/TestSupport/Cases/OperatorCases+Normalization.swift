import NTGraph
import NTTensor

extension OperatorCases {
    package static let normalization: [OperatorCase] = {
        var cases: [OperatorCase] = []
        let tolerance = Tolerance(relative: 1e-5, absolute: 1e-6)
        let lanes: [(Shape, Int)] = [
            ([1], 0), ([10], 0), ([1, 1000], 1), ([3, 17], -1), ([1, 21, 1, 1], 1), ([1, 5, 3, 4], 1), ([2, 3, 4, 5], -3), ([2, 3, 4, 5], 2),
            ([4, 3], 0), ([2, 8, 8, 15], 3),
        ]
        for (shape, axis) in lanes {
            for isLog in [false, true] {
                cases.append(
                    OperatorCase(
                        "\(shape) axis \(axis)\(isLog ? " log" : "")", Softmax(axis: axis, isLog: isLog), [.input(shape, .uniform(-6...6))],
                        tolerance: tolerance))
            }
        }
        cases.append(OperatorCase("large arguments", Softmax(axis: 1), [.input([2, 5], .uniform(200...300))], tolerance: tolerance))
        cases.append(OperatorCase("very negative", Softmax(axis: 1), [.input([2, 5], .values([-1000, -1001, -2000]))], tolerance: tolerance))
        for (shape, size) in [
            ([1, 1, 2, 2], 5), ([1, 7, 3, 3], 5), ([2, 17, 2, 3], 3), ([1, 16, 4, 4], 1), ([1, 3, 2, 2], 9), ([1, 9, 2, 2], 4),
        ]
            as [(Shape, Int)]
        {
            cases.append(
                OperatorCase(
                    "\(shape) size \(size)", LocalResponseNormalization(size: size, alpha: 0.5, beta: 0.75, k: 1), [.input(shape, .unit)],
                    tolerance: tolerance))
        }
        cases.append(
            OperatorCase(
                "GoogLeNet's", LocalResponseNormalization(size: 5, alpha: 1e-4, beta: 0.75, k: 1), [.input([1, 16, 5, 5], .unit)],
                tolerance: tolerance))
        cases.append(
            OperatorCase(
                "beta 1/2, k 2", LocalResponseNormalization(size: 3, alpha: 0.1, beta: 0.5, k: 2), [.input([1, 6, 3, 3], .unit)],
                tolerance: tolerance))
        let groups: [(Shape, [Int])] = [
            ([1, 5, 4, 4], [2, 3]), ([1, 5, 4, 4], [1, 2, 3]), ([2, 7], [-1]), ([2, 3, 16], [2]), ([2, 3, 4, 5], [0, 2, 3]), ([1, 17, 3, 5], [1]),
        ]
        for (shape, axes) in groups {
            for (variance, outside) in [(true, false), (true, true), (false, false)] {
                cases.append(
                    OperatorCase(
                        "\(shape) axes \(axes)\(variance ? "" : " mean only")\(outside ? " epsilon outside" : "")",
                        MeanVarianceNormalization(axes: axes, normalizesVariance: variance, epsilon: 1e-3, epsilonOutside: outside),
                        [.input(shape, .uniform(-1...3))], tolerance: Tolerance(relative: 1e-5, absolute: 1e-5)))
            }
            cases.append(
                OperatorCase("\(shape) axes \(axes)", L2Normalization(axes: axes, epsilon: 1e-6), [.input(shape, .unit)], tolerance: tolerance))
        }
        cases.append(
            OperatorCase(
                "large mean", MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-5), [.input([1, 3, 6, 6], .uniform(99...101))],
                tolerance: Tolerance(relative: 1e-4, absolute: 1e-4)))
        return cases
    }()

    /// Resize and RearrangeBlocks.
    package static let spatial: [OperatorCase] = {
        var cases: [OperatorCase] = []
        let maps: [Resize.Coordinates] = [
            .alignCorners, .asymmetric, .halfPixel, .upsample, .explicit(startY: 0.5, stepY: 0.75, startX: -0.25, stepX: 1.25),
        ]
        let sizes: [(Shape, Size2D)] = [
            ([1, 3, 4, 5], Size2D(8, 10)), ([1, 2, 7, 7], Size2D(3, 4)), ([1, 17, 3, 3], Size2D(6, 6)), ([2, 1, 1, 1], Size2D(4, 3)),
            ([1, 4, 5, 6], Size2D(1, 1)), ([1, 4, 5, 6], Size2D(5, 6)), ([3, 4], Size2D(7, 9)), ([1, 2, 4, 4], Size2D(8, 12)),
        ]
        for (shape, size) in sizes {
            for map in maps {
                for mode in [Resize.Mode.nearest, .bilinear] {
                    cases.append(
                        OperatorCase(
                            "\(mode) \(map) \(shape) to \(size)", Resize(mode, to: size, coordinates: map), [.input(shape)],
                            tolerance: mode == .nearest ? .exact : Tolerance(relative: 1e-5, absolute: 1e-5)))
                }
            }
        }
        let blocks: [(RearrangeBlocks.Mode, Shape, Int)] = [
            (.spaceToDepth, [1, 3, 4, 6], 2), (.spaceToDepth, [2, 1, 9, 3], 3), (.depthToSpace, [1, 8, 3, 2], 2), (.depthToSpace, [2, 18, 2, 1], 3),
            (.pixelShuffle, [1, 8, 3, 2], 2), (.pixelShuffle, [1, 36, 2, 3], 3), (.pixelShuffle, [1, 5, 2, 2], 1),
        ]
        for (mode, shape, block) in blocks {
            cases.append(OperatorCase("\(mode) \(shape) block \(block)", RearrangeBlocks(mode, block: block), [.input(shape, .counting)]))
        }
        return cases
    }()
}
