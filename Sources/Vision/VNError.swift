@_exported import CoreML
import Foundation

/// The domain of Vision's errors.
public let VNErrorDomain = "com.apple.vis"

/// What went wrong with a request. Thrown as an `NSError` of domain `VNErrorDomain`.
public struct VNError: Error, CustomNSError, LocalizedError, CustomStringConvertible, Sendable {
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

    public let code: Code
    public let description: String

    public init(_ code: Code, _ description: String = "") {
        self.code = code
        self.description = description
    }

    public static var errorDomain: String { VNErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { description }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

/// The name of the codes on Apple's systems.
public typealias VNErrorCode = VNError.Code

public func ~= (code: VNError.Code, error: any Error) -> Bool { (error as? VNError)?.code == code }
