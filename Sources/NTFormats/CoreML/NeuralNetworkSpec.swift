/// A neural network as its file states it: layers in file order, preprocessing, shape mappings, and a classifier's labels.
package struct NeuralNetworkSpec: Sendable {
    /// One layer. Its parameters are read when the graph is built.
    package struct Layer: Sendable {
        package var name: String
        package var inputs: [String]
        package var outputs: [String]
        /// The kind's field number; 0 when the file gives none.
        package var kindNumber: Int
        let parameters: ProtobufMessage

        /// The kind, or nil when this reader does not know it.
        package var kind: LayerKind? { LayerKind(rawValue: kindNumber) }

        /// The kind's name, or `unknown (field 1234)`.
        package var kindName: String { kind?.name ?? (kindNumber == 0 ? "none" : "unknown (field \(kindNumber))") }

        init(_ message: ProtobufMessage) throws {
            var (name, inputs, outputs, kindNumber) = ("", [String](), [String](), 0)
            var parameters: ByteSlice?
            try message.forEachField { number, payload in
                guard case .bytes(let slice) = payload else { return }
                switch number {
                case 1: name = slice.text
                case 2: inputs.append(slice.text)
                case 3: outputs.append(slice.text)
                case 100...: (kindNumber, parameters) = (number, slice)
                default: break
                }
            }
            (self.name, self.inputs, self.outputs, self.kindNumber) = (name, inputs, outputs, kindNumber)
            self.parameters = try message.nested(parameters ?? ByteSlice(ByteStorage(copying: [])))
        }

        /// The layer's weights, in the order of its parameters. Empty ones are left out.
        package func weights() throws -> [WeightParams] {
            guard let kind else { return [] }
            return try kind.weightPaths.flatMap { path in
                var messages = [parameters]
                for field in path { messages = try messages.flatMap { try $0.messages(field, limit: 1 << 12) } }
                return try messages.map { try WeightParams($0) }.filter { $0.byteCount > 0 }
            }
        }
    }

    /// What is done to an image before the first layer.
    package struct Preprocessing: Sendable {
        package enum Step: Sendable {
            /// y = scale x + bias of the channel's colour.
            case scaler(scale: Float, red: Float, green: Float, blue: Float, gray: Float)
            /// Subtracts an image: [C, H, W] little-endian floats.
            case meanImage(ByteSlice)
            case none
        }

        /// The input it belongs to; old files leave it empty and mean their only image.
        package var featureName: String
        package var step: Step

        init(_ message: ProtobufMessage) throws {
            featureName = try message.string(1)
            if let scaler = try message.message(10) {
                step = .scaler(
                    scale: try scaler.float(10), red: try scaler.float(22), green: try scaler.float(21),
                    blue: try scaler.float(20), gray: try scaler.float(30))
            } else if let mean = try message.message(11) {
                step = .meanImage(try mean.floatBytes(1) ?? ByteSlice(ByteStorage(copying: [])))
            } else {
                step = .none
            }
        }
    }

    package var layers: [Layer] = []
    package var preprocessing: [Preprocessing] = []
    /// Whether multi-arrays enter with the shape that the description states; otherwise they become [Seq, B, C, H, W].
    package var hasExactArrays = false
    /// Whether images enter as [B, C, H, W]; otherwise as [1, B, C, H, W].
    package var hasRank4Images = false
    package var classLabels: ClassLabels?
    /// The blob of a classifier's probabilities; may be empty.
    package var labelProbabilityLayerName = ""

    /// The most layers a network may have.
    static let maximumLayerCount = 1 << 16

    init(_ message: ProtobufMessage) throws {
        try message.forEachField { number, payload in
            switch (number, payload) {
            case (1, .bytes(let slice)):
                guard layers.count < Self.maximumLayerCount else {
                    throw FormatError(.malformed, "more than \(Self.maximumLayerCount) layers")
                }
                layers.append(try Layer(try message.nested(slice)))
            case (2, .bytes(let slice)):
                guard preprocessing.count < 1024 else { throw FormatError(.malformed, "more than 1024 preprocessing steps") }
                preprocessing.append(try Preprocessing(try message.nested(slice)))
            case (5, .varint(let value)): hasExactArrays = value == 1
            case (6, .varint(let value)): hasRank4Images = value == 1
            case (100, .bytes(let slice)): classLabels = .strings(try message.nested(slice).strings(1))
            case (101, .bytes(let slice)): classLabels = .int64s(try message.nested(slice).ints(1, limit: 1 << 20))
            case (200, .bytes(let slice)): labelProbabilityLayerName = slice.text
            default: break
            }
        }
    }
}

/// The labels of a classifier, in the order of its probabilities. A label may stand there more than once.
package enum ClassLabels: Sendable, Hashable {
    case strings([String])
    case int64s([Int])

    package var count: Int {
        switch self {
        case .strings(let labels): labels.count
        case .int64s(let labels): labels.count
        }
    }

    /// The labels as text.
    package var texts: [String] {
        switch self {
        case .strings(let labels): labels
        case .int64s(let labels): labels.map(String.init)
        }
    }
}
