import CoreGraphics
import CoreImage
import CoreMedia
import CoreVideo
import Foundation
import ImageIO

/// Performs requests on one image, asynchronously. Without an orientation, data and files are turned upright as their EXIF says.
public final class ImageRequestHandler: Sendable {
    let image: HandledImage
    private static let queue = DispatchQueue(label: "com.apple.vis.needletail", attributes: .concurrent)

    public init(_ url: URL, orientation: CGImagePropertyOrientation? = nil) { image = HandledImage(url, orientation) }
    public init(_ data: Data, orientation: CGImagePropertyOrientation? = nil) { image = HandledImage(data, orientation) }
    public init(_ image: CGImage, orientation: CGImagePropertyOrientation? = nil) { self.image = HandledImage(image, orientation) }
    public init(_ image: CIImage, orientation: CGImagePropertyOrientation? = nil) { self.image = HandledImage(image, orientation) }

    public init(_ pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation? = nil) {
        image = HandledImage(pixelBuffer, orientation)
    }

    public init(_ sampleBuffer: CMSampleBuffer, orientation: CGImagePropertyOrientation? = nil) {
        image = HandledImage(sampleBuffer, orientation)
    }

    /// Performs one request. A task cancelled before it begins throws `requestCancelled`.
    public func perform<Request: VisionRequest>(_ request: Request) async throws -> Request.Result {
        if Task.isCancelled { throw VNError(.requestCancelled, "the request was cancelled") }
        return try await withCheckedThrowingContinuation { continuation in
            ImageRequestHandler.queue.async { continuation.resume(with: Result { try request.result(for: self) }) }
        }
    }

    /// Performs several requests of one kind and returns their results in order.
    public func perform<each Request: VisionRequest>(
        _ request: repeat each Request
    ) async throws -> (repeat (each Request).Result) {
        try await (repeat perform(each request))
    }

    /// Performs requests one after another and gives each result, or the error in its place, as it comes.
    public func performAll(_ requests: [CoreMLRequest]) -> AsyncStream<VisionResult> {
        AsyncStream { continuation in
            let task = Task {
                for request in requests {
                    do {
                        continuation.yield(.coreML(request, try await self.perform(request)))
                    } catch {
                        continuation.yield(.failure(request, error))
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

/// One result of `ImageRequestHandler.performAll`.
public enum VisionResult: Sendable {
    case coreML(CoreMLRequest, [any VisionObservation])
    case failure(CoreMLRequest, any Error)
}
