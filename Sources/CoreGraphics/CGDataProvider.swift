import Foundation
import NTFiles

/// Bytes for a `CGImage`: raw pixels.
public final class CGDataProvider: Sendable {
    let bytes: Data

    /// Copies nothing that Foundation need not copy.
    public init?(data: CFData) { bytes = Data(referencing: data) }

    /// The whole file, read now, or a pipe until its writer closes it; nil when it cannot be read or holds more than 1 GiB.
    public init?(url: CFURL) {
        guard (url as URL).isFileURL, let data = try? Files.read((url as URL).path, limit: 1 << 30, pipes: true) else { return nil }
        bytes = data
    }

    package init(_ data: Data) { bytes = data }

    /// The bytes.
    public var data: CFData? { NSData(data: bytes) }
}
