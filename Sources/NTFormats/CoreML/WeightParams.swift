import NTGraph
import NTTensor

/// Weights as they stand in the file: one of several encodings, the bytes in place.
package struct WeightParams: Sendable {
    package enum Encoding: Sendable {
        case empty
        /// Little-endian float32.
        case float32(ByteSlice)
        /// Little-endian halves.
        case float16(ByteSlice)
        /// Unsigned numbers of `bits` bits, the first in the highest bits of the first byte: w = q scale + bias, one of each for all
        /// weights or one per output channel.
        case linear(bits: Int, ByteSlice, scale: [Float], bias: [Float])
        /// Unsigned numbers of `bits` bits, packed likewise, that index a table of 2^bits values.
        case table(bits: Int, ByteSlice, values: [Float])
        /// Signed bytes with one scale: w = q scale.
        case int8(ByteSlice, scale: [Float])
        /// Bytes without a quantisation, which only a custom layer can read.
        case raw(ByteSlice)
    }

    package let encoding: Encoding

    init(_ message: ProtobufMessage) throws {
        if let floats = try message.floatBytes(1), floats.count > 0 {
            encoding = .float32(floats)
        } else if let halves = try message.data(2), halves.count > 0 {
            encoding = .float16(halves)
        } else if let signed = try message.data(31), signed.count > 0 {
            let scale = try message.message(40)?.message(101)?.floats(1) ?? []
            encoding = .int8(signed, scale: scale)
        } else if let raw = try message.data(30), raw.count > 0 {
            guard let quantization = try message.message(40) else {
                encoding = .raw(raw)
                return
            }
            let bits = try quantization.int(1)
            guard (1...8).contains(bits) else {
                throw FormatError(.invalidModel, "weights are quantised to \(bits) bits, expected 1 to 8")
            }
            if let linear = try quantization.message(101) {
                encoding = .linear(bits: bits, raw, scale: try linear.floats(1), bias: try linear.floats(2))
            } else if let table = try quantization.message(102) {
                encoding = .table(bits: bits, raw, values: try table.floats(1))
            } else {
                throw FormatError(.invalidModel, "quantised weights have neither a scale nor a table")
            }
        } else {
            encoding = .empty
        }
    }

    /// The encoding in a word or two: `float32`, `linear 8-bit`.
    package var encodingName: String {
        switch encoding {
        case .empty: "none"
        case .float32: "float32"
        case .float16: "float16"
        case .linear(let bits, _, _, _): "linear \(bits)-bit"
        case .table(let bits, _, _): "lookup \(bits)-bit"
        case .int8: "int8"
        case .raw: "raw"
        }
    }

    /// Bytes in the file, without scales and tables.
    package var byteCount: Int {
        switch encoding {
        case .empty: 0
        case .float32(let slice), .float16(let slice), .linear(_, let slice, _, _), .table(_, let slice, _), .int8(let slice, _),
            .raw(let slice):
            slice.count
        }
    }

    /// The weights as a float32 tensor of `shape`. `channelAxis` is the axis that per-channel scales run along.
    /// Throws `FormatError` with the expected and the found number when they do not fit.
    func tensor(_ shape: Shape, channelAxis: Int = 0) throws -> Tensor {
        switch encoding {
        case .empty: throw FormatError(.invalidModel, "expected \(shape.count) weights (\(shape)), found none")
        case .raw(let slice):
            throw FormatError(.invalidModel, "\(slice.count) bytes of raw weights have no quantisation parameters")
        case .float32(let slice):
            try Self.check(slice.count / 4, shape)
            return try slice.floatTensor(shape)
        case .float16(let slice):
            guard slice.count % 2 == 0 else {
                throw FormatError(.invalidModel, "expected \(shape.count * 2) bytes of halves, found \(slice.count)")
            }
            try Self.check(slice.count / 2, shape)
            return try slice.halfTensor(shape)
        case .int8(let slice, let scale):
            try Self.check(slice.count, shape)
            let codes = (0..<256).map { Float(Int8(truncatingIfNeeded: $0)) }
            return try Self.dequantized(slice, 8, codes, shape, axis: channelAxis, scale: scale, bias: [0])
        case .linear(let bits, let slice, let scale, let bias):
            try Self.checkPacked(slice, bits, shape)
            let codes = (0..<(1 << bits)).map { Float($0) }
            return try Self.dequantized(
                slice, bits, codes, shape, axis: channelAxis, scale: scale, bias: bias.isEmpty ? [0] : bias)
        case .table(let bits, let slice, let values):
            try Self.checkPacked(slice, bits, shape)
            guard values.count == 1 << bits else {
                throw FormatError(.invalidModel, "expected a table of \(1 << bits) values, found \(values.count)")
            }
            return try Self.dequantized(slice, bits, values, shape, axis: channelAxis, scale: [1], bias: [0])
        }
    }

    private static func check(_ found: Int, _ shape: Shape) throws {
        guard found == shape.count else {
            throw FormatError(.invalidModel, "expected \(shape.count) weights (\(shape)), found \(found)")
        }
    }

    private static func checkPacked(_ slice: ByteSlice, _ bits: Int, _ shape: Shape) throws {
        let expected = (shape.count * bits + 7) / 8
        guard slice.count == expected else {
            throw FormatError(
                .invalidModel, "expected \(expected) bytes for \(shape.count) weights (\(shape)) of \(bits) bits, found \(slice.count)")
        }
    }

    /// The `index`-th number of `bits` bits, highest bits first; it may straddle two bytes.
    @inline(__always)
    private static func unpack(_ source: UnsafeRawBufferPointer, _ index: Int, _ bits: Int) -> Int {
        if bits == 8 { return Int(source[index]) }
        let position = index * bits
        let (byte, offset) = (position >> 3, position & 7)
        let high = Int(source[byte]) << 8
        let pair = high | (offset + bits > 8 ? Int(source[byte + 1]) : 0)
        return (pair >> (16 - offset - bits)) & ((1 << bits) - 1)
    }

    /// `codes[q] scale + bias` for every packed number q; scale and bias hold one value, or one per extent along `axis`.
    private static func dequantized(
        _ slice: ByteSlice, _ bits: Int, _ codes: [Float], _ shape: Shape, axis: Int, scale: [Float], bias: [Float]
    ) throws -> Tensor {
        let (outer, channels, inner) = shape.rank > axis ? StridedLoop.split(shape, axis: axis) : (1, 1, shape.count)
        for (name, list) in [("scales", scale), ("biases", bias)] where list.count != 1 && list.count != channels {
            throw FormatError(.invalidModel, "expected 1 or \(channels) \(name) of quantised weights, found \(list.count)")
        }
        let source = slice.bytes
        return try Tensor(float32: shape) { target in
            for channel in 0..<channels {
                let s = Double(scale[scale.count == 1 ? 0 : channel])
                let b = Double(bias[bias.count == 1 ? 0 : channel])
                let table = codes.map { Float(Double($0) * s + b) }
                for block in 0..<outer {
                    let start = (block * channels + channel) * inner
                    for index in start..<(start + inner) { target[index] = table[unpack(source, index, bits)] }
                }
            }
        }
    }
}
