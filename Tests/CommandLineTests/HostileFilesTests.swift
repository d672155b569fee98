import Foundation
import NTTensor
import TestSupport
import XCTest

/// Pipes, devices, folders, links and names where plain files are expected, and programs that are interrupted.
final class HostileFilesTests: FolderTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private let face = Fixtures.models.appendingPathComponent("photos/face.png").path

    private func classified(_ words: [String], environment: [String: String] = [:], line: UInt = #line) throws {
        let result = try Tool.run(["classify"] + words + ["--top", "1"], environment: environment)
        XCTAssertEqual(result.status, 0, result.errors, line: line)
        XCTAssertTrue(result.output.contains("Happy"), result.output + result.errors, line: line)
    }

    /// Entries of the cache that are pipes, folders, devices or enormous are passed over, and replaced where they can be.
    func testCacheEntriesThatAreNoFiles() throws {
        // Kernel by kernel there are several programs, and entries.
        let cache = ["NEEDLETAIL_CACHE": folder.path, "NEEDLETAIL_OPENCL": "single=off"]
        let words = [emotion, face, "--backend", "opencl"]
        try classified(words, environment: cache)
        let programs = folder.appendingPathComponent("opencl")
        let entries = try FileManager.default.contentsOfDirectory(atPath: programs.path).filter { $0.hasSuffix(".clbin") }
        XCTAssertGreaterThan(entries.count, 2)
        for (index, entry) in entries.enumerated() {
            let path = programs.appendingPathComponent(entry).path
            XCTAssertEqual(unlink(path), 0)
            switch index % 4 {
            case 0: XCTAssertEqual(mkfifo(path, 0o600), 0)
            case 1: XCTAssertEqual(mkdir(path, 0o700), 0)
            case 2: XCTAssertEqual(symlink("/dev/zero", path), 0)
            default:
                try Data().write(to: URL(fileURLWithPath: path))
                XCTAssertEqual(truncate(path, 1 << 40), 0)
            }
        }
        try classified(words, environment: cache)
        let bench = ["bench", emotion, "--backend", "opencl", "--seconds", "0.01", "--json"]
        let counts = try XCTUnwrap(try XCTUnwrap(try Tool.run(bench, environment: cache).objects().first)["programs"] as? [String: Int])
        XCTAssertEqual(counts["built"], 0, "what was in the way is replaced")
        // Tuned tiles and peaks.
        let tuned = try Tool.run(["tune", emotion, "--seconds", "0", "--json"], environment: cache)
        let table = try XCTUnwrap(try XCTUnwrap(tuned.objects().first)["file"] as? String)
        XCTAssertEqual(unlink(table), 0)
        XCTAssertEqual(mkfifo(table, 0o600), 0)
        try classified(words, environment: cache)
        XCTAssertEqual(try Tool.run(bench + ["--profile"], environment: cache).status, 0)
        let peaks = folder.appendingPathComponent("peaks")
        for name in try FileManager.default.contentsOfDirectory(atPath: peaks.path) {
            let path = peaks.appendingPathComponent(name).path
            XCTAssertEqual(unlink(path), 0)
            XCTAssertEqual(mkfifo(path, 0o600), 0)
        }
        XCTAssertEqual(try Tool.run(bench + ["--profile"], environment: cache).status, 0)
    }

    /// A compiled form that is a pipe or folder is left aside; a model that is one is an error.
    func testModelsThatAreNoFiles() throws {
        let compiled = folder.appendingPathComponent("E.mlmodelc").path
        XCTAssertEqual(try Tool.run(["compile", emotion, "-o", compiled]).status, 0)
        for make in [{ mkfifo($0, 0o600) }, { mkdir($0, 0o700) }, { symlink("/dev/zero", $0) }] as [(String) -> Int32] {
            try FileManager.default.removeItem(atPath: compiled + "/compiled.bin")
            XCTAssertEqual(make(compiled + "/compiled.bin"), 0)
            try classified([compiled, face, "--backend", "cpu"])
            XCTAssertTrue(try Tool.run(["describe", compiled]).output.contains("the compiled form is not used"))
        }
        try FileManager.default.removeItem(atPath: compiled + "/model.mlmodel")
        for (make, reason) in [({ mkfifo($0, 0o600) }, "pipe"), ({ symlink("/dev/zero", $0) }, "device")] as [((String) -> Int32, String)] {
            for path in [compiled + "/model.mlmodel", folder.path + "/plain-\(reason).mlmodel"] {
                XCTAssertEqual(make(path), 0)
                let result = try Tool.run(["describe", path.hasPrefix(compiled) ? compiled : path])
                XCTAssertEqual(result.status, 1)
                XCTAssertTrue(result.errors.contains(reason), result.errors)
            }
            XCTAssertEqual(unlink(compiled + "/model.mlmodel"), 0)
        }
    }

    /// Pictures and tensors may come through pipes, whenever their writers come.
    func testPicturesAndTensorsThroughPipes() throws {
        let (picture, tensor) = (folder.path + "/picture", folder.path + "/tensor")
        let values = try NPY.encode(Tensor([1, 1, 64, 64], [Float](repeating: 7, count: 4096)))
        for (path, data) in [(picture, try Data(contentsOf: URL(fileURLWithPath: face))), (tensor, values)] {
            XCTAssertEqual(mkfifo(path, 0o600), 0)
            DispatchQueue.global().async {
                usleep(200_000)
                let writer = FileHandle(forWritingAtPath: path)
                try? writer?.write(contentsOf: data.prefix(100))
                usleep(100_000)
                try? writer?.write(contentsOf: data.dropFirst(100))
                try? writer?.close()
            }
        }
        try classified([emotion, picture, "--backend", "cpu"])
        let result = try Tool.run(["predict", emotion, "--input", "image=\(tensor)", "--output", folder.path + "/out", "--backend", "cpu"])
        XCTAssertEqual(result.status, 0, result.errors)
    }

    /// Half a compilation goes with an interrupted program; what a killed one has left goes with the next to the same place.
    func testInterruptedCompilationsLeaveNothing() throws {
        let target = folder.appendingPathComponent("M.mlmodelc")
        let mobileNet = Fixtures.models.appendingPathComponent("MobileNet.mlmodel").path
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
        for number in [SIGINT, SIGTERM, SIGKILL] {
            var wasInterrupted = false
            // A compilation takes some milliseconds; most signals come in time.
            for _ in 0..<200 where !wasInterrupted {
                let process = Process()
                process.executableURL = Tool.executable
                process.arguments = ["compile", mobileNet, "-o", target.path]
                process.standardOutput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try process.run()
                while process.isRunning, try names().isEmpty {}
                kill(process.processIdentifier, number)
                process.waitUntilExit()
                wasInterrupted = process.terminationReason == .uncaughtSignal && process.terminationStatus == number
                if number != SIGKILL { XCTAssertEqual(try names().filter { $0 != "M.mlmodelc" }, [], "signal \(number)") }
                if number != SIGKILL || !wasInterrupted { try? FileManager.default.removeItem(at: target) }
            }
            XCTAssertTrue(wasInterrupted, "signal \(number)")
        }
        XCTAssertTrue(try names().contains { $0.hasPrefix(".M.mlmodelc.") }, "a killed program cleans nothing up")
        // Another name's is left alone, as is one whose process lives.
        let other = folder.appendingPathComponent(".N.mlmodelc.x.part").path
        let held = folder.appendingPathComponent(".M.mlmodelc.x.part").path
        for path in [other, held] { XCTAssertEqual(mkdir(path, 0o700), 0) }
        let lock = open(held, O_RDONLY | O_DIRECTORY)
        XCTAssertEqual(flock(lock, LOCK_EX), 0)
        XCTAssertEqual(try Tool.run(["compile", emotion, "-o", target.path]).status, 0)
        XCTAssertEqual(try names().sorted(), [".M.mlmodelc.x.part", ".N.mlmodelc.x.part", "M.mlmodelc"])
        close(lock)
        XCTAssertEqual(try Tool.run(["compile", emotion, "-o", target.path]).status, 0)
        XCTAssertEqual(try names().sorted(), [".N.mlmodelc.x.part", "M.mlmodelc"])
    }

    /// A link as output stays and is followed, one to nowhere too.
    func testCompilesThroughLinks() throws {
        let (link, place) = (folder.path + "/link.mlmodelc", folder.path + "/models/v1.mlmodelc")
        XCTAssertEqual(mkdir(folder.path + "/models", 0o700), 0)
        XCTAssertEqual(symlink("models/v1.mlmodelc", link), 0)
        for _ in 0..<2 {
            let result = try Tool.run(["compile", emotion, "-o", link])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(try FileManager.default.destinationOfSymbolicLink(atPath: link), "models/v1.mlmodelc")
            XCTAssertTrue(FileManager.default.fileExists(atPath: place + "/compiled.bin"))
        }
        try classified([link, face, "--backend", "cpu"])
        let file = folder.appendingPathComponent("keep.txt")
        try Data("keep".utf8).write(to: file)
        XCTAssertEqual(symlink("keep.txt", folder.path + "/file.mlmodelc"), 0)
        let refused = try Tool.run(["compile", emotion, "-o", folder.path + "/file.mlmodelc"])
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("in the way"), refused.errors)
        XCTAssertEqual(try Data(contentsOf: file), Data("keep".utf8))
    }

    /// Outputs of `predict` that are links are followed.
    func testPredictsThroughLinks() throws {
        let tensor = folder.appendingPathComponent("in.npy")
        try NPY.encode(Tensor([1, 1, 64, 64], [Float](repeating: 7, count: 4096))).write(to: tensor)
        let out = folder.appendingPathComponent("out").path
        XCTAssertEqual(mkdir(out, 0o700), 0)
        XCTAssertEqual(symlink("../kept.json", out + "/classLabel.json"), 0)
        let words = ["predict", emotion, "--input", "image=\(tensor.path)", "--output", out, "--backend", "cpu"]
        XCTAssertEqual(try Tool.run(words).status, 0)
        XCTAssertTrue(FileManager.default.fileExists(atPath: folder.path + "/kept.json"))
        XCTAssertEqual(unlink(out + "/classLabel.json"), 0)
        XCTAssertEqual(mkfifo(out + "/classLabel.json", 0o600), 0)
        let refused = try Tool.run(words)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.errors.contains("classLabel.json"), refused.errors)
    }

    /// Packed weights that are damaged are told of.
    func testDescribeTellsOfDamagedWeights() throws {
        let compiled = folder.appendingPathComponent("E.mlmodelc").path
        XCTAssertEqual(try Tool.run(["compile", emotion, "-o", compiled]).status, 0)
        XCTAssertFalse(try Tool.run(["describe", compiled]).output.contains("damaged"))
        let url = URL(fileURLWithPath: compiled + "/compiled.bin")
        var data = try Data(contentsOf: url)
        for offset in stride(from: data.count / 4, to: data.count / 2, by: 997) { data[offset] ^= 0x55 }
        try data.write(to: url)
        for words in [[], ["--json"]] {
            let output = try Tool.run(["describe", compiled] + words).output
            XCTAssertTrue(output.contains("packed weights are damaged"), output)
        }
        try classified([compiled, face, "--backend", "cpu"])
    }

    /// Names of files that are no UTF-8: a model, a picture, a tensor, the folders for outputs.
    func testNamesThatAreNoText() throws {
        let name = folder.path + "/caf\\351"
        let script = """
            set -e
            name=$(printf '\(name)')
            cp \(emotion) "$name.mlmodel"; cp \(face) "$name.png"
            \(Tool.executable.path) classify "$name.mlmodel" "$name.png" --backend cpu --top 1
            \(Tool.executable.path) classify "$name.mlmodel" "$name.png" --backend cpu --top 1 --json
            \(Tool.executable.path) compile "$name.mlmodel" -o "$name.mlmodelc"
            \(Tool.executable.path) predict "$name.mlmodelc" --input "image=\(folder.path)/in.npy" --output "$name.d" --backend cpu
            test -f "$name.d/classLabel.json"
            ! \(Tool.executable.path) describe "$name.none"
            """
        try NPY.encode(Tensor([1, 1, 64, 64], [Float](repeating: 7, count: 4096))).write(to: folder.appendingPathComponent("in.npy"))
        let result = try Tool.run(["-c", script], program: URL(fileURLWithPath: "/bin/sh"))
        XCTAssertEqual(result.status, 0, result.output + result.errors)
        XCTAssertTrue(result.output.contains(#"/caf\xE9.png  ("#), result.output)
        XCTAssertTrue(result.output.contains(#"/caf\\xE9.png""#), result.output)
        XCTAssertTrue(result.output.contains("Happy"), result.output)
        XCTAssertTrue(result.errors.contains(#"caf\xE9.none: no such file"#), result.errors)
    }
}
