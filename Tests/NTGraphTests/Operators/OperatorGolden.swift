import Foundation
import NTGraph
import NTTensor
import TestSupport

/// One application of an operator in `Tests/Fixtures/NTGraph/operators.json`, with the results of NumPy or PyTorch.
struct OperatorGolden: Decodable {
    struct Input: Decodable {
        let shape: [Int]
        let seed: Int
        let low: Double
        let high: Double
        let integers: Bool
        let literal: [Double]?
    }

    struct Output: Decodable {
        let shape: [Int]
        let values: [Number]
    }

    /// A number, or the text of an infinity or NaN, which JSON lacks.
    struct Number: Decodable {
        let value: Double

        init(from decoder: Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
            } else {
                value = Double(try container.decode(String.self)) ?? .nan
            }
        }
    }

    let kind: String
    let attributes: GoldenAttributes
    let inputs: [Input]
    let outputs: [Output]

    static func load() throws -> [OperatorGolden] {
        let url = Fixtures.folder.appendingPathComponent("NTGraph/operators.json")
        return try JSONDecoder().decode([OperatorGolden].self, from: Data(contentsOf: url))
    }

    func inputTensors() throws -> [Tensor] { try inputs.map { try Tensor(Shape($0.shape), $0.values()) } }

    /// The operator that the attributes describe.
    func makeOperator() throws -> any NTGraph.Operator {
        let a = attributes
        switch kind {
        case "Convolution":
            return Convolution(
                strides: try a.size("strides"), dilations: try a.size("dilations"), padding: try a.padding("padding"),
                groups: try a.integer("groups"), hasBias: try a.flag("hasBias"), hasResidual: try a.flag("hasResidual"),
                activation: a.activation)
        case "ConvolutionTranspose":
            return ConvolutionTranspose(
                strides: try a.size("strides"), dilations: try a.size("dilations"), cropping: try a.padding("cropping"),
                outputPadding: try a.size("outputPadding"), groups: try a.integer("groups"), hasBias: try a.flag("hasBias"),
                activation: a.activation)
        case "Dense": return Dense(hasBias: try a.flag("hasBias"), activation: a.activation)
        case "MatMul": return MatMul(transposeA: try a.flag("transposeA"), transposeB: try a.flag("transposeB"))
        case "Unary": return Unary(try a.unaryFunction())
        case "Binary": return Binary(try a.choice("function"), activation: a.activation)
        case "Select": return Select()
        case "ChannelAffine": return ChannelAffine(axis: try a.integer("axis"), activation: a.activation)
        case "PReLU": return PReLU(axis: try a.integer("axis"))
        case "Pool":
            return Pool(
                try a.choice("function"), kernel: try a.size("kernel"), strides: try a.size("strides"),
                dilations: (try? a.size("dilations")) ?? .one, padding: try a.padding("padding"), rounding: try a.choice("rounding"),
                countsPadding: (try? a.flag("countsPadding")) ?? false)
        case "Reduce":
            return Reduce(
                try a.choice("function"), axes: try a.integers("axes"), keepsDimensions: try a.flag("keepsDimensions"),
                epsilon: try a.number("epsilon"))
        case "ArgReduce":
            return ArgReduce(
                isMinimum: try a.flag("isMinimum"), axis: try a.integer("axis"), keepsDimension: try a.flag("keepsDimension"))
        case "TopK": return TopK(k: try a.integer("k"), axis: try a.integer("axis"), isSmallest: try a.flag("isSmallest"))
        case "Resize": return Resize(try a.choice("mode"), to: try a.size("size"), coordinates: try a.coordinates())
        case "RearrangeBlocks": return RearrangeBlocks(try a.choice("mode"), block: try a.integer("block"))
        default: return try makeNormalizationOrMovement()
        }
    }

    private func makeNormalizationOrMovement() throws -> any NTGraph.Operator {
        let a = attributes
        switch kind {
        case "Softmax": return Softmax(axis: try a.integer("axis"), isLog: try a.flag("isLog"))
        case "LocalResponseNormalization":
            return LocalResponseNormalization(
                size: try a.integer("size"), alpha: try a.number("alpha"), beta: try a.number("beta"), k: try a.number("k"))
        case "MeanVarianceNormalization":
            return MeanVarianceNormalization(
                axes: try a.integers("axes"), normalizesVariance: try a.flag("normalizesVariance"), epsilon: try a.number("epsilon"),
                epsilonOutside: try a.flag("epsilonOutside"))
        case "L2Normalization": return L2Normalization(axes: try a.integers("axes"), epsilon: try a.number("epsilon"))
        case "Reshape": return Reshape(Shape(try a.integers("shape")))
        case "Transpose": return Transpose(try a.integers("permutation"))
        case "Concat": return Concat(axis: try a.integer("axis"))
        case "Split": return Split(axis: try a.integer("axis"), sizes: try a.integers("sizes"))
        case "Slice":
            return Slice(begins: try a.integers("begins"), extents: try a.integers("extents"), strides: try a.integers("strides"))
        case "Tile": return Tile(try a.integers("repeats"))
        case "BroadcastTo": return BroadcastTo(Shape(try a.integers("shape")))
        case "Reverse": return Reverse(axes: try a.integers("axes"))
        case "Gather": return Gather(axis: try a.integer("axis"))
        case "Pad":
            let modes: [String: Pad.Mode] = [
                "constant": .constant(try a.number("value")), "reflection": .reflection, "replication": .replication,
            ]
            guard let mode = modes[try a.text("mode")] else { throw GraphError("unknown mode of Pad") }
            return Pad(mode, before: try a.integers("before"), after: try a.integers("after"))
        default: return try makeSelection()
        }
    }
}

extension OperatorGolden {
    private func makeSelection() throws -> any NTGraph.Operator {
        let a = attributes
        switch kind {
        case "GatherAlongAxis": return GatherAlongAxis(axis: try a.integer("axis"))
        case "GatherND": return GatherND()
        case "Scatter":
            let axis = try a.integer("axis")
            let places: [String: Scatter.Addressing] = [
                "slices": .slices(axis: axis), "elements": .elements(axis: axis), "coordinates": .coordinates,
            ]
            guard let place = places[try a.text("addressing")], let mode = Scatter.Mode(rawValue: try a.integer("mode")) else {
                throw GraphError("unknown addressing or mode of Scatter")
            }
            return Scatter(place, mode: mode)
        case "CumulativeSum":
            return CumulativeSum(
                axis: try a.integer("axis"), isExclusive: try a.flag("isExclusive"), isReversed: try a.flag("isReversed"))
        case "ReverseSequence":
            return ReverseSequence(batchAxis: try a.integer("batchAxis"), sequenceAxis: try a.integer("sequenceAxis"))
        case "CropResize":
            guard let sampling = CropResize.Sampling(rawValue: try a.integer("sampling")),
                let format = CropResize.BoxFormat(rawValue: try a.integer("format"))
            else { throw GraphError("unknown sampling or format of CropResize") }
            return CropResize(
                size: try a.size("size"), sampling: sampling, format: format, isNormalized: try a.flag("isNormalized"),
                spatialScale: try a.number("spatialScale"))
        default: throw GraphError("no golden reader for \(kind)")
        }
    }
}

extension OperatorGolden.Input {
    /// The same hash of each element's index as in `make_operators.py`.
    func values() -> [Float] {
        if let literal { return literal.map { Float($0) } }
        return (0..<shape.reduce(1, *)).map { index in
            var hash = (UInt64(index + seed * 1_000_003 + 1) &* 2_654_435_761) % (1 << 32)
            hash ^= hash >> 15
            let fraction = Double(((hash &* 2_246_822_519) % (1 << 32)) >> 24) / 256
            let value = low + (high - low) * fraction
            return Float(integers ? value.rounded(.down) : value)
        }
    }
}
