/// Why a picture could not be read or prepared. Names the picture, what was expected and what was found.
package struct ImageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for callers that map it to a code of their own.
    package enum Kind: Sendable, Equatable {
        /// The file could not be opened or read.
        case unreadable
        /// The bytes begin like no format that is decoded here.
        case unknownFormat
        /// The bytes break their own format.
        case corrupt
        /// The bytes end before the picture does.
        case truncated
        /// A valid file of a kind that is not decoded.
        case unsupported
        /// Over a limit of `ImageLimits`.
        case tooLarge
        /// Memory is short.
        case outOfMemory
        /// A size, stride, rectangle or buffer that cannot be.
        case invalidArgument
    }

    package var kind: Kind
    /// The file or object, when it has a name.
    package var source: String?
    /// What is wrong, what was expected and what was found, without the source's name.
    package var reason: String

    package init(_ kind: Kind, source: String? = nil, _ reason: String) {
        self.kind = kind
        self.source = source
        self.reason = reason
    }

    /// One line: the source, then the reason.
    package var description: String {
        source.map { "\($0): \(reason)" } ?? reason
    }

    /// The same error with a source, unless it has one.
    package func named(_ source: String?) -> ImageError {
        var copy = self
        copy.source = self.source ?? source
        return copy
    }
}
