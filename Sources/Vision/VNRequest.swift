import CoreGraphics
import Foundation
import NTImage

/// Something to find in an image. The results of the latest performance stay on the request.
///
/// A request may be performed from any thread, and by several at once: each performance's completion handler runs on its own thread and
/// sees that performance's results; after all are done, `results` are those of whichever finished last.
open class VNRequest: NSObject, @unchecked Sendable {
    /// Called after each performance, on the thread that performs, before `perform` returns.
    public let completionHandler: VNRequestCompletionHandler?
    /// Accepted, without effect.
    public var preferBackgroundProcessing = false
    /// Accepted, without effect: the model's configuration says where it runs.
    public var usesCPUOnly = false
    /// Revision 1 is the only one.
    public var revision = VNCoreMLRequestRevision1

    private let lock = NSLock()
    private var latest: [VNObservation]?
    private var cancelled = false
    private let threadKey = NSString(string: "needletail.results.\(UUID().uuidString)")

    public init(completionHandler: VNRequestCompletionHandler? = nil) { self.completionHandler = completionHandler }

    open class var supportedRevisions: IndexSet { IndexSet(integer: VNCoreMLRequestRevision1) }
    open class var defaultRevision: Int { VNCoreMLRequestRevision1 }
    open class var currentRevision: Int { VNCoreMLRequestRevision1 }

    /// The results of the latest performance; nil before the first and after one that failed. Inside a completion handler, that performance's.
    public var results: [VNObservation]? {
        if let own = Thread.current.threadDictionary[threadKey] as? ResultBox { return own.results }
        return lock.withLock { latest }
    }

    /// Makes performances that have not begun fail with `requestCancelled`, until the next `perform` begins.
    public func cancel() { lock.withLock { cancelled = true } }

    /// Computes the observations for an image. Subclasses answer.
    func observations(for image: HandledImage) throws -> [VNObservation] {
        throw VNError(.unsupportedRequest, "\(type(of: self)) is not supported here")
    }

    /// Performs the request once: computes, stores results, calls the completion handler. Returns the error, if any.
    func perform(on image: HandledImage) -> (any Error)? {
        var failure: (any Error)?
        var found: [VNObservation]?
        do {
            let isCancelled = lock.withLock { () -> Bool in
                defer { cancelled = false }
                return cancelled
            }
            if isCancelled { throw VNError(.requestCancelled, "the request was cancelled") }
            guard revision == VNCoreMLRequestRevision1 else {
                throw VNError(.unsupportedRevision, "revision \(revision) is not supported; expected \(VNCoreMLRequestRevision1)")
            }
            found = try observations(for: image)
        } catch {
            failure = error
        }
        lock.withLock { latest = found }
        if let completionHandler {
            let outer = Thread.current.threadDictionary[threadKey]
            Thread.current.threadDictionary[threadKey] = ResultBox(found)
            completionHandler(self, failure)
            Thread.current.threadDictionary[threadKey] = outer
        }
        return failure
    }

    private final class ResultBox {
        let results: [VNObservation]?

        init(_ results: [VNObservation]?) { self.results = results }
    }
}

/// A request that looks at a part of an image.
open class VNImageBasedRequest: VNRequest, @unchecked Sendable {
    /// The part to look at, in fractions of the upright image, origin at the lower left. A value outside 0...1 makes `perform` fail.
    public var regionOfInterest = VNNormalizedIdentityRect
}
