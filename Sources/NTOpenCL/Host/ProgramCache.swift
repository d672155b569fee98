import Foundation
import NTFiles

/// Compiled programs on disk, one file each under `$XDG_CACHE_HOME/needletail/opencl` (`~/.cache` by default).
///
/// An entry carries its whole key and a checksum; one that is no file, truncated, altered, of another device or driver, or of another version of this
/// format is not used, and is replaced after the program has been built anew. Files are written beside their place and moved there, so that
/// processes may share the folder. When the folder grows past its limit, the entries used longest ago go. No failure here is an error: the program
/// is built from source then. NEEDLETAIL_CACHE=off turns the cache off.
package struct ProgramCache: Sendable {
    /// The largest program kept.
    static let maximumEntryBytes = 64 << 20
    /// The most bytes that entries take together.
    package let maximumBytes: Int
    package let folder: URL
    private let patience: BuildPatience

    package init(folder: URL, maximumBytes: Int = 256 << 20, patience: BuildPatience = .ofProcess) {
        self.folder = folder
        self.maximumBytes = maximumBytes
        self.patience = patience
    }

    /// The user's cache, or nil when it is turned off or has no place.
    package static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> ProgramCache? {
        CacheLocation(environment: environment).folder.map { ProgramCache(folder: $0.appendingPathComponent("opencl")) }
    }

    private static let magic = Array("NTCLPRG1".utf8)

    /// The binary of a key, or nil when the cache has none that can be trusted.
    package func load(_ key: CacheEntryKey) -> [UInt8]? {
        let url = url(of: key)
        guard let data = try? Files.read(url.path, limit: Self.maximumEntryBytes) else { return nil }
        guard let binary = Self.decode([UInt8](data), expecting: key.text) else { return nil }
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: url.path)
        return binary
    }

    /// Keeps a binary; failures are silent.
    package func store(_ binary: [UInt8], for key: CacheEntryKey) {
        let bytes = Self.encode(binary, key: key.text)
        guard bytes.count <= min(Self.maximumEntryBytes, maximumBytes) else { return }
        let target = url(of: key).path
        guard (try? Files.makeFolder(folder.path)) != nil else { return }
        // What is no file takes an entry's place for good, unless it goes.
        if let kind = Files.kind(target), kind != .file { Files.remove(target, emptyAlone: true) }
        guard (try? Files.write(Data(bytes), to: target)) != nil else { return }
        trim()
    }

    /// The lock that keeps other processes from building at the same time; nil when the folder takes none, or another process holds it too long.
    func lockBuilds(_ notify: (String) -> Void) -> BuildLock? {
        guard (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil else { return nil }
        return BuildLock(folder: folder, patience: patience, notify: notify)
    }

    private func url(of key: CacheEntryKey) -> URL { folder.appendingPathComponent(key.fileName) }

    /// Removes the entries used longest ago until the rest fits, and what interrupted writers left more than an hour ago.
    private func trim() {
        let files = FileManager.default
        let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
        guard let urls = try? files.contentsOfDirectory(at: folder, includingPropertiesForKeys: Array(keys)) else { return }
        var entries: [(url: URL, size: Int, date: Date)] = []
        for url in urls {
            guard let values = try? url.resourceValues(forKeys: keys), let date = values.contentModificationDate else { continue }
            if url.pathExtension == "part" {
                if date.timeIntervalSinceNow < -3600 { try? files.removeItem(at: url) }
            } else if url.pathExtension == CacheEntryKey.fileExtension {
                entries.append((url, values.fileSize ?? 0, date))
            }
        }
        var total = entries.reduce(0) { $0 + $1.size }
        for entry in entries.sorted(by: { $0.date < $1.date }) where total > maximumBytes {
            try? files.removeItem(at: entry.url)
            total -= entry.size
        }
    }

    /// magic, key length, key, binary length, checksum of the binary, binary; numbers are 8 bytes, little-endian.
    static func encode(_ binary: [UInt8], key: String) -> [UInt8] {
        let keyBytes = Array(key.utf8)
        return magic + word(UInt64(keyBytes.count)) + keyBytes + word(UInt64(binary.count)) + word(Checksum.of(binary)) + binary
    }

    static func decode(_ bytes: [UInt8], expecting key: String) -> [UInt8]? {
        let keyBytes = Array(key.utf8)
        let headerCount = magic.count + 8 + keyBytes.count + 16
        guard bytes.count >= headerCount, Array(bytes[..<magic.count]) == magic,
            number(bytes, at: magic.count) == UInt64(keyBytes.count),
            Array(bytes[(magic.count + 8)..<(magic.count + 8 + keyBytes.count)]) == keyBytes,
            number(bytes, at: headerCount - 16) == UInt64(bytes.count - headerCount)
        else { return nil }
        let binary = Array(bytes[headerCount...])
        return number(bytes, at: headerCount - 8) == Checksum.of(binary) ? binary : nil
    }

    private static func word(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << ($1 * 8) }
    }
}

/// What a cache entry is for: source, options, device and driver.
package struct CacheEntryKey: Sendable {
    static let fileExtension = "clbin"
    let text: String

    package init(source: String, options: String, device: OpenCLDevice) {
        let hash = String(Checksum.of(Array(source.utf8)), radix: 16) + "-" + String(source.utf8.count)
        text = [device.platformName, device.vendor, device.name, device.version, device.driverVersion, options, hash]
            .joined(separator: "\n")
    }

    package var fileName: String {
        let bytes = Array(text.utf8)
        let (a, b) = (Checksum.of(bytes), Checksum.of(bytes + [0x5a]))
        return String(a, radix: 16) + String(b, radix: 16) + "." + Self.fileExtension
    }
}

/// A 64-bit checksum against accidents: FNV-1a over bytes, finished by an avalanche.
enum Checksum {
    static func of(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        bytes.withUnsafeBufferPointer { for byte in $0 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 } }
        hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        return hash ^ (hash >> 33)
    }
}
