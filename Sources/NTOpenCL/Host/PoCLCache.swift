import Foundation

/// The folder in which PoCL keeps what it compiles. Without one PoCL offers no device, or fails to build, and does not say why.
package struct PoCLCache: Sendable {
    static let platformName = "Portable Computing Language"
    private static let ownVariable = "POCL_CACHE_DIR"

    /// The folder, and the variable that names it; nil where none does.
    package let folder: URL
    package let variable: String?
    /// Whether PoCL would take another folder unless POCL_CACHE_DIR named this one.
    package let mustBeSet: Bool

    /// By PoCL's rules, but for those that do harm: an empty POCL_CACHE_DIR, with which PoCL aborts, and an XDG_CACHE_HOME that is no absolute path, which its
    /// specification has ignored, count as unset. Where neither HOME nor XDG_CACHE_HOME names a folder that PoCL can use it is a folder of this user's alone
    /// in the temporary folder, if there is one: what PoCL finds in its cache it runs.
    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let (own, base, home) = (environment[Self.ownVariable], environment["XDG_CACHE_HOME"] ?? "", environment["HOME"] ?? "")
        if let own, !own.isEmpty {
            (folder, variable, mustBeSet) = (URL(fileURLWithPath: own), Self.ownVariable, false)
            return
        }
        let wanted: (folder: URL, variable: String)? =
            base.hasPrefix("/")
            ? (URL(fileURLWithPath: base).appendingPathComponent("pocl/kcache"), "XDG_CACHE_HOME")
            : home.hasPrefix("/") ? (URL(fileURLWithPath: home).appendingPathComponent(".cache/pocl/kcache"), "HOME") : nil
        if let wanted, (Self.problem(of: wanted.folder) ?? Self.foreignPart(of: wanted.folder)) == nil {
            (folder, variable) = wanted
            mustBeSet = own != nil || !(base.isEmpty || base.hasPrefix("/"))
        } else if let temporary = Self.temporaryFolder(environment), Self.problem(of: temporary) == nil {
            (folder, variable, mustBeSet) = (temporary, nil, true)
        } else {
            (folder, variable) = wanted ?? (URL(fileURLWithPath: "/tmp/pocl/kcache"), "HOME")
            mustBeSet = true
        }
    }

    /// This process's folder. The first use sets POCL_CACHE_DIR when PoCL has to be told of it, and so comes before a driver is called.
    static let current: PoCLCache = {
        let cache = PoCLCache()
        if cache.mustBeSet { setenv(ownVariable, cache.folder.path, 1) }
        return cache
    }()

    /// Why PoCL cannot use its folder, for people; nil when it can. Makes the folder, as PoCL does.
    package var problem: String? { Self.problem(of: folder).map(words) }

    /// The same, or else why it cannot use a part of it: what a failed build may come from.
    package var buildProblem: String? { (Self.problem(of: folder) ?? Self.foreignPart(of: folder)).map(words) }

    private func words(_ problem: String) -> String {
        "PoCL needs its cache folder, and '\(folder.path)'\(variable.map { " (by \($0))" } ?? "") \(problem); "
            + "set POCL_CACHE_DIR or XDG_CACHE_HOME to a folder that can be written"
    }

    /// Bytes that a disk must have left, for the kernels of a network and what PoCL's compiler writes in between: it ends the process where it cannot.
    private static let leastFreeBytes = Double(4 << 20)

    private static func problem(of folder: URL) -> String? {
        let isMade = (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil
        guard isMade, access(folder.path, W_OK | X_OK) == 0 else { return "cannot be written" }
        var disk = statvfs()
        if statvfs(folder.path, &disk) == 0, Double(disk.f_bavail) * Double(disk.f_frsize) < leastFreeBytes { return "lies on a disk that is full" }
        return nil
    }

    /// The folders in it have names of two letters.
    private static func foreignPart(of folder: URL) -> String? {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return entries.sorted().first { $0.utf8.count == 2 && access("\(folder.path)/\($0)", W_OK | X_OK) != 0 }
            .map { "holds '\($0)', which cannot be written" }
    }

    /// A folder in the temporary folder that no other user can write; nil where there is none.
    private static func temporaryFolder(_ environment: [String: String]) -> URL? {
        let place = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
        let folder = URL(fileURLWithPath: place).appendingPathComponent("needletail-\(geteuid())")
        var found = stat()
        guard mkdir(folder.path, 0o700) == 0 || errno == EEXIST, lstat(folder.path, &found) == 0, found.st_mode & S_IFMT == S_IFDIR,
            found.st_uid == geteuid(), found.st_mode & 0o077 == 0
        else { return nil }
        return folder.appendingPathComponent("pocl")
    }
}
