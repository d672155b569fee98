import Foundation
import NTFiles
import Needletail

/// A verb of the program.
protocol Command {
    static var name: String { get }
    /// What follows the verb: `MODEL IMAGE...`.
    static var operands: String { get }
    static var summary: String { get }
    static var flags: [Flag] { get }
    /// Runs the verb and returns the exit status.
    static func run(_ arguments: Arguments) throws -> Int32
}

extension Command {
    static var usage: String {
        var text = "usage: needletail \(name) \(operands)\n\n\(summary)\n"
        if !flags.isEmpty { text += "\n" }
        for flag in flags {
            let head = flag.name + (flag.value.map { " " + $0 } ?? "")
            text += "  " + head.padding(toLength: max(head.count + 2, 28), withPad: " ", startingAt: 0) + flag.help + "\n"
        }
        return text
    }
}

/// Flags that several verbs share.
enum CommonFlags {
    static let backend = Flag(name: "--backend", value: "NAME", help: "auto, cpu, opencl or reference (default auto)")
    static let device = Flag(name: "--device", value: "N", help: "the OpenCL device, as `needletail devices` counts them")
    static let threads = Flag(name: "--threads", value: "N", help: "threads of one run on the CPU (default: one per core)")
    static let precision = Flag(
        name: "--precision", value: "NAME", help: "float32, float32-winograd, float16, bfloat16 or fast (default float32)")
    static let verify = Flag(name: "--verify", value: nil, help: "compare the first prediction with the reference")
    static let json = Flag(name: "--json", value: nil, help: "print JSON")
    static let session = [backend, device, threads, precision, verify]

    static func configuration(_ arguments: Arguments) throws -> SessionConfiguration {
        let backend = try arguments.choice("--backend", of: BackendChoice.self) ?? .auto
        let device = try arguments.integer("--device", in: 0...1023)
        guard device == nil || [.auto, .opencl].contains(backend) else {
            throw UsageError("--device: goes with --backend opencl or auto, found --backend \(backend.rawValue)")
        }
        return SessionConfiguration(
            backend: backend, deviceIndex: device,
            threadCount: try arguments.integer("--threads", in: 1...SessionConfiguration.maximumThreadCount),
            precision: try arguments.choice("--precision", of: ComputePrecision.self) ?? .float32,
            verifiesFirstPrediction: arguments.has("--verify"))
    }
}

extension CommonFlags {
    /// Prepares a session, with a line on a terminal meanwhile: a device's first programs take many seconds to compile.
    static func session(_ model: Model, _ configuration: SessionConfiguration) throws -> Session {
        Console.progress("preparing \(model.name)")
        defer { Console.progress(nil) }
        return try Session(model, configuration: configuration)
    }

    /// What `--verify` has found, as lines; none when it was not asked for.
    static func verification(_ result: VerificationResult?) -> [String] {
        guard let result else { return [] }
        let text =
            result.difference.map { String(format: "outputs differ from the reference by at most %.2g of their largest value", $0) }
            ?? "no output has a finite value to compare"
        return ["# verified: \(text)"] + result.remarks.map { "# verified: \($0)" }
    }

    /// The same for `--json`: what it adds to an object.
    static func verificationObject(_ result: VerificationResult?) -> [String: Any] {
        guard let result else { return [:] }
        return ["verification": result.difference ?? NSNull(), "verificationRemarks": result.remarks]
    }

    /// The path of an operand; an empty one is a mistake, not the current folder.
    static func url(_ path: String, _ what: String) throws -> URL {
        guard !path.isEmpty else { throw UsageError("the path of \(what) is empty") }
        return URL(fileURLWithPath: path)
    }
}

/// Standard output could not take what was printed.
struct OutputError: Error, CustomStringConvertible {
    /// The `errno` of the failed write.
    let code: Int32

    var description: String { "standard output cannot be written: \(String(cString: strerror(code)))" }
}

/// Text for standard output and standard error. What standard error can't take is dropped.
enum Console {
    /// One text and a newline on standard output.
    /// - Throws: `OutputError` when it is closed, full, or nobody reads it any more.
    static func print(_ text: String) throws {
        if let code = write(text + "\n", to: STDOUT_FILENO) { throw OutputError(code: code) }
    }

    /// One line on standard error, cut to a length that a person reads.
    static func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        _ = write("needletail: \(line.count > 500 ? line.prefix(500) + "..." : line)\n", to: STDERR_FILENO)
    }

    /// One line on standard error.
    static func note(_ text: String) { _ = write(text + "\n", to: STDERR_FILENO) }

    /// Whether standard error is a terminal that can rewrite a line.
    static let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// Shows or replaces a progress line, when standard error is a terminal.
    static func progress(_ text: String?) {
        guard isTerminal else { return }
        _ = write("\r\u{1b}[K" + (text ?? ""), to: STDERR_FILENO)
    }

    private static func writable(_ object: Any) -> Any {
        switch object {
        case let list as [Any]: list.map(writable)
        case let pairs as [String: Any]: pairs.mapValues(writable)
        case let number as Double: number.isFinite ? number : NSNull()
        case let number as Float: number.isFinite ? number : NSNull()
        default: object
        }
    }

    /// Shows, on a terminal, that a pipe is being read, which may take as long as its writer likes.
    static func progress(reading path: String) {
        if Files.kind(path) == .pipe { progress("reading \(path) until its writer closes it") }
    }

    /// Writes all of a text; returns the `errno` of a failure.
    private static func write(_ text: String, to descriptor: Int32) -> Int32? {
        var bytes = Array(FileName.shown(text).utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if written < 0 && code == EINTR { continue }
            guard written > 0 else { return written < 0 ? code : EIO }
            bytes = bytes.dropFirst(written)
        }
        return nil
    }

    /// One line of JSON with sorted keys. Numbers that are not finite, which JSON has not, become null.
    static func json(_ object: Any) throws -> String {
        let data = try JSONSerialization.data(
            withJSONObject: writable(object), options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        return FileName.shown(String(decoding: data, as: UTF8.self), backslash: "\\\\")
    }
}
