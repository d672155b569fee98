import Foundation

/// Where this package keeps what it can make anew: the folder that NEEDLETAIL_CACHE names, else `$XDG_CACHE_HOME/needletail`, else
/// `~/.cache/needletail`; nowhere when NEEDLETAIL_CACHE is `off`.
package struct CacheLocation: Sendable {
    /// Nil when the cache is off or no home is known.
    package let folder: URL?

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        if environment["NEEDLETAIL_CACHE"]?.lowercased() == "off" {
            folder = nil
        } else if let own = environment["NEEDLETAIL_CACHE"], own.hasPrefix("/") {
            folder = URL(fileURLWithPath: own)
        } else if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") {
            folder = URL(fileURLWithPath: base).appendingPathComponent("needletail")
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            folder = URL(fileURLWithPath: home).appendingPathComponent(".cache/needletail")
        } else {
            folder = nil
        }
    }

    /// The file of this device and driver in the folder `kind`, or nil when the cache is off.
    package func file(_ kind: String, for device: OpenCLDevice, suffix: String = "") -> URL? {
        let text = [device.platformName, device.name, device.version, device.driverVersion].joined(separator: "\n")
        return folder?.appendingPathComponent("\(kind)/\(String(Checksum.of(Array(text.utf8)), radix: 16))\(suffix).json")
    }
}
