@_exported import Foundation

/// The domain of errors that `MLModel` and its companions throw.
public let MLModelErrorDomain = "com.apple.CoreML"

/// What went wrong with a model: an `NSError` of domain `MLModelErrorDomain`, so that code written for Apple's systems catches it as such and finds the same
/// domain and numbers; `localizedDescription` says it for people. Immutable.
public final class MLModelError: NSError, @unchecked Sendable {
    /// The kinds of error, numbered as on Apple's systems.
    public enum Code: Int, Sendable {
        case generic = 0
        case featureType = 1
        case io = 3
        case customLayer = 4
        case customModel = 5
        case update = 6
        case parameters = 7
        case modelDecryptionKeyFetch = 8
        case modelDecryption = 9
        case modelCollection = 10
        case predictionCancelled = 11
    }

    /// The kind of error; `code` is its number.
    public let kind: Code

    /// An error of a kind, with a message for people.
    public init(_ kind: Code, _ message: String = "") {
        self.kind = kind
        super.init(domain: MLModelErrorDomain, code: kind.rawValue, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// Not decodable: nil.
    public required init?(coder: NSCoder) { nil }

    public override var description: String { localizedDescription }

    public static var generic: Code { .generic }
    public static var featureType: Code { .featureType }
    public static var io: Code { .io }
    public static var predictionCancelled: Code { .predictionCancelled }
}

/// Matches errors of a kind: `catch MLModelError.io`.
public func ~= (kind: MLModelError.Code, error: any Error) -> Bool { (error as? MLModelError)?.kind == kind }

/// Compares an error's number with a kind: `error.code == .io`.
public func == (code: Int, kind: MLModelError.Code) -> Bool { code == kind.rawValue }
