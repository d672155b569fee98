@_exported import Foundation

/// The domain of errors that `MLModel` and its companions throw.
public let MLModelErrorDomain = "com.apple.CoreML"

/// What went wrong with a model. Thrown as an `NSError` of domain `MLModelErrorDomain`, so that code written for Apple's systems finds
/// the same domain and numbers; `localizedDescription` says it for people.
public struct MLModelError: Error, CustomNSError, LocalizedError, CustomStringConvertible, Sendable {
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

    public let code: Code
    public let description: String

    public init(_ code: Code, _ description: String = "") {
        self.code = code
        self.description = description
    }

    public static var errorDomain: String { MLModelErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { description }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    public static var generic: Code { .generic }
    public static var featureType: Code { .featureType }
    public static var io: Code { .io }
    public static var predictionCancelled: Code { .predictionCancelled }
}

public func ~= (code: MLModelError.Code, error: any Error) -> Bool { (error as? MLModelError)?.code == code }
