import Foundation

/// Something that gives features by name: a model's input or its output.
public protocol MLFeatureProvider {
    /// The names of the features it has.
    var featureNames: Set<String> { get }
    /// The feature of that name, or nil.
    func featureValue(for featureName: String) -> MLFeatureValue?
}

/// Features by name in a dictionary.
public final class MLDictionaryFeatureProvider: NSObject, MLFeatureProvider, @unchecked Sendable {
    public let dictionary: [String: MLFeatureValue]

    /// Wraps values: `MLFeatureValue`, numbers, strings, multi-arrays, pixel buffers and dictionaries of probabilities.
    /// Throws for a value of another type, naming the key.
    public init(dictionary: [String: Any]) throws {
        self.dictionary = try dictionary.reduce(into: [:]) { result, entry in
            guard let value = MLFeatureValue(wrapping: entry.value) else {
                throw MLModelError(.featureType, "feature '\(entry.key)': a \(type(of: entry.value)) is no feature value")
            }
            result[entry.key] = value
        }
    }

    init(features: [String: MLFeatureValue]) { dictionary = features }

    public var featureNames: Set<String> { Set(dictionary.keys) }
    public func featureValue(for featureName: String) -> MLFeatureValue? { dictionary[featureName] }
    public subscript(featureName: String) -> MLFeatureValue? { dictionary[featureName] }
}

/// Several feature providers in order.
public protocol MLBatchProvider {
    var count: Int { get }
    func features(at index: Int) -> any MLFeatureProvider
}

/// Several feature providers in an array.
public final class MLArrayBatchProvider: NSObject, MLBatchProvider, @unchecked Sendable {
    public let array: [any MLFeatureProvider]

    public init(array: [any MLFeatureProvider]) { self.array = array }

    /// One provider per position of the dictionary's arrays, which must be equally long.
    public convenience init(dictionary: [String: [Any]]) throws {
        let counts = Set(dictionary.values.map(\.count))
        guard counts.count <= 1 else { throw MLModelError(.generic, "the features' arrays have different lengths: \(counts.sorted())") }
        self.init(
            array: try (0..<(counts.first ?? 0)).map { index in
                try MLDictionaryFeatureProvider(dictionary: dictionary.mapValues { $0[index] })
            })
    }

    public var count: Int { array.count }
    public func features(at index: Int) -> any MLFeatureProvider { array[index] }
}
