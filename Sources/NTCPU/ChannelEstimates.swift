import CNTKernels
import NTGraph
import NTTensor

/// What a network's values are on average, channel by channel, estimated from its weights alone, and by how much rounding weights to bfloat16
/// shifts a layer's sums then.
///
/// Numbers are taken to be normally distributed, and those that a sum adds to be independent. What reads an input by a factor and an offset per channel
/// brings it to mean 0 and variance 1, as preprocessing does; so is everything of which nothing is known, which shifts nothing. The estimates change no
/// more than biases: those that are wrong leave the rounding of weights as it was.
final class ChannelEstimates {
    private struct Moments {
        var mean: [Float]
        var variance: [Float]

        /// Mean 0, variance 1.
        init(standard count: Int) { (mean, variance) = ([Float](repeating: 0, count: count), [Float](repeating: 1, count: count)) }

        var count: Int { mean.count }

        /// Moments that are no finite numbers, or no variances, count as not known.
        mutating func check() {
            for i in mean.indices where !mean[i].isFinite || !(variance[i] >= 0) || !variance[i].isFinite { (mean[i], variance[i]) = (0, 1) }
        }

        mutating func add(_ other: Moments) {
            guard other.count == count else { return }
            for i in mean.indices {
                mean[i] += other.mean[i]
                variance[i] += other.variance[i]
            }
        }

        mutating func scale(_ i: Int, by factor: Float, adding offset: Float) {
            mean[i] = mean[i] * factor + offset
            variance[i] *= factor * factor
        }

        mutating func apply(_ function: UnaryFunction) {
            switch function {
            case .identity: return
            case .relu: clamp(0, .infinity)
            case .clip(let lo, let hi): clamp(lo, hi)
            case .threshold(let lo): clamp(lo, .infinity)
            case .linear(let factor, let offset): for i in mean.indices { scale(i, by: factor, adding: offset) }
            default: integrate(function)
            }
        }

        private mutating func clamp(_ lo: Float, _ hi: Float) { nt_clamped_moments(count, lo, hi, &mean, &variance) }

        /// Gauss and Hermite's rule of five points.
        private mutating func integrate(_ function: UnaryFunction) {
            let points = [-2.8569700, -1.3556262, 0, 1.3556262, 2.8569700]
            let shares = [0.0112574, 0.2220759, 0.5333333, 0.2220759, 0.0112574]
            for i in mean.indices {
                let values = points.map { function.evaluate(Double(mean[i]) + $0 * Double(variance[i].squareRoot())) }
                let first = zip(values, shares).reduce(0) { $0 + $1.0 * $1.1 }
                mean[i] = Float(first)
                variance[i] = Float(zip(values, shares).reduce(0) { $0 + ($1.0 - first) * ($1.0 - first) * $1.1 })
            }
        }
    }

    private let graph: Graph
    private var moments: [ValueID: Moments] = [:]
    private var shifts: [ValueID: [Float]] = [:]
    private var isMade = false

    init(_ graph: Graph) { self.graph = graph }

    /// What to add to each channel of what a convolution or dense layer computes for what rounding its weights takes from it on average.
    func shifts(of output: ValueID) throws -> [Float] {
        if !isMade {
            for node in graph.nodes { try estimate(node) }
            isMade = true
            moments = [:]
        }
        return shifts[output] ?? []
    }

    private func shape(_ id: ValueID) -> Shape { graph[id].type.shape }

    private func channels(_ id: ValueID) -> Int { shape(id).rank > 1 ? shape(id)[1] : shape(id).count }

    /// A value's moments for a reader that sees `count` channels.
    private func known(_ id: ValueID, _ count: Int) -> Moments {
        moments[id].flatMap { $0.count == count ? $0 : nil } ?? Moments(standard: count)
    }

    private func estimate(_ node: Node) throws {
        guard let first = node.inputs.first, let output = node.outputs.first else { return }
        var result: Moments?
        switch node.op {
        case let op as Convolution: result = try convolution(op, node)
        case let op as Dense:
            result = try products(node, channels: shape(node.inputs[1])[1], groups: 1, hasBias: op.hasBias)
            result?.apply(op.activation)
        case let op as ChannelAffine: result = try affine(op, node)
        case let op as Unary:
            result = moments[first]
            result?.apply(op.function)
        case let op as Binary where op.function == .add && node.inputs.allSatisfy({ graph.constant($0) == nil }):
            result = known(first, channels(output))
            result?.add(known(node.inputs[1], channels(output)))
            result?.apply(op.activation)
        case let op as Pool: result = pool(op, moments[first])
        case let op as Reduce where op.function == .mean || op.function == .sum:
            result = moments[first]
            let factor = op.function == .mean ? 1 : Float(shape(first).count / max(1, shape(output).count))
            for i in 0..<(result?.count ?? 0) { result?.scale(i, by: factor, adding: 0) }
        case let op as Concat where op.axis == 1:
            let pieces = node.inputs.map { known($0, channels($0)) }
            result = Moments(standard: 0)
            result?.mean = pieces.flatMap(\.mean)
            result?.variance = pieces.flatMap(\.variance)
        case is Reshape: result = reshaped(moments[first], to: channels(output))
        case is Pad, is Resize, is Slice: result = moments[first]
        default: break
        }
        result?.check()
        moments[output] = result
    }

    private func convolution(_ op: Convolution, _ node: Node) throws -> Moments? {
        var result = try products(node, channels: shape(node.inputs[0])[1], groups: op.groups, hasBias: op.hasBias)
        if let residual = op.residualIndex.map({ node.inputs[$0] }) { result?.add(known(residual, channels(residual))) }
        result?.apply(op.activation)
        return result
    }

    /// Sums of products: the moments of what constant weights [outputs][channels of a group][taps] make of the first input. Notes the shift.
    private func products(_ node: Node, channels: Int, groups: Int, hasBias: Bool) throws -> Moments? {
        guard let weights = try graph.constant(node.inputs[1])?.asFloat32(), weights.count > 0 else { return nil }
        let input = known(node.inputs[0], channels)
        let outputs = weights.shape[0]
        let count = weights.count / outputs
        let taps = max(1, count * groups / channels)
        func spread(_ numbers: [Float]) -> [Float] { taps == 1 ? numbers : numbers.flatMap { [Float](repeating: $0, count: taps) } }
        let (mean, variance) = (spread(input.mean), spread(input.variance))
        var sums = [nt_rounding_sums](repeating: nt_rounding_sums(), count: outputs)
        let (reader, perGroup) = (TensorReader(weights), outputs / groups)
        // As much of the weights at a time as caches hold.
        let block = max(1, 32768 / count)
        for from in stride(from: 0, to: outputs, by: block) {
            let rows = min(block, outputs - from)
            let source = try reader.floats((from * count)..<((from + rows) * count))
            for row in 0..<rows where groups > 1 || row == 0 {
                let start = (from + row) / perGroup * count
                mean.withUnsafeBufferPointer { mean in
                    variance.withUnsafeBufferPointer { variance in
                        sums.withUnsafeMutableBufferPointer { sums in
                            nt_rounding_sums_of(
                                groups > 1 ? 1 : rows, count, source + row * count, mean.baseAddress! + start, variance.baseAddress! + start,
                                sums.baseAddress! + from + row)
                        }
                    }
                }
            }
        }
        shifts[node.outputs[0]] = sums.map { $0.error.isFinite ? $0.error : 0 }
        var result = Moments(standard: outputs)
        (result.mean, result.variance) = (sums.map(\.mean), sums.map(\.variance))
        if hasBias, let bias = try graph.constant(node.inputs[2])?.asFloat32() {
            withExtendedLifetime(bias) { for (i, value) in bias.floats.prefix(outputs).enumerated() { result.mean[i] += value } }
        }
        result.check()
        return result
    }

    private func affine(_ op: ChannelAffine, _ node: Node) throws -> Moments? {
        guard op.axis == 1, !graph.inputs.contains(node.inputs[0]), var result = moments[node.inputs[0]],
            let factors = try graph.constant(node.inputs[1])?.asFloat32(), let offsets = try graph.constant(node.inputs[2])?.asFloat32(),
            factors.count == result.count, offsets.count == result.count
        else { return nil }
        withExtendedLifetime((factors, offsets)) {
            for i in 0..<result.count { result.scale(i, by: factors.floats[i], adding: offsets.floats[i]) }
        }
        result.apply(op.activation)
        return result
    }

    /// The largest of a window of several numbers that are alike lies some deviation above their mean.
    private func pool(_ op: Pool, _ input: Moments?) -> Moments? {
        guard op.function != .l2, var result = input else { return nil }
        if op.function == .maximum, op.kernel.height * op.kernel.width > 1 {
            for i in 0..<result.count { result.mean[i] += result.variance[i].squareRoot() }
        }
        return result
    }

    /// Images laid out as vectors repeat each channel's moments for every pixel.
    private func reshaped(_ input: Moments?, to count: Int) -> Moments? {
        guard let input, input.count > 0, count % input.count == 0 else { return nil }
        let pixels = count / input.count
        guard pixels > 1 else { return input }
        var result = Moments(standard: 0)
        result.mean = input.mean.flatMap { [Float](repeating: $0, count: pixels) }
        result.variance = input.variance.flatMap { [Float](repeating: $0, count: pixels) }
        return result
    }
}
