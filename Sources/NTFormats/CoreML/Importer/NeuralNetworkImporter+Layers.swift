import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// Adds the current layer's operators to the graph.
    mutating func addLayer() throws {
        guard let kind = current.kind else { throw unsupported("layers of this kind are not known") }
        switch kind {
        case .convolution: try convolution()
        case .pooling: try pooling()
        case .innerProduct: try innerProduct()
        case .embedding: try embedding(isND: false)
        case .embeddingND: try embedding(isND: true)
        case .activation: try activation()
        case .unary: try unaryFunction()
        case .batchnorm: try batchnorm()
        case .mvn: try meanVarianceNormalization()
        case .l2normalize: try l2Normalization()
        case .softmax: try softmax()
        case .softmaxND: try softmaxND()
        case .lrn: try localResponseNormalization()
        case .layerNormalization: try layerNormalization()
        case .scale: try scaleAndBias(scale: (1, 2), bias: try parameters.bool(3) ? (4, 5) : nil)
        case .bias: try scaleAndBias(scale: nil, bias: (1, 2))
        case .custom:
            throw unsupported("it needs the class '\(FormatError.shortened(try parameters.string(10)))', which is not part of the file")
        default:
            if try addImageLayer(kind) || addElementwiseLayer(kind) || addShapeLayer(kind) || addSelectionLayer(kind)
                || addReduction(kind)
            {
                return
            }
            throw unsupported("layers of this kind are not supported")
        }
    }

    private mutating func addImageLayer(_ kind: LayerKind) throws -> Bool {
        switch kind {
        case .crop: try crop()
        case .padding: try padding()
        case .upsample: try upsample()
        case .resizeBilinear: try resizeBilinear()
        case .cropResize: try cropResize()
        case .reorganizeData: try reorganizeData()
        case .convolution3d: try convolution3D()
        case .pooling3d: try pooling3D()
        case .globalPooling3d: try globalPooling3D()
        case .reduce: try legacyReduce()
        case .loadConstant: try loadConstant(isND: false)
        case .loadConstantND: try loadConstant(isND: true)
        case .reshape: try legacyReshape()
        case .flatten: try flatten()
        case .permute: try permute()
        case .concat: try concat()
        case .split: try split()
        case .sequenceRepeat: try sequenceRepeat()
        case .slice: try legacySlice()
        case .simpleRecurrent: try simpleRecurrent()
        case .gru: try gatedRecurrent()
        case .uniDirectionalLSTM: try unidirectionalLSTM()
        case .biDirectionalLSTM: try bidirectionalLSTM()
        case .copy: try define(try input())
        default: return false
        }
        return true
    }

    private static let unaryFunctions: [LayerKind: UnaryFunction] = [
        .ceil: .ceil, .floor: .floor, .sign: .sign, .round: .round, .exp2: .exp2, .sin: .sin, .cos: .cos, .tan: .tan,
        .asin: .asin, .acos: .acos, .atan: .atan, .sinh: .sinh, .cosh: .cosh, .tanh: .tanh, .asinh: .asinh,
        .acosh: .acosh, .atanh: .atanh, .erf: .erf, .logicalNot: .logicalNot,
    ]

    private static let binaryFunctions: [LayerKind: BinaryFunction] = [
        .logicalOr: .logicalOr, .logicalXor: .logicalXor, .logicalAnd: .logicalAnd, .modBroadcastable: .modulo,
        .minBroadcastable: .minimum, .maxBroadcastable: .maximum, .addBroadcastable: .add, .powBroadcastable: .power,
        .divideBroadcastable: .divide, .floorDivBroadcastable: .floorDivide, .multiplyBroadcastable: .multiply,
        .subtractBroadcastable: .subtract,
    ]

    private mutating func addElementwiseLayer(_ kind: LayerKind) throws -> Bool {
        if let function = Self.unaryFunctions[kind] {
            try unary(function)
            return true
        }
        if let function = Self.binaryFunctions[kind] {
            // These take any number of inputs in files that merge chains of them.
            if function == .add || function == .multiply || function == .maximum || function == .minimum {
                try combine(function)
            } else {
                try binary(function)
            }
            return true
        }
        switch kind {
        case .add: try combine(.add, alphaField: 1)
        case .multiply: try combine(.multiply, alphaField: 1)
        case .max: try combine(.maximum)
        case .min: try combine(.minimum)
        case .average: try average()
        case .dot: try dot()
        case .equal: try compare(.equal, alphaField: 1)
        case .notEqual: try compare(.notEqual, alphaField: 1)
        case .lessThan: try compare(.less, alphaField: 2)
        case .lessEqual: try compare(.lessEqual, alphaField: 2)
        case .greaterThan: try compare(.greater, alphaField: 2)
        case .greaterEqual: try compare(.greaterEqual, alphaField: 2)
        case .whereBroadcastable: try select()
        case .clip: try clip()
        case .gelu: try gelu()
        case .clampedReLU: try clampedReLU()
        case .batchedMatmul: try batchedMatMul()
        default: return false
        }
        return true
    }

    private mutating func addShapeLayer(_ kind: LayerKind) throws -> Bool {
        switch kind {
        case .squeeze: try squeeze()
        case .expandDims: try expandDims()
        case .flattenTo2D: try flattenTo2D()
        case .reshapeStatic: try reshapeStatic(keepsZeros: false)
        case .rankPreservingReshape: try reshapeStatic(keepsZeros: true)
        case .reshapeDynamic: try reshapeDynamic()
        case .reshapeLike: try reshapeLike()
        case .transpose: try transpose()
        case .tile: try tile()
        case .fillLike: try fill(try input().dims)
        case .fillStatic: try fill(try parameters.ints(2, limit: 16))
        case .fillDynamic: try fill(try knownInts(try input(), "the shape to fill"))
        case .broadcastToLike: try broadcast(to: try inputs(2...2)[1].dims, try inputs(2...2)[0])
        case .broadcastToStatic: try broadcast(to: try parameters.ints(1, limit: 16), try input())
        case .broadcastToDynamic:
            let inputs = try inputs(2...2)
            try broadcast(to: try knownInts(inputs[1], "the shape to broadcast to"), inputs[0])
        case .getShape: try getShape()
        case .rangeStatic: try range(isStatic: true)
        case .rangeDynamic: try range(isStatic: false)
        case .concatND: try concatND()
        case .stack: try stack()
        case .splitND: try splitND()
        case .constantPad: try constantPad()
        case .sliceStatic: try slice(isStatic: true)
        case .sliceDynamic: try slice(isStatic: false)
        case .sliceBySize: try sliceBySize()
        case .slidingWindows: try slidingWindows()
        default: return false
        }
        return true
    }

    private mutating func addSelectionLayer(_ kind: LayerKind) throws -> Bool {
        switch kind {
        case .reverse: try reverse()
        case .reverseSeq: try reverseSequence()
        case .gather: try gather()
        case .gatherND: try address(GatherND(), count: 2)
        case .gatherAlongAxis: try address(GatherAlongAxis(axis: try parameters.int(1)), count: 2)
        case .scatter: try address(Scatter(.slices(axis: try parameters.int(1)), mode: try scatterMode(2)), count: 3)
        case .scatterND: try address(Scatter(.coordinates, mode: try scatterMode(1)), count: 3)
        case .scatterAlongAxis:
            try address(Scatter(.elements(axis: try parameters.int(1)), mode: try scatterMode(2)), count: 3)
        case .topK: try topK()
        case .argSort: try argSort()
        case .argMax: try argReduce(isMinimum: false)
        case .argMin: try argReduce(isMinimum: true)
        case .matrixBandPart:
            let (lower, upper) = (try parameters.int(1), try parameters.int(2))
            try band(lower: lower < 0 ? nil : lower, upper: upper < 0 ? nil : upper)
        case .lowerTriangular: try band(lower: nil, upper: try parameters.int(1))
        case .upperTriangular: try band(lower: 0 &- (try parameters.int(1)), upper: nil)
        case .oneHot: try oneHot()
        case .cumSum: try cumulativeSum()
        case .whereNonZero: try whereNonZero()
        case .branch, .loop, .loopBreak, .loopContinue:
            throw unsupported("control flow that depends on the network's inputs is not supported")
        default: return false
        }
        return true
    }

    private mutating func addReduction(_ kind: LayerKind) throws -> Bool {
        let functions: [LayerKind: Reduce.Function] = [
            .reduceL1: .l1, .reduceL2: .l2, .reduceMax: .maximum, .reduceMin: .minimum, .reduceSum: .sum,
            .reduceProd: .product, .reduceMean: .mean, .reduceLogSum: .logSum, .reduceSumSquare: .sumSquare,
            .reduceLogSumExp: .logSumExp,
        ]
        guard let function = functions[kind] else { return false }
        try reduce(function)
        return true
    }
}
