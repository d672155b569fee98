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

    /// Classifies many files, `Session.maximumBatchCount` at a time; each result, or the error in its place, in order. The files of one part are decoded
    /// and resized concurrently, then run together.
    public func classify(imagesAt urls: [URL], top: Int = 5) -> [Result<[Classification], any Error>] {
        var results: [Result<[Classification], any Error>] = []
        results.reserveCapacity(urls.count)
        for start in stride(from: 0, to: urls.count, by: Session.maximumBatchCount) {
            let part = Array(urls[start..<min(urls.count, start + Session.maximumBatchCount)])
            results += classify(part: part, top: top)
        }
        return results
    }

    /// One part: every file is prepared concurrently, the sound ones run together.
    private func classify(part: [URL], top: Int) -> [Result<[Classification], any Error>] {
        guard part.count > 1, let entry = session.batchedPlan(part.count) else {
            return part.map { url in Result { try classify(imageAt: url, top: top) } }
        }
        do {
            return try entry.withState { state in
                let failures = Failures(count: part.count)
                for (index, id) in entry.plan.graph.inputs.enumerated() {
                    let (value, buffer) = (entry.plan.graph[id], state.inputs[index])
                    guard value.name == input else {
                        // Other inputs are left out, which only optional ones may be.
                        for place in part.indices { try session.fill(buffer, with: nil, input: value, place: place, of: part.count) }
                        continue
                    }
                    DispatchQueue.concurrentPerform(iterations: part.count) { place in
                        failures.record(place) {
                            let image = try NeedletailError.wrapping(.invalidImage) { try EncodedImage(contentsOf: part[place]) }
                            let request = ImageRequest(source: image, cropAndScale: cropAndScale.imageOption)
                            try session.prepare(request, input: index, in: entry, state, batchIndex: place)
                        }
                    }
                }
                try session.execute(entry, state)
                return part.indices.map { place in
                    if let error = failures.error(at: place) { return .failure(error) }
                    return Result { try session.probabilities(entry, state, element: place, of: part.count).prefix(max(0, top)).map { $0 } }
                }
            }
        } catch {
            return part.map { _ in .failure(error) }
        }
    }

    /// Errors of concurrent work, one slot each.
    private final class Failures: @unchecked Sendable {
        private let lock = NSLock()
        private var errors: [(any Error)?]

        init(count: Int) { errors = Array(repeating: nil, count: count) }

        func record(_ index: Int, _ body: () throws -> Void) {
            do { try body() } catch { lock.withLock { errors[index] = error } }
        }

        func error(at index: Int) -> (any Error)? { lock.withLock { errors[index] } }
    }

    /// Classifies anything that lends pixels.
    package func classify(_ source: any PixelSource, top: Int) throws -> [Classification] {
        let request = ImageRequest(source: source, cropAndScale: cropAndScale.imageOption)
        return try session.withImages([input: request], tensors: [:]) { entry, state in
            try session.probabilities(entry, state).prefix(max(0, top)).map { $0 }
        }
    }
}

extension Session {
    /// The classes of one element of a run of `elementCount`, most probable first; equals in the order of the model's labels, NaN last.
    package func probabilities(
        _ entry: PlanEntry, _ state: ExecutionState, element: Int = 0, of elementCount: Int = 1
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
        return order.map { Classification(label: labels[$0].description, confidence: values[$0]) }
    }
}
