import Foundation

/// Why a file cannot be read or written: the path and the system's reason in one line.
package struct FileError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Problem: Sendable, Equatable {
        /// There is no file of that name.
        case missing
        case isFolder
        /// A pipe where a file is expected.
        case isPipe
        case isDevice
        /// More bytes than are taken; how many there are is not known of a pipe.
        case tooLarge(byteCount: Int?, limit: Int)
        /// A call failed with this `errno`: `cannot be opened (Permission denied)`.
        case failed(action: String, code: Int32)
    }

    package let path: String
    package let problem: Problem
    /// What was expected, in words: `a file`.
    package let expected: String

    package init(_ path: String, _ problem: Problem, expected: String = "a file") {
        (self.path, self.problem, self.expected) = (path, problem, expected)
    }

    /// The problem without the path.
    package var reason: String {
        switch problem {
        case .missing: "no such file"
        case .isFolder: "is a folder, expected \(expected)"
        case .isPipe: "is a pipe, expected \(expected)"
        case .isDevice: "is a device, expected \(expected)"
        case .tooLarge(let byteCount, let limit): "\(byteCount.map { "\($0) bytes are" } ?? "it holds") more than the \(limit) bytes that are read"
        case .failed(let action, let code): "cannot be \(action) (\(String(cString: strerror(code))))"
        }
    }

    package var description: String { "\(path): \(reason)" }

    /// The error of a call that failed.
    static func failed(_ path: String, _ action: String, _ code: Int32) -> FileError {
        FileError(path, code == ENOENT && action == "opened" ? .missing : .failed(action: action, code: code))
    }
}
