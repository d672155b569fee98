/// A named input, output or state of a model.
package struct FeatureDescription: Sendable, Hashable {
    package var name: String
    package var shortDescription: String
    package var type: FeatureType

    init(_ message: ProtobufMessage) throws {
        name = try message.string(1)
        shortDescription = try message.string(2)
        type = try FeatureType(try message.message(3) ?? ProtobufMessage(ByteSlice(ByteStorage(copying: []))))
    }
}

/// What the author says of a model.
package struct ModelMetadata: Sendable, Hashable {
    package var shortDescription = ""
    package var version = ""
    package var author = ""
    package var license = ""
    /// The author's own entries.
    package var userDefined: [String: String] = [:]

    init() {}

    init(_ message: ProtobufMessage) throws {
        shortDescription = try message.string(1)
        version = try message.string(2)
        author = try message.string(3)
        license = try message.string(4)
        for entry in try message.messages(100) { userDefined[try entry.string(1)] = try entry.string(2) }
    }
}

/// A model's interface: what goes in, what comes out, and what its author says of it.
package struct ModelDescription: Sendable, Hashable {
    package var inputs: [FeatureDescription] = []
    package var outputs: [FeatureDescription] = []
    package var states: [FeatureDescription] = []
    /// Inputs used for training an updatable model on device.
    package var trainingInputs: [FeatureDescription] = []
    /// The output that holds a classifier's label, or a regressor's value; empty when there is none.
    package var predictedFeatureName = ""
    /// The output that holds a classifier's probabilities; may be empty.
    package var predictedProbabilitiesName = ""
    package var metadata = ModelMetadata()
    /// The names of a multi-function model's functions.
    package var functionNames: [String] = []
    package var defaultFunctionName = ""

    init() {}

    init(_ message: ProtobufMessage) throws {
        func features(_ field: Int, of message: ProtobufMessage) throws -> [FeatureDescription] {
            try message.messages(field, limit: 1 << 12).map { try FeatureDescription($0) }
        }
        inputs = try features(1, of: message)
        outputs = try features(10, of: message)
        states = try features(13, of: message)
        trainingInputs = try features(50, of: message)
        predictedFeatureName = try message.string(11)
        predictedProbabilitiesName = try message.string(12)
        metadata = try message.message(100).map { try ModelMetadata($0) } ?? ModelMetadata()
        defaultFunctionName = try message.string(21)
        let functions = try message.messages(20, limit: 1 << 12)
        functionNames = try functions.map { try $0.string(1) }
        // A multi-function model keeps its interface per function: the default one stands for the model.
        if inputs.isEmpty, let index = functionNames.firstIndex(of: defaultFunctionName) ?? functionNames.indices.first {
            inputs = try features(2, of: functions[index])
            outputs = try features(3, of: functions[index])
            states = try features(6, of: functions[index])
            predictedFeatureName = try functions[index].string(4)
            predictedProbabilitiesName = try functions[index].string(5)
        }
    }
}
