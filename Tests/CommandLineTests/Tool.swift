import Foundation
import XCTest

/// Runs the built `needletail` as a person would.
struct Tool {
    struct Result {
        var status: Int32
        var wasKilled: Bool
        var output: String
        var errors: String

        /// Output lines as JSON objects.
        func objects() throws -> [[String: Any]] {
            try output.split(separator: "\n").map { line in
                try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }
    }

    /// The program beside the test bundle.
    static var executable: URL {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return bundle.appendingPathComponent("needletail")
    }

    /// - Parameters:
    ///   - output: a file or device that takes standard output instead of `Result.output`.
    ///   - program: another program than `needletail`.
    static func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:], output: String? = nil, program: URL = Tool.executable
    ) throws -> Result {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Files rather than pipes: nothing blocks however much is printed.
        let (out, err, into) = (
            folder.appendingPathComponent("out"), folder.appendingPathComponent("err"), folder.appendingPathComponent("in")
        )
        for file in [out, err] { try Data().write(to: file) }
        try Data((input ?? "").utf8).write(to: into)
        process.standardOutput = try FileHandle(forWritingTo: output.map { URL(fileURLWithPath: $0) } ?? out)
        process.standardError = try FileHandle(forWritingTo: err)
        process.standardInput = try FileHandle(forReadingFrom: into)
        try process.run()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal,
            output: String(decoding: try Data(contentsOf: out), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: err), as: UTF8.self))
    }
}
