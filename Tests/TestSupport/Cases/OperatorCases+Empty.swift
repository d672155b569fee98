import NTGraph
import NTTensor

/// Tensors without elements. A backend computes nothing for them, or refuses the node; it does not trap.
extension OperatorCases {
    package static let empty: [OperatorCase] = [
        OperatorCase("of no images", Convolution(hasBias: true), [.input([0, 3, 4, 4]), .constant([5, 3, 3, 3]), .constant([5])]),
        OperatorCase("without input channels", Convolution(hasBias: true), [.input([1, 0, 4, 4]), .constant([5, 0, 3, 3]), .constant([5])]),
        OperatorCase("of no images", ConvolutionTranspose(), [.input([0, 3, 4, 4]), .constant([3, 5, 3, 3])]),
        OperatorCase("of no rows", Dense(hasBias: true), [.input([0, 3]), .constant([4, 3]), .constant([4])]),
        OperatorCase("of no features", Dense(hasBias: true), [.input([2, 0]), .constant([4, 0]), .constant([4])]),
        OperatorCase("to no features", Dense(), [.input([2, 3]), .constant([0, 3])]),
        OperatorCase("of no depth", MatMul(), [.input([2, 0]), .input([0, 3])]),
        OperatorCase("of no rows", MatMul(), [.input([0, 2]), .input([2, 3])]),
        OperatorCase("of no elements", Unary(.relu), [.input([0])]),
        OperatorCase("of no elements", Binary(.add), [.input([2, 0, 3]), .input([2, 1, 3])]),
        OperatorCase("of no elements", Select(), [.input([0]), .input([1]), .input([1])]),
        OperatorCase("of no pixels", ChannelAffine(), [.input([1, 3, 0, 2]), .constant([3]), .constant([3])]),
        OperatorCase("of no channels", ChannelAffine(), [.input([1, 0, 2, 2]), .constant([0]), .constant([0])]),
        OperatorCase("of no pixels", PReLU(), [.input([1, 3, 0, 2]), .constant([3])]),
        OperatorCase("of no channels", Pool(.maximum, kernel: Size2D(2, 2)), [.input([1, 0, 4, 4])]),
        OperatorCase("of no elements", Reshape([0, 7]), [.input([3, 0])]),
        OperatorCase("of no elements", Transpose([1, 0]), [.input([3, 0])]),
        OperatorCase("of no elements", Concat(axis: 0), [.input([0, 2]), .input([0, 2])]),
        OperatorCase("of no elements", Split(axis: 1, sizes: [1, 2]), [.input([0, 3])]),
        OperatorCase("of no elements", Tile([2, 2]), [.input([0, 3])]),
        OperatorCase("of no elements", BroadcastTo([0, 3]), [.input([1, 3])]),
        OperatorCase("of no elements", Reverse(axes: [0, 1]), [.input([0, 3])]),
        OperatorCase("made from nothing", Pad(.constant(2), before: [1, 0], after: [1, 0]), [.input([0, 3])]),
        OperatorCase("of no rows", Softmax(axis: 1), [.input([0, 3])]),
        OperatorCase("of an empty axis", Softmax(axis: 1), [.input([3, 0])]),
        OperatorCase("of no images", LocalResponseNormalization(size: 5, alpha: 1, beta: 0.75, k: 1), [.input([0, 4, 2, 2])]),
        OperatorCase("of no channels", LocalResponseNormalization(size: 5, alpha: 1, beta: 0.75, k: 1), [.input([1, 0, 2, 2])]),
        OperatorCase("of no pixels", MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-5), [.input([1, 2, 0, 3])]),
        OperatorCase("of no pixels", L2Normalization(axes: [1], epsilon: 1e-5), [.input([1, 2, 0, 3])]),
        OperatorCase("sum of nothing", Reduce(.sum, axes: [1]), [.input([3, 0])]),
        OperatorCase("maximum of nothing", Reduce(.maximum, axes: [1]), [.input([3, 0])]),
        OperatorCase("mean of nothing", Reduce(.mean, axes: [1]), [.input([3, 0])]),
        OperatorCase("of no rows", ArgReduce(axis: 1), [.input([0, 3])]),
        OperatorCase("of no rows", TopK(k: 2, axis: 1), [.input([0, 3])]),
        OperatorCase("of no channels", Resize(.bilinear, to: Size2D(4, 4), coordinates: .halfPixel), [.input([1, 0, 2, 2])]),
        OperatorCase("of no channels", RearrangeBlocks(.spaceToDepth, block: 2), [.input([1, 0, 2, 2])]),
    ]
}
