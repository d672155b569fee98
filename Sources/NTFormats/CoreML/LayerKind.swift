/// The kinds of layers of Core ML's neural networks, by their field numbers in `NeuralNetworkLayer`.
package enum LayerKind: Int, Sendable, Hashable, CaseIterable {
    case convolution = 100
    case pooling = 120
    case activation = 130
    case innerProduct = 140
    case embedding = 150
    case batchnorm = 160
    case mvn = 165
    case l2normalize = 170
    case softmax = 175
    case lrn = 180
    case crop = 190
    case padding = 200
    case upsample = 210
    case resizeBilinear = 211
    case cropResize = 212
    case unary = 220
    case add = 230
    case multiply = 231
    case average = 240
    case scale = 245
    case bias = 250
    case max = 260
    case min = 261
    case dot = 270
    case reduce = 280
    case loadConstant = 290
    case reshape = 300
    case flatten = 301
    case permute = 310
    case concat = 320
    case split = 330
    case sequenceRepeat = 340
    case reorganizeData = 345
    case slice = 350
    case simpleRecurrent = 400
    case gru = 410
    case uniDirectionalLSTM = 420
    case biDirectionalLSTM = 430
    case custom = 500
    case copy = 600
    case branch = 605
    case loop = 615
    case loopBreak = 620
    case loopContinue = 625
    case rangeStatic = 635
    case rangeDynamic = 640
    case clip = 660
    case ceil = 665
    case floor = 670
    case sign = 680
    case round = 685
    case exp2 = 700
    case sin = 710
    case cos = 715
    case tan = 720
    case asin = 730
    case acos = 735
    case atan = 740
    case sinh = 750
    case cosh = 755
    case tanh = 760
    case asinh = 770
    case acosh = 775
    case atanh = 780
    case erf = 790
    case gelu = 795
    case equal = 815
    case notEqual = 820
    case lessThan = 825
    case lessEqual = 827
    case greaterThan = 830
    case greaterEqual = 832
    case logicalOr = 840
    case logicalXor = 845
    case logicalNot = 850
    case logicalAnd = 855
    case modBroadcastable = 865
    case minBroadcastable = 870
    case maxBroadcastable = 875
    case addBroadcastable = 880
    case powBroadcastable = 885
    case divideBroadcastable = 890
    case floorDivBroadcastable = 895
    case multiplyBroadcastable = 900
    case subtractBroadcastable = 905
    case tile = 920
    case stack = 925
    case gather = 930
    case scatter = 935
    case gatherND = 940
    case scatterND = 945
    case softmaxND = 950
    case gatherAlongAxis = 952
    case scatterAlongAxis = 954
    case reverse = 960
    case reverseSeq = 965
    case splitND = 975
    case concatND = 980
    case transpose = 985
    case sliceStatic = 995
    case sliceDynamic = 1000
    case slidingWindows = 1005
    case topK = 1015
    case argMin = 1020
    case argMax = 1025
    case embeddingND = 1040
    case batchedMatmul = 1045
    case getShape = 1065
    case loadConstantND = 1070
    case fillLike = 1080
    case fillStatic = 1085
    case fillDynamic = 1090
    case broadcastToLike = 1100
    case broadcastToStatic = 1105
    case broadcastToDynamic = 1110
    case squeeze = 1120
    case expandDims = 1125
    case flattenTo2D = 1130
    case reshapeLike = 1135
    case reshapeStatic = 1140
    case reshapeDynamic = 1145
    case rankPreservingReshape = 1150
    case constantPad = 1155
    case randomNormalLike = 1170
    case randomNormalStatic = 1175
    case randomNormalDynamic = 1180
    case randomUniformLike = 1190
    case randomUniformStatic = 1195
    case randomUniformDynamic = 1200
    case randomBernoulliLike = 1210
    case randomBernoulliStatic = 1215
    case randomBernoulliDynamic = 1220
    case categoricalDistribution = 1230
    case reduceL1 = 1250
    case reduceL2 = 1255
    case reduceMax = 1260
    case reduceMin = 1265
    case reduceSum = 1270
    case reduceProd = 1275
    case reduceMean = 1280
    case reduceLogSum = 1285
    case reduceSumSquare = 1290
    case reduceLogSumExp = 1295
    case whereNonZero = 1313
    case matrixBandPart = 1315
    case lowerTriangular = 1320
    case upperTriangular = 1325
    case whereBroadcastable = 1330
    case layerNormalization = 1350
    case nonMaximumSuppression = 1400
    case oneHot = 1450
    case cumSum = 1455
    case clampedReLU = 1460
    case argSort = 1461
    case pooling3d = 1465
    case globalPooling3d = 1466
    case sliceBySize = 1470
    case convolution3d = 1471

    /// The name in the format's own spelling.
    package var name: String { self == .nonMaximumSuppression ? "NonMaximumSuppression" : String(describing: self) }

    /// Where the layer's parameters hold weights: paths of field numbers, the last one a `WeightParams`.
    package var weightPaths: [[Int]] {
        switch self {
        case .convolution: [[90], [91]]
        case .innerProduct, .embedding, .embeddingND: [[20], [21]]
        case .batchnorm: [[15], [16], [17], [18]]
        case .scale: [[2], [5]]
        case .bias, .loadConstant, .loadConstantND: [[2]]
        case .activation: [[25, 1], [71, 1], [71, 2]]
        case .simpleRecurrent: [[30], [31], [32]]
        case .gru: [30, 31, 32, 50, 51, 52, 70, 71, 72].map { [$0] }
        case .uniDirectionalLSTM, .biDirectionalLSTM:
            [1, 2, 3, 4, 20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62].map { [20, $0] }
        case .custom: [[20]]
        case .batchedMatmul: [[8], [9]]
        case .layerNormalization: [[3], [4]]
        case .convolution3d: [[60], [61]]
        default: []
        }
    }
}
