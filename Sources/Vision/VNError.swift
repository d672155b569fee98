@_exported import CoreML
import Foundation

/// The domain of Vision's errors.
public let VNErrorDomain = "com.apple.vis"

/// What went wrong with a request: an `NSError` of domain `VNErrorDomain`, so that code written for Apple's systems catches it as such and finds the same
/// domain and numbers; `localizedDescription` says it for people. Immutable.
public final class VNError: NSError, @unchecked Sendable {
    /// The kinds of error, numbered as on Apple's systems.
    public enum Code: Int, Sendable {
        case turiCore = -1
        case ok = 0
        case requestCancelled = 1
        case invalidFormat = 2
        case operationFailed = 3
        case outOfBounds = 4
        case invalidOption = 5
        case ioError = 6
        case missingOption = 7
        case notImplemented = 8
        case internalError = 9
        case outOfMemory = 10
        case unknown = 11
        case invalidOperation = 12
        case invalidImage = 13
        case invalidArgument = 14
        case invalidModel = 15
        case unsupportedRevision = 16
        case dataUnavailable = 17
        case timeStampNotFound = 18
        case unsupportedRequest = 19
        case timeout = 20
        case unsupportedComputeStage = 21
        case unsupportedComputeDevice = 22
    }

    /// The kind of error; `code` is its number.
    public let kind: Code

    /// An error of a kind, with a message for people.
    public init(_ kind: Code, _ message: String = "") {
        self.kind = kind
        super.init(domain: VNErrorDomain, code: kind.rawValue, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// Not decodable: nil.
    public required init?(coder: NSCoder) { nil }

    public override var description: String { localizedDescription }
}

/// The name of the codes on Apple's systems.
public typealias VNErrorCode = VNError.Code

/// Matches errors of a kind in a pattern.
public func ~= (kind: VNError.Code, error: any Error) -> Bool { (error as? VNError)?.kind == kind }

/// Compares an error's number with a kind: `error.code == .invalidImage`.
public func == (code: Int, kind: VNError.Code) -> Bool { code == kind.rawValue }
