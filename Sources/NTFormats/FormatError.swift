import NTFiles

/// Why a file cannot be read, described or turned into a graph. One line of text that names the file, the layer, and what was
/// expected and found.
package struct FormatError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong, for callers that translate into other error domains.
    package enum Kind: String, Sendable, Hashable {
        /// No file of that name.
        case missing
        /// It exists but cannot be opened or read.
        case unreadable
        /// A folder that is no model package, or a package that lacks its parts.
        case badPackage
        case empty
        case tooLarge
        /// Not a model at all, or one whose bytes break the rules of its format.
        case malformed
        /// A sound model that asks for something Needletail does not run: a model type, a layer.
        case unsupported
        /// A sound encoding of an inconsistent network: undefined blobs, sizes that do not match.
        case invalidModel
        /// An argument of the caller that the model does not allow, such as an input shape.
        case invalidArgument
    }

    package var kind: Kind
    /// The file's path, when it came from a file.
    package var path: String?
    /// The layer's name, when one is to blame.
    package var layer: String?
    package var reason: String

    package init(_ kind: Kind, path: String? = nil, layer: String? = nil, _ reason: String) {
        (self.kind, self.path, self.layer, self.reason) = (kind, path, layer, reason)
    }

    /// The error of a file that cannot be read or written.
    package init(_ error: FileError) {
        let kind: Kind =
            switch error.problem {
            case .missing: .missing
            case .isFolder: .badPackage
            case .tooLarge: .tooLarge
            case .isPipe, .isDevice, .failed: .unreadable
            }
        self.init(kind, path: error.path, error.reason)
    }

    package var description: String {
        let place = layer.map { "layer '\(Self.shortened($0))': " } ?? ""
        return (path.map { "\($0): " } ?? "") + place + reason
    }

    /// The same error with the file's path, unless it names one already.
    func at(_ path: String?) -> FormatError {
        var result = self
        if result.path == nil { result.path = path }
        return result
    }

    /// A name from a file made fit for one line of a message: control characters replaced, at most 80 characters.
    static func shortened(_ name: String) -> String {
        let clean = String(name.prefix(81).map { $0.isNewline || $0.asciiValue.map { $0 < 32 } == true ? "?" : $0 })
        return clean.count > 80 ? String(clean.prefix(80)) + "..." : clean
    }
}
