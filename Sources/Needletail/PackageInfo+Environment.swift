import CNTPlatform
import Foundation
import NTOpenCL

extension PackageInfo {
    /// Checks the environment variables that the package reads, of which sessions would otherwise pass over what they do not know. Sessions do so themselves.
    /// Throws `NeedletailError` of code `invalidInput` naming the variable, what is known and what was found. NEEDLETAIL_MAX_ISA is read once a process.
    public static func checkEnvironment(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        if let problem = nt_isa_problem() { throw NeedletailError(.invalidInput, String(cString: problem)) }
        _ = try NeedletailError.wrapping(.invalidInput) { try DeviceFeatures.settings(environment: environment) }
        let cache = environment["NEEDLETAIL_CACHE"] ?? ""
        guard cache.isEmpty || cache.lowercased() == "off" || cache.hasPrefix("/") else {
            throw NeedletailError(.invalidInput, "NEEDLETAIL_CACHE: expected off or the path of a folder from / on, found '\(cache.prefix(200))'")
        }
    }
}
