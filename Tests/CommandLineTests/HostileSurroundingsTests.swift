import Foundation
import TestSupport
import XCTest

/// Outputs that take nothing, inputs that never come, folders that cannot be made.
final class HostileSurroundingsTests: FolderTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private let face = Fixtures.models.appendingPathComponent("photos/face.png").path

    private func assertFails(
        _ arguments: [String], environment: [String: String] = [:], mentions text: String, output: String? = nil, line: UInt = #line
    ) throws {
        let result = try Tool.run(arguments, environment: environment, output: output)
        XCTAssertFalse(result.wasKilled, line: line)
        XCTAssertEqual(result.status, 1, result.errors, line: line)
        XCTAssertTrue(result.errors.contains(text), result.errors, line: line)
        XCTAssertEqual(result.errors.split(separator: "\n").count, 1, result.errors, line: line)
        XCTAssertFalse(result.errors.contains("NSCocoaErrorDomain"), result.errors, line: line)
        XCTAssertLessThan(result.errors.utf8.count, 2000, line: line)
    }

    /// PoCL offers no device without a cache folder; the reason is told, and `auto` runs on the processor.
    func testACacheFolderThatPoCLCannotUseIsNamed() throws {
        let environment = ["XDG_CACHE_HOME": "/proc/nope", "POCL_CACHE_DIR": "/proc/nope/own"]
        let list = try XCTUnwrap(try Tool.run(["devices", "--json"], environment: environment).objects().first)
        XCTAssertTrue((list["openclReason"] as? String ?? "").contains("'/proc/nope/own' (by POCL_CACHE_DIR)"), "\(list)")
        let refused = try Tool.run(["classify", emotion, face, "--backend", "opencl"], environment: environment)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("POCL_CACHE_DIR"), refused.errors)
        let auto = try Tool.run(["classify", emotion, face, "--backend", "auto"], environment: environment)
        XCTAssertEqual(auto.status, 0, auto.errors)
        XCTAssertTrue(auto.output.contains("Happy"), auto.output)
        XCTAssertTrue(auto.output.contains("POCL_CACHE_DIR"), auto.output)
        let numbered = try Tool.run(["classify", emotion, face, "--backend", "auto", "--device", "0"], environment: environment)
        XCTAssertEqual(numbered.status, 1)
        XCTAssertTrue(numbered.errors.contains("POCL_CACHE_DIR"), numbered.errors)
    }

    /// Surroundings that would have PoCL abort, write into the current folder, or offer no device: it works in the folder that it should.
    func testPoCLGetsAFolderThatItCanUse() throws {
        let (home, temporary) = (folder.appendingPathComponent("home").path, folder.appendingPathComponent("tmp").path)
        for path in [home, temporary] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        let relative = "needletail-relative-\(UUID().uuidString)"
        let own = "\(temporary)/needletail-\(geteuid())/pocl"
        let cases: [([String: String], String)] = [
            (["XDG_CACHE_HOME": relative, "HOME": home], home + "/.cache/pocl/kcache"), (["XDG_CACHE_HOME": "/proc/nope", "HOME": home], own),
            (["XDG_CACHE_HOME": "", "HOME": "/proc/nope"], own), (["XDG_CACHE_HOME": "", "HOME": ""], own),
        ]
        for (surroundings, place) in cases {
            try? FileManager.default.removeItem(atPath: place)
            // Empty: as if PoCL's variable were not set, which the tests' own surroundings may do.
            let environment = surroundings.merging(["POCL_CACHE_DIR": "", "TMPDIR": temporary, "NEEDLETAIL_CACHE": "off"]) { $1 }
            let result = try Tool.run(["classify", emotion, face, "--backend", "opencl"], environment: environment)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.output.contains("Happy"), result.output)
            XCTAssertFalse(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty, "\(surroundings)")
            XCTAssertFalse(FileManager.default.fileExists(atPath: relative))
        }
    }

    /// Drivers that do not load are named with the file that names them, whether or not another one does.
    func testDriversThatDoNotLoadAreNamed() throws {
        let vendors = folder.appendingPathComponent("vendors")
        try FileManager.default.createDirectory(at: vendors, withIntermediateDirectories: true)
        let broken = vendors.appendingPathComponent("broken.icd").path
        try Data("libneedletail-not-there.so\n".utf8).write(to: URL(fileURLWithPath: broken))
        for place in [vendors.path, broken] {
            let environment = ["OCL_ICD_VENDORS": place]
            let list = try XCTUnwrap(try Tool.run(["devices", "--json"], environment: environment).objects().first)
            let reason = list["openclReason"] as? String ?? ""
            XCTAssertTrue(reason.hasPrefix("'\(broken)' names 'libneedletail-not-there.so', which does not load: "), reason)
            try assertFails(["classify", emotion, face, "--backend", "opencl"], environment: environment, mentions: "'\(broken)' names")
            let auto = try Tool.run(["classify", emotion, face], environment: environment)
            XCTAssertEqual(auto.status, 0, auto.errors)
            XCTAssertTrue(auto.output.contains("broken.icd"), auto.output)
        }
        let installed = "/etc/OpenCL/vendors/pocl.icd"
        guard FileManager.default.fileExists(atPath: installed) else { return }
        try FileManager.default.copyItem(atPath: installed, toPath: vendors.appendingPathComponent("pocl.icd").path)
        let list = try Tool.run(["devices"], environment: ["OCL_ICD_VENDORS": vendors.path])
        XCTAssertTrue(list.output.contains("opencl 0"), list.output)
        XCTAssertTrue(list.output.contains("left out: '\(broken)' names"), list.output)
        let nothing = try Tool.run(["devices"], environment: ["OCL_ICD_VENDORS": folder.path + "/nothing"])
        XCTAssertTrue(nothing.output.contains("no OpenCL driver is installed: '\(folder.path)/nothing' names none"), nothing.output)
    }

    /// Settings that are not known are errors that list what is, whatever the verb.
    func testMisspeltEnvironmentVariables() throws {
        for (variable, value, known) in [
            ("NEEDLETAIL_OPENCL", "pixel=off", "pixels, shared, replay, fuse"), ("NEEDLETAIL_OPENCL", "pixels=no", "=on or =off"),
            ("NEEDLETAIL_OPENCL", "single=off,single=on", "expected single to be either on or off"),
            ("NEEDLETAIL_MAX_ISA", "AVX2", "portable, avx2, avx512, avx512bf16, avx512fp16, amx"), ("NEEDLETAIL_CACHE", "relative", "off"),
        ] {
            for words in [["devices"], ["describe", emotion], ["classify", emotion, face, "--backend", "cpu"]] {
                let result = try Tool.run(words, environment: [variable: value])
                XCTAssertEqual(result.status, 1)
                XCTAssertEqual(result.output, "")
                XCTAssertTrue(result.errors.contains("\(variable): expected "), result.errors)
                XCTAssertTrue(result.errors.contains(known) && result.errors.contains("'\(value)'"), result.errors)
            }
            XCTAssertEqual(try Tool.run(["--help"], environment: [variable: value]).status, 0)
        }
    }

    /// NaN and infinities in tensors are warned of; a file of outputs may hide them.
    func testTensorsThatAreNotFinite() throws {
        let tensor = folder.appendingPathComponent("nan.npy")
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 64, 64), }\n"
        var file = Data([0x93]) + Data("NUMPY".utf8) + Data([1, 0, UInt8(header.utf8.count), 0]) + Data(header.utf8)
        for _ in 0..<4096 { file += Data([0, 0, 0xc0, 0x7f]) }
        try file.write(to: tensor)
        for backend in ["cpu", "opencl", "reference"] {
            let words = ["predict", emotion, "--input", "image=\(tensor.path)", "--output", folder.path, "--backend", backend, "--verify"]
            let result = try Tool.run(words)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.errors.contains("warning: input 'image' is NaN"), result.errors)
            XCTAssertTrue(result.errors.contains("warning: output 'classLabelProbs' is NaN, written as null"), result.errors)
            XCTAssertTrue(result.output.contains("# verified: no output has a finite value to compare"), result.output)
            XCTAssertTrue(result.output.contains("# verified: output 'classLabelProbs' is NaN in both"), result.output)
        }
    }

    /// Foundation's own words for what cannot be written never come through.
    func testACacheThatCannotBeWrittenIsNamed() throws {
        let file = folder.appendingPathComponent("file")
        try Data("x".utf8).write(to: file)
        for (cache, reason) in [("/proc/nope", "No such file or directory"), (file.path, "Not a directory")] {
            let result = try Tool.run(["tune", emotion, "--seconds", "0"], environment: ["NEEDLETAIL_CACHE": cache])
            XCTAssertEqual(result.status, 1)
            XCTAssertTrue(result.errors.contains("\(cache)"), result.errors)
            XCTAssertTrue(result.errors.contains("cannot be written (\(reason))"), result.errors)
            XCTAssertFalse(result.errors.contains("Domain"), result.errors)
        }
        let compiled = try Tool.run(["compile", emotion, "-o", "/proc/x.mlmodelc"])
        XCTAssertEqual(compiled.status, 1)
        XCTAssertTrue(compiled.errors.contains("/proc/") && compiled.errors.contains("cannot be written"), compiled.errors)
        XCTAssertFalse(compiled.errors.contains("Domain"), compiled.errors)
    }

    func testAFullStandardOutputIsAnError() throws {
        for arguments in [
            ["--help"], ["devices"], ["describe", emotion], ["describe", emotion, "--json"],
            ["classify", emotion, face, "--backend", "cpu"], ["classify", emotion, face, "--json", "--backend", "cpu"],
        ] {
            try assertFails(arguments, mentions: "standard output", output: "/dev/full")
        }
    }

    /// With standard streams closed nothing is printed into the files that are opened next, whose descriptors theirs would be.
    func testClosedStreamsStayClosed() throws {
        let tool = Tool.executable.path
        let script = """
            cd \(folder.path); exec 9>status
            \(tool) compile \(emotion) -o a.mlmodelc >&- 2>err; echo $? >&9
            \(tool) compile \(emotion) -o b.mlmodelc <&- >&- 2>&-; echo $? >&9
            \(tool) classify b.mlmodelc \(face) --backend cpu <&- 2>&- >out; echo $? >&9
            \(tool) bench \(emotion) --backend cpu --rounds-from-stdin <&- >rounds; echo $? >&9
            """
        XCTAssertEqual(try Tool.run(["-c", script], program: URL(fileURLWithPath: "/bin/bash")).status, 0)
        func text(_ name: String) throws -> String { try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) }
        XCTAssertEqual(try text("status"), "1\n1\n0\n0\n")
        XCTAssertEqual(try text("err"), "needletail: standard output cannot be written: Bad file descriptor\n")
        XCTAssertTrue(try text("out").contains("Happy"))
        XCTAssertEqual(try text("rounds"), "ready\n")
        let bench = try Tool.run(["bench", folder.path + "/b.mlmodelc", "--backend", "cpu", "--seconds", "0.01", "--json"])
        XCTAssertEqual(try bench.objects().first?["isCompiled"] as? Bool, true, bench.errors)
    }

    /// A limit on the size of files is an error that is told, and leaves nothing behind.
    func testALimitOnTheSizeOfFilesIsAnError() throws {
        let script = "ulimit -f 1; \(Tool.executable.path) compile \(emotion) -o \(folder.path)/x.mlmodelc"
        let result = try Tool.run(["-c", script], program: URL(fileURLWithPath: "/bin/bash"))
        XCTAssertEqual(result.status, 1, result.errors)
        XCTAssertTrue(result.errors.contains("File too large"), result.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }

    func testHelpNamesTheVerb() throws {
        XCTAssertEqual(try Tool.run(["help", "bench"]).output, try Tool.run(["bench", "--help"]).output)
        for words in [["help", "help"], ["--help", "--help"], ["help"]] {
            XCTAssertTrue(try Tool.run(words).output.hasPrefix("usage: needletail VERB"), "\(words)")
        }
        XCTAssertEqual(try Tool.run(["help", "alexnet"]).status, 2)
        let empty = try Tool.run(["predict", emotion, "--input", "image=", "--output", folder.path])
        XCTAssertEqual(empty.status, 2)
        XCTAssertTrue(empty.errors.contains("'image' is empty"), empty.errors)
    }

    func testDevicesAreNoInputs() throws {
        try assertFails(["classify", emotion, "/dev/zero", "--backend", "cpu"], mentions: "device")
        try assertFails(["predict", emotion, "--input", "image=/dev/zero", "--output", folder.path], mentions: "device")
        try assertFails(["predict", emotion, "--input", "image=\(folder.path)", "--output", folder.path], mentions: "folder")
    }

    func testFoldersThatCannotBeWrittenAreNamed() throws {
        let tensor = folder.appendingPathComponent("face.npy")
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 64, 64), }\n"
        var file = Data([0x93]) + Data("NUMPY".utf8) + Data([1, 0, UInt8(header.utf8.count), 0]) + Data(header.utf8)
        file += Data(count: 4 * 64 * 64)
        try file.write(to: tensor)
        let input = ["predict", emotion, "--input", "image=\(tensor.path)", "--backend", "cpu", "--output"]
        try assertFails(input + ["\(tensor.path)/below"], mentions: "cannot be written")
        try assertFails(input + [tensor.path], mentions: "cannot be written")
        XCTAssertEqual(try Tool.run(input + [""]).status, 2)
        XCTAssertEqual(try Tool.run(input + [folder.path]).status, 0)
    }

    func testAConfidenceThatIsNoNumberIsAnErrorOfItsImage() throws {
        let broken = folder.appendingPathComponent("nan.mlmodel")
        try BrokenModel.withoutNumbers(emotion).write(to: broken)
        try assertFails(["classify", broken.path, face, "--backend", "cpu"], mentions: "face.png")
        let result = try Tool.run(["classify", broken.path, face, face, "--json", "--backend", "cpu"])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(try result.objects().compactMap { $0["error"] as? String }.count, 2)
    }
}
