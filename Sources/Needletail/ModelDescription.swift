/// What a model says about itself.
public struct ModelDescription: Sendable {
    /// The channels of an image input, in the order the network reads them.
    public enum ColorSpace: String, Sendable {
        case grayscale, rgb, bgr
        /// Grey in half precision.
        case grayscaleFloat16

        /// 1 or 3.
        public var channelCount: Int { self == .rgb || self == .bgr ? 3 : 1 }
    }

    /// The extents that an image or an array may have besides its default ones.
    public enum Flexibility: Sendable, Equatable {
        case fixed
        /// One of these: [width, height] for images, all extents for arrays.
        case enumerated([[Int]])
        /// Per extent (width, height for images) the smallest and the largest; nil means no upper bound.
        case range([(lower: Int, upper: Int?)])

        public static func == (a: Flexibility, b: Flexibility) -> Bool {
            switch (a, b) {
            case (.fixed, .fixed): true
            case (.enumerated(let x), .enumerated(let y)): x == y
            case (.range(let x), .range(let y)): x.elementsEqual(y) { $0.lower == $1.lower && $0.upper == $1.upper }
            default: false
            }
        }
    }

    /// The type of a feature.
    public enum Kind: Sendable, Equatable {
        case image(width: Int, height: Int, ColorSpace, Flexibility)
        /// `elementType` is `float32`, `float64`, `float16`, `int32` or `int8`.
        case multiArray(shape: [Int], elementType: String, Flexibility)
        case double
        case int64
        case string
        case dictionary(keysAreIntegers: Bool)
        case sequence(ofIntegers: Bool)
        case state
        case unknown
    }

    /// An input or an output.
    public struct Feature: Sendable, Equatable {
        public let name: String
        public let shortDescription: String
        public let kind: Kind
        public let isOptional: Bool

        public init(name: String, shortDescription: String, kind: Kind, isOptional: Bool) {
            self.name = name
            self.shortDescription = shortDescription
            self.kind = kind
            self.isOptional = isOptional
        }
    }

    /// The format's version number.
    public var specificationVersion: Int
    /// What kind of model the file holds, as the format names it: `neuralNetworkClassifier`.
    public var modelType: String
    public var inputs: [Feature]
    public var outputs: [Feature]
    /// The output that holds the winning label; nil when the model is no classifier.
    public var predictedFeatureName: String?
    /// The output that holds the probability of each label.
    public var predictedProbabilitiesName: String?
    /// All labels in the network's order; nil when the model is no classifier.
    public var classLabels: [ClassLabel]?
    public var shortDescription: String
    public var author: String
    public var license: String
    public var versionString: String
    public var userDefined: [String: String]
    public var isUpdatable: Bool

    public init(
        specificationVersion: Int, modelType: String, inputs: [Feature], outputs: [Feature],
        predictedFeatureName: String? = nil, predictedProbabilitiesName: String? = nil, classLabels: [ClassLabel]? = nil,
        shortDescription: String = "", author: String = "", license: String = "", versionString: String = "",
        userDefined: [String: String] = [:], isUpdatable: Bool = false
    ) {
        self.specificationVersion = specificationVersion
        self.modelType = modelType
        self.inputs = inputs
        self.outputs = outputs
        self.predictedFeatureName = predictedFeatureName
        self.predictedProbabilitiesName = predictedProbabilitiesName
        self.classLabels = classLabels
        self.shortDescription = shortDescription
        self.author = author
        self.license = license
        self.versionString = versionString
        self.userDefined = userDefined
        self.isUpdatable = isUpdatable
    }
}
