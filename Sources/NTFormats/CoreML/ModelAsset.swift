import Foundation
import NTGraph
import NTTensor

/// A Core ML model file, read but not yet built: what `describe` shows, and what `makeGraph` starts from.
///
/// Any `.mlmodel` can be loaded, and any `.mlpackage` whose root model is one; only neural networks become graphs. The asset holds the
/// file's bytes, so it stays valid when the file goes away.
package struct ModelAsset: Sendable {
    /// What a layer is, for people and profiles.
    package struct LayerSummary: Sendable {
        package var name: String
        /// The kind in the format's own spelling; `unknown (field 1234)` for one that this reader does not know.
        package var kind: String
        package var inputs: [String]
        package var outputs: [String]
        /// The encodings of its weights, each once: `["float16"]`.
        package var weightEncodings: [String]
        /// Bytes of its weights in the file.
        package var weightByteCount: Int
    }

    /// A model inside a pipeline.
    package struct SubModel: Sendable {
        package var name: String
        package var asset: ModelAsset
    }

    /// The file's path; nil when the model came from memory.
    package let path: String?
    /// The file's bytes; nil for a model inside another.
    let bytes: ByteSlice?
    package let specificationVersion: Int
    package let isUpdatable: Bool
    /// The model's type, or nil when this reader does not know it.
    package let type: ModelType?
    /// The type's name, or `unknown (field 1234)`.
    package let typeName: String
    package let description: ModelDescription
    /// The network, when the model is one.
    package let network: NeuralNetworkSpec?
    /// A pipeline's models, in order.
    package let subModels: [SubModel]

    /// The deepest nesting of pipelines.
    private static let maximumPipelineDepth = 8
    /// The most models of a pipeline.
    private static let maximumSubModelCount = 256

    /// Reads a `.mlmodel` file or an `.mlpackage` folder. Throws `FormatError` with the path.
    package static func load(contentsOf url: URL) throws -> ModelAsset {
        do {
            let file = try ModelPackage.modelFile(for: url)
            return try ModelAsset(ByteSlice(try ByteStorage(contentsOf: file)), path: url.path)
        } catch let error as FormatError {
            throw error.at(url.path)
        }
    }

    /// Reads a model from memory. Throws `FormatError`.
    package init(bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { throw FormatError(.empty, "the model is empty") }
        try self.init(ByteSlice(ByteStorage(copying: bytes)), path: nil)
    }

    private init(_ bytes: ByteSlice, path: String?) throws {
        do {
            try self.init(ProtobufMessage(bytes), path: path, depth: 0, bytes: bytes)
        } catch let error as FormatError where error.kind == .malformed {
            throw FormatError(.malformed, layer: error.layer, "not a Core ML model, or a damaged one: \(error.reason)")
        }
    }

    private init(_ message: ProtobufMessage, path: String?, depth: Int, bytes: ByteSlice? = nil) throws {
        self.bytes = bytes
        var (version, updatable, typeNumber) = (0, false, 0)
        var (descriptionBytes, body): (ByteSlice?, ByteSlice?) = (nil, nil)
        try message.forEachField { number, payload in
            switch (number, payload) {
            case (1, .varint(let value)): version = Int(truncatingIfNeeded: value)
            case (2, .bytes(let slice)): descriptionBytes = slice
            case (10, .varint(let value)): updatable = value != 0
            case (200..., .bytes(let slice)): (typeNumber, body) = (number, slice)
            default: break
            }
        }
        guard let body, version > 0 else {
            throw FormatError(.malformed, "it holds \(version > 0 ? "no model" : "no specification version")")
        }
        self.path = path
        specificationVersion = version
        isUpdatable = updatable
        type = ModelType(rawValue: typeNumber)
        typeName = type?.name ?? "unknown (field \(typeNumber))"
        description = try descriptionBytes.map { try ModelDescription(try message.nested($0)) } ?? ModelDescription()
        let inner = try message.nested(body)
        network = type?.isNeuralNetwork == true ? try NeuralNetworkSpec(inner) : nil
        subModels = type?.isPipeline == true ? try Self.subModels(inner, type, path: path, depth: depth) : []
    }

    private static func subModels(
        _ message: ProtobufMessage, _ type: ModelType?, path: String?, depth: Int
    ) throws -> [SubModel] {
        guard depth < maximumPipelineDepth else {
            throw FormatError(.malformed, "pipelines are nested more than \(maximumPipelineDepth) deep")
        }
        guard let pipeline = type == .pipeline ? message : try message.message(1) else { return [] }
        let names = try pipeline.strings(2, limit: maximumSubModelCount)
        return try pipeline.messages(1, limit: maximumSubModelCount).enumerated().map { index, model in
            SubModel(
                name: index < names.count ? names[index] : "",
                asset: try ModelAsset(model, path: path, depth: depth + 1))
        }
    }

    /// The labels of a neural-network classifier.
    package var classLabels: ClassLabels? { network?.classLabels }

    /// The layers of a neural network, in file order; empty for other models. Throws when weights are malformed.
    package func layerSummaries() throws -> [LayerSummary] {
        try (network?.layers ?? []).map { layer in
            do {
                let weights = try layer.weights()
                var encodings: [String] = []
                for name in weights.map(\.encodingName) where !encodings.contains(name) { encodings.append(name) }
                return LayerSummary(
                    name: layer.name, kind: layer.kindName, inputs: layer.inputs, outputs: layer.outputs,
                    weightEncodings: encodings, weightByteCount: weights.reduce(0) { $0 + $1.byteCount })
            } catch var error as FormatError {
                error.layer = error.layer ?? layer.name
                throw error.at(path)
            }
        }
    }
}
