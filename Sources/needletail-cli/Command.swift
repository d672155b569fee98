import Foundation
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
        name: "--precision", value: "NAME", help: "float32, float16, bfloat16 or fast (default float32)")
    static let verify = Flag(name: "--verify", value: nil, help: "compare the first prediction with the CPU's float32")
    static let json = Flag(name: "--json", value: nil, help: "print JSON")
    static let session = [backend, device, threads, precision, verify]

    static func configuration(_ arguments: Arguments) throws -> SessionConfiguration {
        SessionConfiguration(
            backend: try arguments.choice("--backend", of: BackendChoice.self) ?? .auto,
            deviceIndex: try arguments.integer("--device", in: 0...1023),
            threadCount: try arguments.integer("--threads", in: 1...256),
            precision: try arguments.choice("--precision", of: ComputePrecision.self) ?? .float32,
            verifiesFirstPrediction: arguments.has("--verify"))
    }
}

/// Text for standard output and standard error. A closed pipe is no error: what can't be written is dropped.
enum Console {
    static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    /// One line on standard error.
    static func complain(_ text: String) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        write("needletail: \(line)\n", to: STDERR_FILENO)
    }

    /// Shows or replaces a progress line, when standard error is a terminal.
    static func progress(_ text: String?) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        write("\r\u{1b}[K" + (text ?? ""), to: STDERR_FILENO)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            bytes = bytes.dropFirst(written)
        }
    }

    /// One line of JSON with sorted keys.
    static func json(_ object: Any) throws -> String {
        let data = try JSONSerialization.data(
            withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
    }
}
