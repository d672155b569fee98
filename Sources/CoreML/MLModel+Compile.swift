import Foundation
import Needletail

extension MLModel {
    /// Checks a model and writes it as `NAME.mlmodelc` into a temporary folder, where the caller may move it from.
    ///
    /// Compiling is not needed here, `MLModel(contentsOf:)` takes the model itself; a compiled one loads many times faster on the CPU, see
    /// `Model.compile`. Throws `MLModelError` naming the path when the model is missing or malformed, or a layer cannot run.
    public class func compileModel(at modelURL: URL) throws -> URL {
        try translating(.io) { try Model.compile(contentsOf: modelURL) }
    }

    /// Compiles off the caller's thread.
    public class func compileModel(at modelURL: URL) async throws -> URL {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try MLModel.compileModelNow(at: modelURL) })
            }
        }
    }

    /// Compiles off the caller's thread and calls `handler` on a queue of its own.
    public class func compileModel(at modelURL: URL, completionHandler handler: @escaping @Sendable (Result<URL, any Error>) -> Void) {
        DispatchQueue.global().async { handler(Result { try MLModel.compileModelNow(at: modelURL) }) }
    }

    /// The synchronous form, whatever the caller's context.
    private class func compileModelNow(at url: URL) throws -> URL { try compileModel(at: url) }
}
