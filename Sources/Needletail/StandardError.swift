import Foundation

/// Notices for the person at the terminal.
enum StandardError {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var said: Set<String> = []

    /// Writes one line, the same text once a process at most. What standard error cannot take is dropped.
    static func say(_ text: String) {
        guard lock.withLock({ said.insert(text).inserted }) else { return }
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? FileHandle.standardError.write(contentsOf: Data("needletail: \(line)\n".utf8))
    }
}
