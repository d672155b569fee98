import Foundation
import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// Applies a function to every element.
    mutating func unary(_ function: UnaryFunction) throws {
        let blob = try input()
        try define(Blob(id: try add(Unary(function), blob.id), dims: blob.dims))
    }

    mutating func activation() throws {
        let blob = try input()
        var kind: (number: Int, parameters: ByteSlice)?
        try parameters.forEachField { if case .bytes(let slice) = $1 { kind = ($0, slice) } }
        guard let kind else { throw failure("the activation has no type") }
        let inner = try parameters.nested(kind.parameters)
        switch kind.number {
        case 25: try perChannelReLU(blob, inner)
        case 71: try parametricSoftplus(blob, inner)
        default:
            guard let function = try Self.function(kind.number, inner) else { throw unsupported("activation type \(kind.number) is unknown") }
            try define(Blob(id: try add(Unary(function), blob.id), dims: blob.dims))
        }
    }

    /// The function of an activation without weights, by its field number; nil for any other.
    static func function(_ number: Int, _ parameters: ProtobufMessage) throws -> UnaryFunction? {
        let (alpha, beta) = (try parameters.float(1), try parameters.float(2))
        switch number {
        case 5: return .linear(alpha, beta)
        case 10: return .relu
        case 15: return .leakyReLU(alpha)
        // The format keeps x >= alpha, the operator x > alpha: the next smaller number makes them one.
        case 20: return .thresholdedReLU(alpha.nextDown)
        case 30: return .tanh
        case 31: return .scaledTanh(alpha, beta)
        case 40: return .sigmoid
        case 41: return .hardSigmoid(alpha, beta)
        case 50: return .elu(alpha)
        case 60: return .softsign
        case 70: return .softplus
        default: return nil
        }
    }

    /// Slopes or factors of an activation: one, or one per channel.
    private func perChannel(_ field: Int, _ name: String, _ message: ProtobufMessage, _ blob: Blob) throws -> [Float] {
        guard let found = try message.message(field) else { throw failure("expected \(name), found none") }
        let weights = try WeightParams(found)
        if let single = try? weights.tensor([1]) { return single.floatArray() }
        try require(blob.rank >= 3, "expected an input of rank 3 or more, found shape \(blob.dims)")
        return try weights.tensor(Shape([blob.extent(fromBack: -3)])).floatArray()
    }

    private mutating func perChannelReLU(_ blob: Blob, _ message: ProtobufMessage) throws {
        let slopes = try perChannel(1, "slopes", message, blob)
        if slopes.count == 1 {
            try define(Blob(id: try add(Unary(.leakyReLU(slopes[0])), blob.id), dims: blob.dims))
        } else {
            let x = try channels(blob)
            try define(Blob(id: try add(PReLU(axis: 1), x, try constant(slopes, [slopes.count])), dims: blob.dims))
        }
    }

    private mutating func parametricSoftplus(_ blob: Blob, _ message: ProtobufMessage) throws {
        let alpha = try perChannel(1, "factors alpha", message, blob)
        let beta = try perChannel(2, "factors beta", message, blob)
        let inner = try scaled(blob, beta)
        let curved = Blob(id: try add(Unary(.softplus), inner.id), dims: blob.dims)
        try define(try scaled(curved, alpha))
    }

    /// The blob times one factor, or one per channel.
    private mutating func scaled(_ blob: Blob, _ factors: [Float]) throws -> Blob {
        if factors.count == 1 { return Blob(id: try add(Unary(.linear(factors[0], 0)), blob.id), dims: blob.dims) }
        let x = try channels(blob)
        let zeros = try constant([Float](repeating: 0, count: factors.count), [factors.count])
        return Blob(id: try add(ChannelAffine(axis: 1), x, try constant(factors, [factors.count]), zeros), dims: blob.dims)
    }

    /// The `unary` layer: a function of scale x + shift.
    mutating func unaryFunction() throws {
        let blob = try input()
        let (alpha, shift) = (try parameters.float(2), try parameters.float(4))
        let scale = try float(5, zeroMeans: 1)
        let epsilon = try float(3, zeroMeans: 1e-6)
        let function: UnaryFunction
        switch try parameters.int(1) {
        case 0: function = .sqrt
        case 1: function = .rsqrt(epsilon)
        case 2: function = .inverse(epsilon)
        case 3: function = .power(alpha)
        case 4: function = .exp
        case 5: function = .log(0)
        case 6: function = .abs
        case 7: function = .threshold(alpha)
        case let other: throw failure("unary function \(other) is unknown")
        }
        var id = blob.id
        if scale != 1 || shift != 0 { id = try add(Unary(.linear(scale, shift)), id) }
        try define(Blob(id: try add(Unary(function), id), dims: blob.dims))
    }

    mutating func gelu() throws {
        switch try parameters.int(1) {
        case 0: try unary(.geluExact)
        case 1: try unary(.geluTanh)
        case 2: try unary(.geluSigmoid)
        case let other: throw failure("gelu mode \(other) is unknown")
        }
    }

    mutating func clip() throws {
        let (low, high) = (try parameters.float(1), try parameters.float(2))
        try require(low <= high, "expected minVal up to maxVal, found \(low) and \(high)")
        try unary(.clip(low, high))
    }

    /// min(x >= 0 ? x : alpha x, beta)
    mutating func clampedReLU() throws {
        let blob = try input()
        let (alpha, beta) = (try parameters.float(1), try parameters.float(2))
        let leaky = try add(Unary(.leakyReLU(alpha)), blob.id)
        try define(Blob(id: try add(Unary(.clip(-.infinity, beta)), leaky), dims: blob.dims))
    }
}
