import Foundation

/// The folder in which PoCL keeps what it compiles. Without one PoCL offers no device and does not say why.
package struct PoCLCache: Sendable {
    static let platformName = "Portable Computing Language"

    /// The folder by PoCL's own rules, and the variable that names it.
    package let folder: URL
    package let variable: String

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        if let own = environment["POCL_CACHE_DIR"] {
            (folder, variable) = (URL(fileURLWithPath: own), "POCL_CACHE_DIR")
        } else if let base = environment["XDG_CACHE_HOME"] {
            (folder, variable) = (URL(fileURLWithPath: base).appendingPathComponent("pocl/kcache"), "XDG_CACHE_HOME")
        } else if let home = environment["HOME"] {
            (folder, variable) = (URL(fileURLWithPath: home).appendingPathComponent(".cache/pocl/kcache"), "HOME")
        } else {
            (folder, variable) = (URL(fileURLWithPath: "/tmp/pocl/kcache"), "HOME")
        }
    }

    /// Why PoCL cannot use its folder, for people; nil when it can. Makes the folder, as PoCL does.
    package var problem: String? {
        let isMade = (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil
        if isMade, access(folder.path, W_OK) == 0 { return nil }
        return "PoCL offers none without its cache folder, and '\(folder.path)' (by \(variable)) cannot be written; "
            + "set POCL_CACHE_DIR or XDG_CACHE_HOME to a folder that can"
    }
}
