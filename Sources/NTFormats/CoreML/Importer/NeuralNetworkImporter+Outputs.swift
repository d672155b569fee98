import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// Marks the graph's outputs, see `ModelAsset.makeGraph` for their names and shapes.
    mutating func addOutputs() throws {
        let description = asset.description
        let isClassifier = asset.type == .neuralNetworkClassifier
        if isClassifier { try addProbabilities() }
        for feature in description.outputs {
            if isClassifier, feature.name == description.predictedFeatureName || feature.name == description.predictedProbabilitiesName {
                continue
            }
            guard let blob = blobs[feature.name] else {
                throw FormatError(.invalidModel, "output '\(FormatError.shortened(feature.name))' is computed by no layer")
            }
            let dims: [Int]
            switch feature.type.kind {
            case .image(let type):
                let shape = blob.dims.count >= 3 ? [blob.leadCount] + blob.dims.suffix(3) : blob.dims
                guard shape.count == 4, type.colorSpace.channelCount == shape[1] else {
                    throw FormatError(
                        .invalidModel,
                        "output '\(FormatError.shortened(feature.name))' is declared as \(type.text), found shape \(blob.dims)")
                }
                dims = shape
            case .multiArray(let type): dims = outputDims(blob, declared: type.shape)
            default: dims = outputDims(blob, declared: [])
            }
            current.name = feature.name
            try builder.output(try reshape(blob.id, dims), name: feature.name)
        }
        if builder.graph.outputs.isEmpty { throw FormatError(.invalidModel, "the network has no outputs") }
    }

    /// The shape in which an array leaves the graph.
    private func outputDims(_ blob: Blob, declared: [Int]) -> [Int] {
        let isLegacy = blob.rank == 5 && !(network.hasExactArrays && network.hasRank4Images)
        guard isLegacy else { return blob.dims }
        let count = blob.dims.reduce(1, *)
        guard blob.dims[0] == 1, blob.dims[1] == batch else {
            return batch == 1 && isShape(declared, of: count) ? declared : blob.dims
        }
        let own = isShape(declared, of: count / max(1, batch)) ? declared : Array(blob.dims[2...])
        return batch > 1 ? [batch] + own : own
    }

    private func isShape(_ dims: [Int], of count: Int) -> Bool {
        guard !dims.isEmpty, let shape = try? Shape(checking: dims) else { return false }
        return shape.count == count
    }

    private mutating func addProbabilities() throws {
        let (name, blob) = try probabilityBlob()
        let count = blob.dims.reduce(1, *)
        let labels = network.classLabels?.count ?? count / batch
        guard labels > 0, count == labels * batch else {
            throw FormatError(
                .invalidModel,
                "expected \(labels) probabilities, one for each class label, found shape \(blob.dims) in '\(FormatError.shortened(name))'")
        }
        current.name = name
        let predicted = asset.description.predictedProbabilitiesName
        try builder.output(try reshape(blob.id, [batch, labels]), name: predicted.isEmpty ? name : predicted)
    }

    /// The blob of a classifier's probabilities: the one that the file names, or in old files the one that no layer reads.
    private func probabilityBlob() throws -> (String, Blob) {
        let stated = network.labelProbabilityLayerName
        if !stated.isEmpty {
            if let blob = blobs[stated] { return (stated, blob) }
            if let output = network.layers.last(where: { $0.name == stated })?.outputs.first, let blob = blobs[output] {
                return (output, blob)
            }
            throw FormatError(.invalidModel, "the probabilities '\(FormatError.shortened(stated))' are computed by no layer")
        }
        let consumed = Set(network.layers.flatMap(\.inputs))
        let declared = Set(asset.description.outputs.map(\.name)).subtracting([asset.description.predictedProbabilitiesName])
        let candidates = network.layers.flatMap(\.outputs).filter { !consumed.contains($0) && !declared.contains($0) }
        let labels = network.classLabels?.count
        let fitting = candidates.filter { name in
            blobs[name].map { blob in labels.map { $0 * batch == blob.dims.reduce(1, *) } ?? true } ?? false
        }
        if let name = fitting.count == 1 ? fitting[0] : (candidates.count == 1 ? candidates[0] : nil), let blob = blobs[name] {
            return (name, blob)
        }
        let predicted = asset.description.predictedProbabilitiesName
        if let blob = blobs[predicted] { return (predicted, blob) }
        throw FormatError(
            .invalidModel,
            "the file does not say which blob holds the probabilities, and \(candidates.count) blobs are read by no layer")
    }
}
