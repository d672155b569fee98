import COpenCL
import Foundation

/// The way to every OpenCL call: checks each status, counts what is created and released, and lets tests make a call fail.
///
/// All calls of this module go through `check`, `create` and `release`, under the name of the C function. A replacement decides per call
/// whether the driver is asked at all. Safe from any thread.
package final class OpenCLInterface: @unchecked Sendable {
    /// Asked before a call with its C name; a status other than nil is taken for the call's result, and the driver is not called. With CL_SUCCESS a call
    /// then gives nothing: no object, zeros.
    package typealias Interceptor = @Sendable (_ call: String) -> cl_int?

    /// The installed drivers.
    package static let system = OpenCLInterface()

    /// Changes a program's text before the driver compiles it: how tests make a compiler refuse one.
    package typealias SourceFilter = @Sendable (_ text: String) -> String

    private let interceptor: Interceptor?
    private let sourceFilter: SourceFilter?
    private let lock = NSLock()
    private var live: [String: Int] = [:]

    package init(interceptor: Interceptor? = nil, sourceFilter: SourceFilter? = nil) {
        (self.interceptor, self.sourceFilter) = (interceptor, sourceFilter)
    }

    /// The text to compile for a program.
    func source(_ text: String) -> String { sourceFilter?(text) ?? text }

    /// Objects created and not yet released, by kind (`mem`, `kernel`, ...); kinds with none are absent.
    package var liveObjects: [String: Int] { lock.withLock { live.filter { $0.value != 0 } } }

    /// Performs a call that returns a status.
    func check(_ call: String, _ body: () -> cl_int) throws(OpenCLError) {
        let code = interceptor?(call) ?? body()
        guard code == CL_SUCCESS else { throw OpenCLError.call(name: call, code: code) }
    }

    /// The status of a call whose failures are data: queries that may find nothing.
    func status(_ call: String, _ body: () -> cl_int) -> cl_int { interceptor?(call) ?? body() }

    /// Performs a call that returns a new object and stores a status.
    func create<Object>(_ call: String, kind: String, _ body: (inout cl_int) -> Object?) throws(OpenCLError) -> Object {
        var code = cl_int(CL_SUCCESS)
        let made: Object?
        if let status = interceptor?(call) { (made, code) = (nil, status) } else { made = body(&code) }
        guard let object = made, code == CL_SUCCESS else {
            throw OpenCLError.call(name: call, code: code == CL_SUCCESS ? CL_INVALID_VALUE : code)
        }
        count(kind, 1)
        return object
    }

    /// Counts an object that a call stored elsewhere, an event for example.
    func adopt(kind: String) { count(kind, 1) }

    /// Counts the end of what `adopt` counted.
    func forget(kind: String) { count(kind, -1) }

    /// Releases an object that `create` returned.
    func release(kind: String, _ body: () -> cl_int) {
        _ = body()
        count(kind, -1)
    }

    private func count(_ kind: String, _ change: Int) { lock.withLock { live[kind, default: 0] += change } }
}
