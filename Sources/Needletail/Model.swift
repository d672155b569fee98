import Foundation
import NTFormats
import NTImage

/// A model's file, read: what it says about itself and, for networks, what sessions are made from. Immutable and shared.
public final class Model: Sendable {
    /// The file's name without its extension.
    public let name: String
    public let description: ModelDescription
    package let asset: ModelAsset
    /// The compiled form beside the model, when there is one that fits it.
    let compiled: CompiledModel?
    /// Why the compiled form beside the model is not used; nil when it is, or when there is none.
    let compiledRemark: String?

    /// A layer as `describe` shows it.
    public struct Layer: Sendable {
        public let name: String
        /// The layer's type as the format spells it: `convolution`.
        public let type: String
        public let inputs: [String]
        public let outputs: [String]
        /// How its weights are kept: `float16`.
        public let weights: String
        public let weightByteCount: Int
    }

    /// Reads a `.mlmodel` file, a `.mlpackage` folder or a folder that `compile` made, of any kind of model. Throws `NeedletailError` naming the path.
    public init(contentsOf url: URL) throws {
        guard url.isFileURL else { throw NeedletailError(.invalidModel, "\(url.absoluteString): not a file URL") }
        let asset = try NeedletailError.wrapping(.invalidModel) { try ModelAsset.load(contentsOf: url) }
        self.asset = asset
        (compiled, compiledRemark) = Model.compiledForm(of: asset, at: url)
        name = url.deletingPathExtension().lastPathComponent
        description = ModelDescription(asset)
    }

    private static func compiledForm(of asset: ModelAsset, at url: URL) -> (CompiledModel?, remark: String?) {
        guard asset.network != nil, CompiledModel.exists(inFolder: url) else { return (nil, nil) }
        do { return (try CompiledModel(inFolder: url, of: asset, writer: PackageInfo.version), nil) } catch {
            return (nil, "the compiled form is not used: \(error)")
        }
    }

    /// Whether the file holds a neural network, which sessions can run.
    public var isNetwork: Bool { asset.network != nil }

    /// The layers in the file's order; empty for models that are no networks. Throws `NeedletailError` when weights are malformed.
    public func layers() throws -> [Layer] {
        try NeedletailError.wrapping(.invalidModel, { try asset.layerSummaries() }).map {
            Layer(
                name: $0.name, type: $0.kind, inputs: $0.inputs, outputs: $0.outputs,
                weights: $0.weightEncodings.joined(separator: ", "), weightByteCount: $0.weightByteCount)
        }
    }

    /// What is done to the inputs inside the model, in words.
    public var preprocessing: [String] {
        (asset.network?.preprocessing ?? []).map { entry in
            let target = entry.featureName.isEmpty ? "the image input" : entry.featureName
            switch entry.step {
            case .scaler(let scale, let red, let green, let blue, let gray):
                return "\(target): \(scale) x value + bias (red \(red), green \(green), blue \(blue), gray \(gray))"
            case .meanImage(let values): return "\(target): less a mean image of \(values.count / 4) values"
            case .none: return "\(target): none"
            }
        }
    }

    /// What a reader should know before trusting the model, in words.
    public var remarks: [String] {
        var result: [String] = []
        if !asset.subModels.isEmpty {
            result.append(
                "holds \(asset.subModels.map { "\($0.name.isEmpty ? "a model" : $0.name) (\($0.asset.typeName))" }.joined(separator: " -> "))")
        }
        if let network = asset.network {
            let hasImage = firstImageInputName != nil
            if hasImage, network.preprocessing.isEmpty, network.classLabels?.count == 1000 {
                result.append("an image input without scaling on a network of 1000 classes: most such networks want their input scaled")
            }
            for label in Set(description.classLabels ?? []).count == description.classLabels?.count ? [] : duplicateLabels {
                result.append("the label '\(label)' stands more than once")
            }
        } else {
            result.append("a model of type \(description.modelType) is described here, not run")
        }
        if let compiled {
            result.append("compiled: \(compiled.target)")
            let (damaged, all) = compiled.damagedPackedCount()
            if damaged > 0 { result.append("compiled: \(damaged) of \(all) packed weights are damaged and are packed anew by each session") }
            do { try compiled.verifyConstants() } catch {
                result.append("compiled: weights are damaged and are read from the model instead: \(error)")
            }
        }
        if let compiledRemark { result.append(compiledRemark) }
        return result
    }

    private var duplicateLabels: [String] {
        var seen = Set<ClassLabel>()
        return (description.classLabels ?? []).filter { !seen.insert($0).inserted }.map(\.description)
    }

    /// What the preprocessor must know of an image input.
    package struct ImageInput: Sendable {
        package let width: Int
        package let height: Int
        package let color: ImageColor
    }

    /// The first image input's name, or nil.
    package var firstImageInputName: String? {
        description.inputs.first { if case .image = $0.kind { true } else { false } }?.name
    }

    /// An image input's default size and channels; nil when there is no image input of that name.
    package func imageInput(named name: String) -> ImageInput? {
        guard let feature = description.inputs.first(where: { $0.name == name }),
            case .image(let width, let height, let colorSpace, _) = feature.kind
        else { return nil }
        switch colorSpace {
        case .rgb: return ImageInput(width: width, height: height, color: .rgb)
        case .bgr: return ImageInput(width: width, height: height, color: .bgr)
        case .grayscale, .grayscaleFloat16: return ImageInput(width: width, height: height, color: .grayscale)
        }
    }

    /// The labels. Throws when there are not as many as probabilities.
    func labels(forCount count: Int) throws -> [ClassLabel] {
        guard let labels = description.classLabels, labels.count == count else {
            throw NeedletailError(
                .unsupportedModel, "\(name): expected \(description.classLabels?.count ?? 0) probabilities, one per label, found \(count)")
        }
        return labels
    }

    /// Labels and probabilities in the network's order.
    func labelled(_ values: UnsafeBufferPointer<Float>) throws -> [(label: ClassLabel, probability: Float)] {
        zip(try labels(forCount: values.count), values).map { ($0, $1) }
    }
}

extension ModelDescription {
    /// The public form of what the file's reader found.
    init(_ asset: ModelAsset) {
        let source = asset.description
        let labels: [ClassLabel]? =
            switch asset.classLabels {
            case .strings(let texts): texts.map(ClassLabel.string)
            case .int64s(let numbers): numbers.map { .int64(Int64($0)) }
            case nil: nil
            }
        self.init(
            specificationVersion: asset.specificationVersion, modelType: asset.typeName,
            inputs: source.inputs.map(Feature.init), outputs: source.outputs.map(Feature.init),
            predictedFeatureName: source.predictedFeatureName.isEmpty ? nil : source.predictedFeatureName,
            predictedProbabilitiesName: source.predictedProbabilitiesName.isEmpty ? nil : source.predictedProbabilitiesName,
            classLabels: labels, shortDescription: source.metadata.shortDescription, author: source.metadata.author,
            license: source.metadata.license, versionString: source.metadata.version,
            userDefined: source.metadata.userDefined, isUpdatable: asset.isUpdatable)
    }
}

extension ModelDescription.Feature {
    init(_ feature: FeatureDescription) {
        self.init(
            name: feature.name, shortDescription: feature.shortDescription, kind: ModelDescription.Kind(feature.type),
            isOptional: feature.type.isOptional)
    }
}

extension ModelDescription.Kind {
    init(_ type: FeatureType) {
        switch type.kind {
        case .int64: self = .int64
        case .double: self = .double
        case .string: self = .string
        case .image(let image): self = Self.image(image)
        case .multiArray(let array): self = Self.array(array)
        case .dictionary(let key): self = .dictionary(keysAreIntegers: key == .int64)
        case .sequence(let element, _): self = .sequence(ofIntegers: element == .int64)
        case .state: self = .state
        case .unknown: self = .unknown
        }
    }

    private static func image(_ image: ImageFeatureType) -> Self {
        let color: ModelDescription.ColorSpace
        switch image.colorSpace {
        case .rgb: color = .rgb
        case .bgr: color = .bgr
        case .grayscale: color = .grayscale
        case .grayscaleFloat16: color = .grayscaleFloat16
        case .unknown: return .unknown
        }
        let flexibility: ModelDescription.Flexibility
        switch image.flexibility {
        case .fixed: flexibility = .fixed
        case .enumerated(let sizes): flexibility = .enumerated(sizes.map { [$0.width, $0.height] })
        case .range(let width, let height):
            flexibility = .range([(width.lower, width.upper), (height.lower, height.upper)])
        }
        return .image(width: image.size.width, height: image.size.height, color, flexibility)
    }

    private static func array(_ array: ArrayFeatureType) -> Self {
        let elementType: String
        switch array.elementType {
        case .double: elementType = "float64"
        default: elementType = array.elementType.name
        }
        let flexibility: ModelDescription.Flexibility
        switch array.flexibility {
        case .fixed: flexibility = .fixed
        case .enumerated(let shapes): flexibility = .enumerated(shapes)
        case .ranges(let ranges): flexibility = .range(ranges.map { ($0.lower, $0.upper) })
        }
        return .multiArray(shape: array.shape, elementType: elementType, flexibility)
    }
}
