@_exported import CoreVideo
import Foundation
@_exported import ImageIO
import NTTensor
import Needletail

/// A model ready to predict. Immutable: any number of threads may predict with one at once.
public final class MLModel: NSObject, @unchecked Sendable {
    public let modelDescription: MLModelDescription
    public let configuration: MLModelConfiguration
    package let model: Model
    /// The session, or why the model cannot predict here.
    private let prepared: Result<Session, MLModelError>

    /// Loads a `.mlmodel`, `.mlpackage` or compiled model. Unlike on Apple's systems the file need not be compiled first.
    public convenience init(contentsOf url: URL) throws {
        try self.init(contentsOf: url, configuration: MLModelConfiguration())
    }

    /// Loads a model for the compute units that `configuration` names.
    /// Throws `MLModelError` when the file is missing or malformed, or a network in it cannot run here. A model of another kind than a network
    /// loads and describes itself; its predictions throw.
    public init(contentsOf url: URL, configuration: MLModelConfiguration) throws {
        let loaded = try MLModel.translating(.io) { try Model(contentsOf: url) }
        model = loaded
        // A copy, so that later changes to the caller's object do nothing.
        let settings = configuration.copy() as? MLModelConfiguration ?? configuration
        self.configuration = settings
        modelDescription = MLModelDescription(loaded.description)
        do {
            prepared = .success(try MLModel.translating(.generic) { try Session(loaded, configuration: settings.resolved) })
        } catch let error as MLModelError {
            if loaded.isNetwork { throw error }
            prepared = .failure(error)
        }
    }

    /// Loads off the caller's thread.
    public class func load(
        contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration()
    ) async throws -> MLModel {
        try await withCheckedThrowingContinuation { continuation in
            MLModel.queue.async {
                continuation.resume(with: Result { try MLModel(contentsOf: url, configuration: configuration) })
            }
        }
    }

    /// Loads off the caller's thread and calls `handler` on a queue of its own.
    public class func load(
        contentsOf url: URL, configuration: MLModelConfiguration = MLModelConfiguration(),
        completionHandler handler: @escaping @Sendable (Result<MLModel, any Error>) -> Void
    ) {
        MLModel.queue.async { handler(Result { try MLModel(contentsOf: url, configuration: configuration) }) }
    }

    /// Which backend runs the model and why, for people.
    public var backendDescription: String {
        switch prepared {
        case .success(let session): "\(session.backendDescription): \(session.backendReason)"
        case .failure(let error): "none: \(error.description)"
        }
    }

    // MARK: - Prediction

    /// Predicts once. Images must have the size that the model's description allows; the Vision module resizes for you.
    /// Throws `MLModelError` naming the feature, the expected and the found value.
    public func prediction(from input: any MLFeatureProvider) throws -> any MLFeatureProvider {
        try prediction(from: input, options: MLPredictionOptions())
    }

    /// Predicts once with options.
    public func prediction(
        from input: any MLFeatureProvider, options: MLPredictionOptions
    ) throws -> any MLFeatureProvider {
        let session = try session()
        let (images, tensors) = try features(from: input)
        let values = try MLModel.translating(.generic) { try session.run(images: images, tensors: tensors) }
        return try wrap(values, options: options)
    }

    /// Predicts once off the caller's thread. A cancelled task throws `predictionCancelled`.
    public func prediction(
        from input: any MLFeatureProvider & Sendable, options: MLPredictionOptions = MLPredictionOptions()
    ) async throws -> any MLFeatureProvider {
        if Task.isCancelled { throw MLModelError(.predictionCancelled, "the prediction was cancelled before it began") }
        let box: Box = try await withCheckedThrowingContinuation { continuation in
            MLModel.queue.async {
                continuation.resume(
                    with: Result { Box(try self.prediction(from: input, options: options) as any MLFeatureProvider) })
            }
        }
        return box.provider
    }

    /// Predicts for each provider of a batch, in order.
    public func predictions(fromBatch batch: any MLBatchProvider) throws -> any MLBatchProvider {
        try predictions(from: batch, options: MLPredictionOptions())
    }

    /// Predicts for each provider of a batch, in order, with options.
    ///
    /// Providers of images and arrays of the model's default sizes run together, see `Session.run(batch:)`.
    public func predictions(from batch: any MLBatchProvider, options: MLPredictionOptions) throws -> any MLBatchProvider {
        let session = try session()
        let inputs = try (0..<batch.count).map { index -> [String: Needletail.Tensor] in
            let (images, tensors) = try features(from: batch.features(at: index))
            return try MLModel.translating(.generic) { try session.tensors(of: images).merging(tensors) { image, _ in image } }
        }
        let values = try MLModel.translating(.generic) { try session.run(batch: inputs) }
        return MLArrayBatchProvider(array: try values.map { try wrap($0, options: options) })
    }

    /// The outputs' names in the file's order.
    package var outputNames: [String] { modelDescription.outputNames }

    /// The session behind the model. Throws why there is none.
    package func session() throws -> Session {
        switch prepared {
        case .success(let session): return session
        case .failure(let error): throw error
        }
    }

    /// Splits a provider's features into pictures and tensors, checked against the description.
    package func features(
        from input: any MLFeatureProvider, only: Set<String>? = nil
    ) throws -> (images: [String: ImageRequest], tensors: [String: Needletail.Tensor]) {
        var images: [String: ImageRequest] = [:]
        var tensors: [String: Needletail.Tensor] = [:]
        for name in modelDescription.inputNames where only?.contains(name) ?? true {
            guard let description = modelDescription.inputDescriptionsByName[name] else { continue }
            guard let value = input.featureValue(for: name), !value.isUndefined else {
                if description.isOptional { continue }
                throw MLModelError(.featureType, "Required input feature not passed to neural network: '\(name)'.")
            }
            if let refusal = description.refusal(of: value) {
                throw MLModelError(.featureType, "Input feature '\(name)': \(refusal)")
            }
            switch value.storage {
            case .image(let buffer): images[name] = ImageRequest(source: buffer, cropAndScale: .scaleFill, size: buffer.pixelSize)
            case .multiArray(let array): tensors[name] = try MLModel.translating(.generic) { try Needletail.Tensor(array.tensor()) }
            case .double(let number): tensors[name] = try Needletail.Tensor(shape: [1], elements: [Float(number)])
            case .int64(let number): tensors[name] = try Needletail.Tensor(shape: [1], elements: [Float(number)])
            default: throw MLModelError(.featureType, "Input feature '\(name)': a value of type \(value.type) cannot be run")
            }
        }
        return (images, tensors)
    }

    /// A run's outputs as features of the types that the description declares.
    package func wrap(
        _ values: [String: FeatureValue], options: MLPredictionOptions = MLPredictionOptions()
    ) throws -> any MLFeatureProvider {
        var features: [String: MLFeatureValue] = [:]
        for (name, value) in values {
            switch value {
            case .string(let text): features[name] = MLFeatureValue(string: text)
            case .int64(let number): features[name] = MLFeatureValue(int64: number)
            case .double(let number): features[name] = MLFeatureValue(double: number)
            case .probabilities(let list): features[name] = try MLModel.dictionary(list)
            case .tensor(let tensor): features[name] = try self.feature(tensor, name: name, backing: options.outputBackings[name])
            }
        }
        return MLDictionaryFeatureProvider(features: features)
    }

    private func feature(_ tensor: Needletail.Tensor, name: String, backing: Any?) throws -> MLFeatureValue {
        let description = modelDescription.outputDescriptionsByName[name]
        if let image = description?.imageConstraint { return MLFeatureValue(pixelBuffer: try MLModel.pixelBuffer(tensor, image, name)) }
        if description?.type == .double || description?.type == .int64, tensor.count == 1 {
            let number = tensor.elements[0]
            if description?.type == .double { return MLFeatureValue(double: Double(number)) }
            return MLFeatureValue(int64: Int64(exactly: number.rounded()) ?? 0)
        }
        let dataType = description?.multiArrayConstraint?.dataType ?? .float32
        let declared = description?.multiArrayConstraint?.shape.map(\.intValue) ?? []
        let shape = declared.reduce(1, *) == tensor.count && !declared.isEmpty ? declared : tensor.shape
        if let target = backing as? MLMultiArray {
            guard target.extents == shape else {
                throw MLModelError(.generic, "output '\(name)': the backing's shape \(target.extents) is not \(shape)")
            }
            try MLMultiArray(tensor.storage, shape: shape, dataType: target.dataType).transfer(to: target)
            return MLFeatureValue(multiArray: target)
        }
        return MLFeatureValue(multiArray: try MLMultiArray(tensor.storage, shape: shape, dataType: dataType))
    }

    private static func dictionary(_ list: [(label: ClassLabel, probability: Float)]) throws -> MLFeatureValue {
        var dictionary: [AnyHashable: NSNumber] = [:]
        for (label, probability) in list {
            let key: AnyHashable
            switch label {
            case .string(let text): key = text
            case .int64(let number): key = number
            }
            // Of labels that stand twice, the larger probability is kept.
            if let known = dictionary[key], known.doubleValue >= Double(probability) { continue }
            dictionary[key] = NSNumber(value: Double(probability))
        }
        return try MLFeatureValue(dictionary: dictionary)
    }

    /// An image output: (1, C, H, W) or (C, H, W) in 0-255 as pixels, rounded and clamped.
    private static func pixelBuffer(_ tensor: Needletail.Tensor, _ constraint: MLImageConstraint, _ name: String) throws -> CVPixelBuffer {
        let shape = tensor.shape.suffix(3)
        let channels = constraint.pixelFormatType == kCVPixelFormatType_OneComponent8 ? 1 : 3
        guard shape.count == 3, shape.first == channels else {
            throw MLModelError(.generic, "output '\(name)': \(tensor.shape) is no image of \(channels) channels")
        }
        let (height, width) = (shape[shape.endIndex - 2], shape[shape.endIndex - 1])
        var created: CVPixelBuffer?
        guard CVPixelBufferCreate(kCFAllocatorDefault, width, height, constraint.pixelFormatType, nil, &created) == kCVReturnSuccess,
            let buffer = created
        else { throw MLModelError(.generic, "output '\(name)': no memory for \(width) x \(height) pixels") }
        _ = CVPixelBufferLockBaseAddress(buffer, [])
        defer { _ = CVPixelBufferUnlockBaseAddress(buffer, []) }
        guard let base = CVPixelBufferGetBaseAddress(buffer) else { throw MLModelError(.generic, "output '\(name)': no pixels") }
        let rowBytes = CVPixelBufferGetBytesPerRow(buffer)
        func byte(_ value: Float) -> UInt8 { value.isNaN ? 0 : UInt8(min(255, max(0, value.rounded()))) }
        tensor.withUnsafeElements { source in
            for y in 0..<height {
                let row = (base + y * rowBytes).assumingMemoryBound(to: UInt8.self)
                for x in 0..<width {
                    let place = y * width + x
                    if channels == 1 {
                        row[x] = byte(source[place])
                    } else {
                        // The network's channels are red, green, blue; the buffer's blue, green, red, alpha.
                        row[4 * x + 2] = byte(source[place])
                        row[4 * x + 1] = byte(source[height * width + place])
                        row[4 * x] = byte(source[2 * height * width + place])
                        row[4 * x + 3] = 255
                    }
                }
            }
        }
        return buffer
    }

    // MARK: -

    private static let queue = DispatchQueue(label: "com.apple.CoreML.needletail", attributes: .concurrent)

    /// Carries a provider between threads; the receiver is its only user.
    private struct Box: @unchecked Sendable {
        let provider: any MLFeatureProvider

        init(_ provider: any MLFeatureProvider) { self.provider = provider }
    }

    /// Calls `body` and turns the engine's errors into `MLModelError`.
    package static func translating<Result>(_ code: MLModelError.Code, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as MLModelError {
            throw error
        } catch let error as NeedletailError {
            switch error.code {
            case .invalidModel: throw MLModelError(.io, error.description)
            case .invalidInput: throw MLModelError(.featureType, error.description)
            case .cancelled: throw MLModelError(.predictionCancelled, error.description)
            default: throw MLModelError(code == .io ? .generic : code, error.description)
            }
        } catch {
            throw MLModelError(code, String(describing: error))
        }
    }
}
