import Foundation
import Needletail

/// Keys of a model's metadata.
public struct MLModelMetadataKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let description = MLModelMetadataKey(rawValue: "MLModelDescriptionKey")
    public static let versionString = MLModelMetadataKey(rawValue: "MLModelVersionStringKey")
    public static let author = MLModelMetadataKey(rawValue: "MLModelAuthorKey")
    public static let license = MLModelMetadataKey(rawValue: "MLModelLicenseKey")
    public static let creatorDefinedKey = MLModelMetadataKey(rawValue: "MLModelCreatorDefinedKey")
}

/// What a model says about itself.
public final class MLModelDescription: NSObject, @unchecked Sendable {
    public let inputDescriptionsByName: [String: MLFeatureDescription]
    public let outputDescriptionsByName: [String: MLFeatureDescription]
    public let stateDescriptionsByName: [String: MLFeatureDescription] = [:]
    public let trainingInputDescriptionsByName: [String: MLFeatureDescription] = [:]
    /// The output that holds the winning label; nil when the model is no classifier.
    public let predictedFeatureName: String?
    /// The output that holds the probabilities by label.
    public let predictedProbabilitiesName: String?
    /// The labels, strings or integers, in the network's order.
    public let classLabels: [Any]?
    public let metadata: [MLModelMetadataKey: Any]
    public let isUpdatable: Bool
    /// Names in the file's order, which the dictionaries lose.
    let inputNames: [String]
    let outputNames: [String]

    init(_ description: ModelDescription) {
        func byName(_ features: [ModelDescription.Feature]) -> [String: MLFeatureDescription] {
            Dictionary(features.map { ($0.name, MLFeatureDescription($0)) }) { first, _ in first }
        }
        inputDescriptionsByName = byName(description.inputs)
        outputDescriptionsByName = byName(description.outputs)
        inputNames = description.inputs.map(\.name)
        outputNames = description.outputs.map(\.name)
        predictedFeatureName = description.predictedFeatureName
        predictedProbabilitiesName = description.predictedProbabilitiesName
        classLabels = description.classLabels?.map { label in
            switch label {
            case .string(let text): text
            case .int64(let number): number
            }
        }
        metadata = [
            .description: description.shortDescription, .author: description.author, .license: description.license,
            .versionString: description.versionString, .creatorDefinedKey: description.userDefined,
        ]
        isUpdatable = description.isUpdatable
    }
}
