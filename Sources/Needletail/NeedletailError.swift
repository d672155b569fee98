import NTFiles
import NTGraph
import NTOpenCL
import NTTensor

/// What went wrong, for people: the message names the file, the layer or the input, what was expected and what was found.
public struct NeedletailError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong.
    public enum Code: String, Sendable {
        /// A file is missing, unreadable, truncated, malformed or of an unknown kind.
        case invalidModel
        /// The model is sound, but something in it cannot be run here.
        case unsupportedModel
        /// An image cannot be decoded or has a size that is refused.
        case invalidImage
        /// A tensor, feature or argument does not fit the model.
        case invalidInput
        /// A backend or device that was asked for is absent or failed.
        case backendUnavailable
        /// A device's compiler refused a program; the description carries its log.
        case buildFailed
        /// A device has too little memory left.
        case outOfMemory
        /// A device is in use elsewhere and takes no work now.
        case deviceBusy
        /// A device stopped working during a run. A new session may find it well again.
        case deviceLost
        /// A run failed.
        case executionFailed
        /// The task was cancelled before the run began.
        case cancelled
    }

    public let code: Code
    public let description: String
    /// Whether an OpenCL device failed, so that another backend may do better.
    private(set) var isOfDevice = false

    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Calls `body` and turns the lower floors' errors into this type, prefixed by `context` (a file's name, say).
    package static func wrapping<Result>(
        _ code: Code, context: String? = nil, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as NeedletailError {
            throw error
        } catch let error as FileError where error.path == context {
            throw NeedletailError(code, error.description)
        } catch {
            let code = (error as? OpenCLError).flatMap { Code($0.condition) } ?? code
            var wrapped = NeedletailError(code, (context.map { $0 + ": " } ?? "") + String(describing: error))
            wrapped.isOfDevice = (error as? OpenCLError)?.isOfDevice == true
            throw wrapped
        }
    }
}

extension NeedletailError.Code {
    /// The code of a device's condition; nil when the caller's own code says more.
    init?(_ condition: OpenCLError.Condition) {
        switch condition {
        case .absent: self = .backendUnavailable
        case .outOfMemory: self = .outOfMemory
        case .busy: self = .deviceBusy
        case .lost: self = .deviceLost
        case .buildFailed: self = .buildFailed
        case .other: return nil
        }
    }
}
