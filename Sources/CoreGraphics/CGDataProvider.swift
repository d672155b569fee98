import Foundation

/// Bytes for a `CGImage`: raw pixels.
public final class CGDataProvider: Sendable {
    let bytes: Data

    /// Copies nothing that Foundation need not copy.
    public init?(data: CFData) { bytes = Data(referencing: data) }

    /// The whole file, read now; nil when it cannot be read.
    public init?(url: CFURL) {
        guard let data = try? Data(contentsOf: url as URL) else { return nil }
        bytes = data
    }

    package init(_ data: Data) { bytes = data }

    /// The bytes.
    public var data: CFData? { NSData(data: bytes) }
}
