/// Every operator. A new one adds its line here; tests then ask for its cases and its place in this list.
package enum OperatorCatalogue {
    package static let all: [any Operator.Type] = [
        Convolution.self, ConvolutionTranspose.self, Dense.self, MatMul.self,
        Unary.self, Binary.self, Select.self, ChannelAffine.self, PReLU.self,
        Reshape.self, Transpose.self, Concat.self, Split.self, Slice.self, Tile.self, BroadcastTo.self, Reverse.self, Gather.self,
        Pad.self,
        Softmax.self, LocalResponseNormalization.self, MeanVarianceNormalization.self, L2Normalization.self,
        Pool.self, Reduce.self, ArgReduce.self, TopK.self,
        Resize.self, RearrangeBlocks.self, CropResize.self,
        GatherAlongAxis.self, GatherND.self, Scatter.self, CumulativeSum.self, ReverseSequence.self,
    ]

    /// The kinds of all operators, as `Operator.kind` has them.
    package static var kinds: [String] { all.map { $0.kind } }

    private static let typesByKind = Dictionary(all.map { ($0.kind, $0) }, uniquingKeysWith: { first, _ in first })

    /// The operator of a kind, or nil.
    package static func type(ofKind kind: String) -> (any Operator.Type)? { typesByKind[kind] }
}
