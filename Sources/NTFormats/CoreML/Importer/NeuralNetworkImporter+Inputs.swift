import NTGraph
import NTTensor

extension NeuralNetworkImporter {
    /// The scale that an unset (zero) `channelScale` stands for: files that only subtract a mean leave it out.
    private static let unsetChannelScale: Float = 1

    /// Adds a graph input and a blob for each input feature, and the images' preprocessing.
    mutating func addInputs(shapes: [String: [Int]]) throws {
        let features = asset.description.inputs
        for name in shapes.keys.sorted() where !features.contains(where: { $0.name == name }) {
            throw FormatError(
                .invalidArgument,
                "there is no input '\(FormatError.shortened(name))'; the inputs are \(features.map(\.name).joined(separator: ", "))")
        }
        for feature in features {
            if blobs[feature.name] != nil {
                throw FormatError(.invalidModel, "two inputs are named '\(FormatError.shortened(feature.name))'")
            }
            switch feature.type.kind {
            case .image(let type): try addImage(feature.name, type, shape: shapes[feature.name])
            case .multiArray(let type): try addArray(feature.name, type, shape: shapes[feature.name])
            default:
                throw FormatError(
                    .unsupported,
                    "input '\(FormatError.shortened(feature.name))' is of type \(feature.type.text); a network takes images and multi-arrays")
            }
        }
        let images = asset.description.inputs.filter { if case .image = $0.type.kind { true } else { false } }
        for step in network.preprocessing {
            let belongs = step.featureName.isEmpty ? images.count == 1 : images.contains { $0.name == step.featureName }
            guard belongs else {
                throw FormatError(
                    .invalidModel, "preprocessing is stated for '\(FormatError.shortened(step.featureName))', which is no image input")
            }
        }
    }

    private mutating func addImage(_ name: String, _ type: ImageFeatureType, shape: [Int]?) throws {
        func failure(_ kind: FormatError.Kind, _ reason: String) -> FormatError {
            FormatError(kind, "input '\(FormatError.shortened(name))': \(reason)")
        }
        guard let channels = type.colorSpace.channelCount else { throw failure(.unsupported, type.colorSpace.name) }
        var size = type.size
        if let shape {
            guard (2...4).contains(shape.count) else {
                throw failure(.invalidArgument, "expected an image's shape [N, C, H, W], [C, H, W] or [H, W], found \(shape)")
            }
            size = .init(width: shape[shape.count - 1], height: shape[shape.count - 2])
            let fits = (shape.count < 3 || shape[shape.count - 3] == channels) && (shape.count < 4 || shape[0] == batch)
            guard fits, type.allows(size) else {
                throw failure(.invalidArgument, "shape \(shape) is not allowed; expected \(type.text) with \(channels) channels, batch \(batch)")
            }
        }
        guard size.width > 0, size.height > 0 else {
            throw failure(.invalidModel, "its extents \(size.width)x\(size.height) are not fixed by the file: give a shape")
        }
        let value = builder.input(name, .float32(try checked([batch, channels, size.height, size.width], name)))
        let id = try preprocessed(value, name, type)
        blobs[name] = Blob(id: id, dims: (network.hasRank4Images ? [] : [1]) + builder.shape(id).dims)
    }

    private func checked(_ dims: [Int], _ name: String) throws -> Shape {
        do {
            return try Shape(checking: dims)
        } catch {
            throw FormatError(.invalidModel, "input '\(FormatError.shortened(name))': \(error.description)")
        }
    }

    private mutating func preprocessed(_ value: ValueID, _ name: String, _ type: ImageFeatureType) throws -> ValueID {
        var id = value
        let shape = builder.shape(value)
        for step in network.preprocessing where step.featureName == name || step.featureName.isEmpty {
            switch step.step {
            case .none: continue
            case .scaler(let scale, let red, let green, let blue, let gray):
                let scale = scale == 0 ? Self.unsetChannelScale : scale
                let biases: [Float] =
                    switch type.colorSpace {
                    case .bgr: [blue, green, red]
                    case .rgb: [red, green, blue]
                    default: [gray]
                    }
                if scale == 1, biases.allSatisfy({ $0 == 0 }) { continue }
                let factors = try builder.constant(Tensor([biases.count], biases.map { _ in scale }), name: name)
                let offsets = try builder.constant(Tensor([biases.count], biases), name: name)
                id = try builder.add(ChannelAffine(axis: 1), id, factors, offsets, layer: "\(name) scaling")
            case .meanImage(let bytes):
                let dims = Shape([1] + shape.dims[1...])
                guard bytes.count == dims.count * 4 else {
                    throw FormatError(
                        .invalidModel,
                        "input '\(FormatError.shortened(name))': expected a mean image of \(dims.count) values, found \(bytes.count / 4)")
                }
                let mean = try builder.constant(bytes.floatTensor(dims), name: name)
                id = try builder.add(Binary(.subtract), id, mean, layer: "\(name) mean")
            }
        }
        return id
    }

    /// Whether `shape` is [Seq, B, C, H, W] over an array that the file declares as [C] or [C, H, W]; recurrent networks declare one
    /// step's shape.
    private func isSequence(_ shape: [Int], of declared: [Int]) -> Bool {
        guard !network.hasExactArrays, shape.count == 5, shape.allSatisfy({ $0 > 0 }) else { return false }
        return Array(shape[2...]) == (declared.count == 1 ? declared + [1, 1] : declared)
    }

    private mutating func addArray(_ name: String, _ type: ArrayFeatureType, shape: [Int]?) throws {
        func failure(_ kind: FormatError.Kind, _ reason: String) -> FormatError {
            FormatError(kind, "input '\(FormatError.shortened(name))': \(reason)")
        }
        if let shape, !type.allows(shape), !isSequence(shape, of: type.shape) {
            throw failure(.invalidArgument, "shape \(shape) is not allowed; expected \(type.text)")
        }
        let dims = shape ?? type.shape
        guard !dims.isEmpty, dims.allSatisfy({ $0 > 0 }) else {
            throw failure(.invalidModel, "its shape \(dims) is not fixed by the file: give a shape")
        }
        _ = try checked(dims, name)
        if network.hasExactArrays {
            var dims = dims
            if batch > 1 {
                guard dims[0] == 1 else {
                    throw failure(.invalidArgument, "a batch of \(batch) needs a first extent of 1, found shape \(dims)")
                }
                dims[0] = batch
            }
            blobs[name] = Blob(id: builder.input(name, .float32(try checked(dims, name))), dims: dims)
            return
        }
        switch dims.count {
        case 1, 3:
            let full = [batch] + dims + (dims.count == 1 ? [1, 1] : [])
            let graphDims = batch > 1 ? [batch] + dims : dims
            let value = builder.input(name, .float32(try checked(graphDims, name)))
            let id = try builder.shape(value).dims == full ? value : builder.add(Reshape(Shape(full)), value, layer: name)
            blobs[name] = Blob(id: id, dims: [1] + full)
        case 5:
            var dims = dims
            if batch > 1 {
                guard dims[1] == 1 else {
                    throw failure(.invalidArgument, "a batch of \(batch) needs a second extent of 1, found shape \(dims)")
                }
                dims[1] = batch
            }
            blobs[name] = Blob(id: builder.input(name, .float32(try checked(dims, name))), dims: dims)
        default:
            throw failure(.invalidModel, "expected a shape of 1, 3 or 5 extents under the rank-5 mapping, found \(dims)")
        }
    }
}
