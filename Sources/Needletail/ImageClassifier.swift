import Foundation
import NTImage
import NTRuntime

/// A label and how sure the model is of it.
public struct Classification: Sendable, Hashable {
    public let label: String
    /// The model's own figure, forwarded as it is: a probability for models that end in a softmax.
    public let confidence: Float

    public init(label: String, confidence: Float) {
        self.label = label
        self.confidence = confidence
    }
}

/// Classifies pictures. Immutable; any number of threads may use one at once.
public final class ImageClassifier: Sendable {
    public let session: Session
    public let cropAndScale: CropAndScale
    private let input: String

    /// Loads a classifier with an image input. Throws `NeedletailError` when the model is none.
    public convenience init(
        contentsOf url: URL, configuration: SessionConfiguration = SessionConfiguration(), cropAndScale: CropAndScale = .centerCrop
    ) throws {
        try self.init(Session(Model(contentsOf: url), configuration: configuration), cropAndScale: cropAndScale)
    }

    /// Classifies with a session of one's own.
    public init(_ session: Session, cropAndScale: CropAndScale = .centerCrop) throws {
        guard let input = session.model.firstImageInputName else {
            throw NeedletailError(.unsupportedModel, "\(session.model.name): the model has no image input")
        }
        guard session.model.description.classLabels != nil else {
            throw NeedletailError(.unsupportedModel, "\(session.model.name): the model is no classifier (\(session.model.description.modelType))")
        }
        self.session = session
        self.input = input
        self.cropAndScale = cropAndScale
    }

    /// Classifies a JPEG, PNG or WebP file, turned upright as its EXIF says. Returns the `top` best labels, the best first.
    public func classify(imageAt url: URL, top: Int = 5) throws -> [Classification] {
        let image = try NeedletailError.wrapping(.invalidImage) { try EncodedImage(contentsOf: url) }
        return try classify(image, top: top)
    }

    /// Classifies the bytes of a JPEG, PNG or WebP file.
    public func classify(imageData data: Data, top: Int = 5) throws -> [Classification] {
        let image = try NeedletailError.wrapping(.invalidImage) { try EncodedImage(data: data) }
        return try classify(image, top: top)
    }

    /// Classifies off the caller's thread.
    public func classify(imageAt url: URL, top: Int = 5) async throws -> [Classification] {
        if Task.isCancelled { throw NeedletailError(.cancelled, "the classification was cancelled before it began") }
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.classify(imageAt: url, top: top) as [Classification] })
            }
        }
    }

    /// Classifies many files; each result, or the error in its place, in order. While some threads decode and resize, others run the network on the files
    /// before, several at a time; the session's thread count bounds them all, and memory does not grow with the number of files. A task cancelled
    /// meanwhile finds errors of code `cancelled` in the places of files not begun.
    public func classify(imagesAt urls: [URL], top: Int = 5) -> [Result<[Classification], any Error>] {
        ImageClassifier.results(urls.count, of: pipeline(urls, top: top))
    }

    /// Classifies many files off the caller's thread, see `classify(imagesAt:top:)`.
    public func classify(imagesAt urls: [URL], top: Int = 5) async -> [Result<[Classification], any Error>] {
        let pipeline = pipeline(urls, top: top)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: ImageClassifier.results(urls.count, of: pipeline)) }
            }
        } onCancel: {
            pipeline.cancel()
        }
    }

    /// Classifies many files and calls `body` for each in order, on the caller's thread, as soon as its result is there. What `body` throws ends the
    /// work and is thrown.
    public func classify(
        imagesAt urls: [URL], top: Int = 5, each body: (_ index: Int, Result<[Classification], any Error>) throws -> Void
    ) rethrows {
        try pipeline(urls, top: top).run(body)
    }

    private static func results(_ count: Int, of pipeline: BatchPipeline<[Classification]>) -> [Result<[Classification], any Error>] {
        var results: [Result<[Classification], any Error>] = []
        results.reserveCapacity(count)
        pipeline.run { _, result in results.append(result) }
        return results
    }

    private func pipeline(_ urls: [URL], top: Int) -> BatchPipeline<[Classification]> {
        let session = session.current
        return session.pipeline(
            count: urls.count, isWhole: false,
            prepare: { [self] index, place in
                let image = try NeedletailError.wrapping(.invalidImage) { try EncodedImage(contentsOf: urls[index]) }
                let request = ImageRequest(source: image, cropAndScale: cropAndScale.imageOption)
                for (number, id) in place.entry.plan.graph.inputs.enumerated() {
                    let value = place.entry.plan.graph[id]
                    if value.name == input {
                        try session.prepare(request, input: number, in: place.entry, place.state, batchIndex: place.element)
                    } else {
                        // Other inputs are left out, which only optional ones may be.
                        try session.fill(place.state.inputs[number], with: nil, input: value, place: place.element, of: place.count)
                    }
                }
                return nil
            },
            collect: { try session.probabilities($0.entry, $0.state, element: $0.element, of: $0.count, top: top) },
            recover: { [self] index, error in
                _ = try session.replacement(after: error)
                return try classify(imageAt: urls[index], top: top)
            })
    }

    /// Classifies anything that lends pixels.
    package func classify(_ source: any PixelSource, top: Int) throws -> [Classification] {
        let request = ImageRequest(source: source, cropAndScale: cropAndScale.imageOption)
        return try session.withImages([input: request], tensors: [:]) { entry, state in
            try session.probabilities(entry, state, top: top)
        }
    }
}

extension Session {
    /// The `top` best classes of one element of a run of `elementCount`, most probable first; equals in the order of the model's labels, NaN last.
    package func probabilities(
        _ entry: PlanEntry, _ state: ExecutionState, element: Int = 0, of elementCount: Int = 1, top: Int = .max
    ) throws -> [Classification] {
        guard model.asset.probabilitiesName(in: entry.plan.graph) != nil, let output = entry.plan.graph.outputs.first else {
            throw NeedletailError(.unsupportedModel, "\(model.name): the model is no classifier")
        }
        let count = entry.plan.graph[output].type.shape.count / elementCount
        let values = UnsafeBufferPointer(
            start: state.outputs[0].base.assumingMemoryBound(to: Float.self) + element * count, count: count)
        let labels = try model.labels(forCount: count)
        let order = (0..<count).sorted { a, b in
            if values[a].isNaN || values[b].isNaN { return values[a].isNaN == values[b].isNaN ? a < b : values[b].isNaN }
            return values[a] == values[b] ? a < b : values[a] > values[b]
        }
        return order.prefix(max(0, top)).map { Classification(label: labels[$0].description, confidence: values[$0]) }
    }
}
