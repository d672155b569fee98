/// What a model file holds: the case of Core ML's `Model` message, by its field number there.
package enum ModelType: Int, Sendable, Hashable, CaseIterable {
    case pipelineClassifier = 200
    case pipelineRegressor = 201
    case pipeline = 202
    case glmRegressor = 300
    case supportVectorRegressor = 301
    case treeEnsembleRegressor = 302
    case neuralNetworkRegressor = 303
    case bayesianProbitRegressor = 304
    case glmClassifier = 400
    case supportVectorClassifier = 401
    case treeEnsembleClassifier = 402
    case neuralNetworkClassifier = 403
    case kNearestNeighborsClassifier = 404
    case neuralNetwork = 500
    case itemSimilarityRecommender = 501
    case mlProgram = 502
    case customModel = 555
    case linkedModel = 556
    case classConfidenceThresholding = 560
    case oneHotEncoder = 600
    case imputer = 601
    case featureVectorizer = 602
    case dictVectorizer = 603
    case scaler = 604
    case categoricalMapping = 606
    case normalizer = 607
    case arrayFeatureExtractor = 609
    case nonMaximumSuppression = 610
    case identity = 900
    case textClassifier = 2000
    case wordTagger = 2001
    case visionFeaturePrint = 2002
    case soundAnalysisPreprocessing = 2003
    case gazetteer = 2004
    case wordEmbedding = 2005
    case audioFeaturePrint = 2006
    case serializedModel = 3000

    /// The name in the format's own spelling.
    package var name: String { String(describing: self) }

    /// Whether the model is a network of layers, which `ModelAsset.makeGraph` builds.
    package var isNeuralNetwork: Bool {
        self == .neuralNetwork || self == .neuralNetworkClassifier || self == .neuralNetworkRegressor
    }

    /// Whether the model is a chain of other models.
    package var isPipeline: Bool { self == .pipeline || self == .pipelineClassifier || self == .pipelineRegressor }
}
