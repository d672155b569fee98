import Foundation
import TestSupport
import XCTest

/// Machines without an OpenCL loader, with a broken one, with an old one.
final class LoaderTests: FolderTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private let face = Fixtures.models.appendingPathComponent("photos/face.png").path

    /// The built tool with another word of as many letters in each place of one: the name of what it looks for.
    private func tool(_ word: String, _ other: String) throws -> URL {
        XCTAssertEqual(word.utf8.count, other.utf8.count)
        var bytes = try Data(contentsOf: Tool.executable)
        var (place, count) = (bytes.startIndex, 0)
        while let range = bytes.range(of: Data(word.utf8), in: place..<bytes.endIndex) {
            bytes.replaceSubrange(range, with: Data(other.utf8))
            (place, count) = (range.upperBound, count + 1)
        }
        XCTAssertGreaterThan(count, 0, word)
        let copy = folder.appendingPathComponent("needletail")
        try bytes.write(to: copy)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy.path)
        return copy
    }

    /// The tool does without OpenCL and names the reason, of which these are words.
    private func assertThatOnlyTheCPURuns(_ program: URL, _ environment: [String: String] = [:], reasons: [String], line: UInt = #line) throws {
        func run(_ arguments: [String]) throws -> Tool.Result { try Tool.run(arguments, environment: environment, program: program) }
        func assertNamed(_ text: String) { for reason in reasons { XCTAssertTrue(text.contains(reason), text, line: line) } }
        let devices = try run(["devices"])
        XCTAssertEqual(devices.status, 0, devices.errors, line: line)
        XCTAssertTrue(devices.output.contains("opencl    none: "), devices.output, line: line)
        assertNamed(devices.output)
        for backend in ["auto", "cpu"] {
            let result = try run(["classify", emotion, face, "--backend", backend])
            XCTAssertEqual(result.status, 0, result.errors, line: line)
            XCTAssertTrue(result.output.contains("Happy"), result.output, line: line)
            XCTAssertEqual(result.errors, "", line: line)
            if backend == "auto" { assertNamed(result.output) }
        }
        for arguments in [["classify", emotion, face, "--backend", "opencl"], ["tune", emotion], ["classify", emotion, face, "--device", "0"]] {
            let result = try run(arguments)
            XCTAssertFalse(result.wasKilled, line: line)
            XCTAssertEqual(result.status, 1, "\(arguments)", line: line)
            XCTAssertEqual(result.errors.split(separator: "\n").count, 1, result.errors, line: line)
            assertNamed(result.errors)
        }
    }

    func testNoLoader() throws {
        let reasons = ["no OpenCL loader (libNobody.so.1) is installed: libNobody.so.1: cannot open shared object file"]
        try assertThatOnlyTheCPURuns(try tool("libOpenCL.so", "libNobody.so"), reasons: reasons)
    }

    func testABrokenLoader() throws {
        for name in ["libOpenCL.so.1", "libOpenCL.so"] { try Data("no library".utf8).write(to: folder.appendingPathComponent(name)) }
        let paths = [folder.path, ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]].compactMap { $0 }.joined(separator: ":")
        let reasons = ["no OpenCL loader could be opened: ", "libOpenCL.so.1: file too short"]
        try assertThatOnlyTheCPURuns(Tool.executable, ["LD_LIBRARY_PATH": paths], reasons: reasons)
    }

    /// A loader without one of the calls: an error that names the call, wherever it is needed.
    func testAnOldLoader() throws {
        let none = try tool("clGetPlatformIDs", "clGetPlatformXXX")
        try assertThatOnlyTheCPURuns(none, reasons: ["the OpenCL loader lacks clGetPlatformXXX"])
        for (call, other) in [
            ("clCreateSubBuffer", "clCreateSubBuffXX"), ("clCreateContext", "clCreateContexX"), ("clEnqueueNDRangeKernel", "clEnqueueNDRangeKernXX"),
        ] {
            let program = try tool(call, other)
            let result = try Tool.run(["classify", emotion, face, "--backend", "opencl"], program: program)
            XCTAssertFalse(result.wasKilled)
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.hasSuffix("failed: the OpenCL loader lacks it\n"), result.errors)
            let automatic = try Tool.run(["classify", emotion, face, "--backend", "auto", "--device", "0"], program: program)
            XCTAssertEqual(automatic.status, 0, automatic.errors)
            XCTAssertTrue(automatic.output.contains("Happy"), automatic.output)
            XCTAssertTrue(automatic.errors.contains("the CPU is used instead"), automatic.errors)
        }
    }

    /// Nothing makes the program need the library to start.
    func testTheProgramIsNotLinkedToOpenCL() throws {
        let result = try Tool.run([], environment: ["LD_TRACE_LOADED_OBJECTS": "1"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("libc.so"), result.output)
        XCTAssertFalse(result.output.contains("libOpenCL"), result.output)
    }
}
