import Foundation
import NTTensor
import TestSupport
import XCTest

/// The program's verbs, flags, outputs and exit statuses.
final class CommandLineTests: FolderTestCase {
    private let mobileNet = Fixtures.models.appendingPathComponent("MobileNet.mlmodel").path
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private let photos = Fixtures.models.appendingPathComponent("photos").path

    /// One line on standard error, an exit status from 1 to 125, no signal.
    private func assertFails(
        _ arguments: [String], status: Int32, mentions text: String, environment: [String: String] = [:],
        line: UInt = #line
    ) throws {
        let result = try Tool.run(arguments, environment: environment)
        XCTAssertFalse(result.wasKilled, "\(arguments) died of a signal", line: line)
        XCTAssertEqual(result.status, status, "\(arguments): \(result.errors)", line: line)
        XCTAssertTrue(result.errors.contains(text), "\(arguments): '\(result.errors)' lacks '\(text)'", line: line)
        XCTAssertEqual(result.errors.split(separator: "\n").count, 1, "\(arguments): \(result.errors)", line: line)
    }

    func testClassifiesEveryPhotoOnEveryBackend() throws {
        let expected = ["coffee.jpg": ("espresso", 0.8610), "cat.png": ("tabby, tabby cat", 0.4200), "astronaut.jpg": ("barbell", 0.3183)]
        for backend in ["cpu", "opencl", "reference", "auto"] {
            let paths = expected.keys.sorted().map { "\(photos)/\($0)" }
            let result = try Tool.run(["classify", mobileNet] + paths + ["--json", "--top", "2", "--backend", backend])
            XCTAssertEqual(result.status, 0, result.errors)
            let objects = try result.objects()
            XCTAssertEqual(objects.count, 3)
            for (object, path) in zip(objects, paths) {
                XCTAssertEqual(object["image"] as? String, path)
                let predictions = try XCTUnwrap(object["predictions"] as? [[String: Any]])
                XCTAssertEqual(predictions.count, 2)
                let (label, confidence) = try XCTUnwrap(expected[(path as NSString).lastPathComponent])
                XCTAssertEqual(predictions[0]["label"] as? String, label, backend)
                // A pixel that another decoder rounds differently moves these confidences by up to 0.02.
                XCTAssertEqual(try XCTUnwrap(predictions[0]["confidence"] as? Double), confidence, accuracy: 0.02, backend)
            }
        }
    }

    func testABadImageDoesNotStopTheOthers() throws {
        let broken = folder.appendingPathComponent("broken.jpg")
        try Data([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]).write(to: broken)
        let result = try Tool.run(
            ["classify", emotion, broken.path, "\(photos)/none.png", "\(photos)/face.png", "--json", "--backend", "cpu"])
        XCTAssertEqual(result.status, 1)
        let objects = try result.objects()
        XCTAssertEqual(objects.count, 3)
        XCTAssertNotNil(objects[0]["error"] as? String)
        XCTAssertTrue((objects[1]["error"] as? String ?? "").contains("no such file"))
        let predictions = try XCTUnwrap(objects[2]["predictions"] as? [[String: Any]])
        XCTAssertEqual(predictions.first?["label"] as? String, "Happy")
        XCTAssertEqual(predictions.count, 5)
    }

    func testPredictsGoldenTensorsOnEveryBackend() throws {
        let goldens = Fixtures.folder.appendingPathComponent("Models")
        for (model, path, photo, count) in [("MobileNet", mobileNet, "cat", 1000), ("Emotion", emotion, "face", 7)] {
            let input = goldens.appendingPathComponent("\(model)-\(photo)-input.npy")
            let expected = try NPY.read(contentsOf: goldens.appendingPathComponent("\(model)-\(photo)-probabilities.npy")).floatArray()
            XCTAssertEqual(expected.count, count)
            for backend in ["cpu", "opencl", "reference"] {
                let target = folder.appendingPathComponent("\(model)-\(backend)")
                let result = try Tool.run(
                    ["predict", path, "--input", "image=\(input.path)", "--output", target.path, "--backend", backend])
                XCTAssertEqual(result.status, 0, result.errors)
                let json = try Data(contentsOf: target.appendingPathComponent("classLabelProbs.json"))
                let found = try XCTUnwrap(try JSONSerialization.jsonObject(with: json) as? [String: Double])
                let largest = try XCTUnwrap(expected.max())
                XCTAssertEqual(try XCTUnwrap(found.values.max()), Double(largest), accuracy: 1e-4 * Double(largest), backend)
                // "crane" stands twice among the thousand labels.
                XCTAssertEqual(found.count, count == 1000 ? 999 : 7)
                let label = try Data(contentsOf: target.appendingPathComponent("classLabel.json"))
                let text = try XCTUnwrap(try JSONSerialization.jsonObject(with: label, options: .fragmentsAllowed) as? String)
                XCTAssertEqual(found[text], found.values.max())
            }
        }
    }

    func testDescribes() throws {
        let object = try XCTUnwrap(try Tool.run(["describe", emotion, "--json"]).objects().first)
        XCTAssertEqual(object["type"] as? String, "neuralNetworkClassifier")
        XCTAssertEqual(object["predictedFeatureName"] as? String, "classLabel")
        XCTAssertEqual((object["classLabels"] as? [String])?.count, 7)
        let input = try XCTUnwrap((object["inputs"] as? [[String: Any]])?.first)
        XCTAssertEqual(input["width"] as? Int, 64)
        XCTAssertEqual(input["colorSpace"] as? String, "grayscale")
        XCTAssertFalse((object["preprocessing"] as? [String] ?? []).isEmpty)
        let text = try Tool.run(["describe", mobileNet, "--backend", "cpu"])
        XCTAssertEqual(text.status, 0, text.errors)
        XCTAssertTrue(text.output.contains("image: image 224 x 224 rgb"), text.output)
        XCTAssertTrue(text.output.contains("plan on cpu"), text.output)
        let device = try XCTUnwrap(try Tool.run(["describe", emotion, "--backend", "opencl", "--json"]).objects().first)
        XCTAssertFalse(try XCTUnwrap(device["device"] as? String).isEmpty)
        for step in try XCTUnwrap(device["plan"] as? [[String: Any]]) {
            XCTAssertEqual(step["backend"] as? String, "opencl")
            XCTAssertFalse(try XCTUnwrap(step["reason"] as? String).isEmpty, "\(step)")
        }
    }

    /// A layer that the backend refuses says so where it stands in the plan; a profile measures it without a peak.
    func testRefusedLayersSayWhy() throws {
        let model = Fixtures.folder.appendingPathComponent("NTFormats/if_runtime_weights.mlmodel").path
        for (backend, reason) in [("opencl", "its weights are computed at run time"), ("cpu", "weights that are computed")] {
            let object = try XCTUnwrap(try Tool.run(["describe", model, "--backend", backend, "--json"]).objects().first)
            let refused = try XCTUnwrap(object["plan"] as? [[String: Any]]).filter { $0["backend"] as? String == "reference" }
            XCTAssertEqual(refused.count, 1)
            XCTAssertEqual(refused.first?["reason"] as? String, "no \(backend) kernel: \(reason)")
            XCTAssertEqual(object["fallbacks"] as? [String], ["convolution (Convolution): \(reason)"])
            let text = try Tool.run(["describe", model, "--backend", backend])
            XCTAssertTrue(text.output.contains("fallback: convolution (Convolution): \(reason)"), text.output)
            let words = ["bench", model, "--backend", backend, "--seconds", "0.05", "--profile", "--json"]
            let profile = try XCTUnwrap(try XCTUnwrap(try Tool.run(words).objects().first)["profile"] as? [[String: Any]])
            let row = try XCTUnwrap(profile.first { $0["backend"] as? String == "reference" })
            XCTAssertEqual(row["layers"] as? [String], ["convolution"])
            XCTAssertGreaterThan(try XCTUnwrap(row["milliseconds"] as? Double), 0)
            XCTAssertNil(row["percentOfPeak"])
        }
    }

    func testListsDevices() throws {
        let object = try XCTUnwrap(try Tool.run(["devices", "--json"]).objects().first)
        XCTAssertGreaterThanOrEqual((object["cpu"] as? [String: Any])?["cores"] as? Int ?? 0, 1)
        let devices = try XCTUnwrap(object["opencl"] as? [[String: Any]])
        XCTAssertTrue(devices.allSatisfy { $0["halfPrecision"] is Bool })
        XCTAssertFalse(devices.isEmpty, "no OpenCL device: PoCL is missing")
    }

    func testWithoutAnyOpenCLPlatform() throws {
        let environment = ["OCL_ICD_VENDORS": folder.path]
        let list = try XCTUnwrap(try Tool.run(["devices", "--json"], environment: environment).objects().first)
        XCTAssertEqual((list["opencl"] as? [Any])?.count, 0)
        XCTAssertNotNil(list["openclReason"] as? String)
        let image = "\(photos)/face.png"
        try assertFails(
            ["classify", emotion, image, "--backend", "opencl"], status: 1, mentions: "opencl", environment: environment)
        let auto = try Tool.run(["classify", emotion, image, "--backend", "auto"], environment: environment)
        XCTAssertEqual(auto.status, 0, auto.errors)
        XCTAssertTrue(auto.output.hasPrefix("# cpu"), auto.output)
    }

    func testBenchmarksAndAnswersRounds() throws {
        let object = try XCTUnwrap(
            try Tool.run(["bench", emotion, "--backend", "cpu", "--threads", "1", "--seconds", "0.2", "--profile", "--json"]).objects().first)
        XCTAssertGreaterThan(try XCTUnwrap(object["p50"] as? Double), 0)
        XCTAssertFalse(try XCTUnwrap(object["profile"] as? [Any]).isEmpty)
        XCTAssertNil(object["programs"])
        XCTAssertNil(object["betweenKernelsMilliseconds"])
        let rounds = try Tool.run(["bench", emotion, "--backend", "cpu", "--rounds-from-stdin"], input: "0.05\n0.05\n")
        XCTAssertEqual(rounds.status, 0, rounds.errors)
        let lines = rounds.output.split(separator: "\n")
        XCTAssertEqual(lines.first, "ready")
        XCTAssertEqual(lines.count, 3)
        for line in lines.dropFirst() {
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            XCTAssertEqual(numbers.count, 3)
            XCTAssertGreaterThanOrEqual(numbers[0], numbers[1])
        }
    }

    /// Each step's share of the peak, the time between kernels, and the slowest steps, on a processor and on an OpenCL device.
    func testProfilesAgainstThePeak() throws {
        let cache = ["NEEDLETAIL_CACHE": folder.path]
        for (backend, extra) in [("cpu", []), ("opencl", ["betweenKernelsMilliseconds", "programs"])] {
            let words = ["bench", emotion, "--backend", backend, "--seconds", "0.2", "--profile"]
            let object = try XCTUnwrap(try Tool.run(words + ["--json"], environment: cache).objects().first)
            let peaks = try XCTUnwrap(object["peaks"] as? [String: Any])
            XCTAssertGreaterThan(try XCTUnwrap(peaks["gigaflopsPerSecond"] as? Double), 0.1)
            let rows = try XCTUnwrap(object["profile"] as? [[String: Any]])
            let timed = rows.filter { ($0["milliseconds"] as? Double ?? 0) > 0 }
            XCTAssertFalse(timed.isEmpty)
            for row in timed {
                let percent = try XCTUnwrap(row["percentOfPeak"] as? Double, "\(row)")
                XCTAssertTrue(percent >= 0 && percent < 1000, "\(row)")
                XCTAssertTrue(["arithmetic", "memory"].contains(row["nearestPeak"] as? String))
            }
            let slowest = try XCTUnwrap(object["slowestSteps"] as? [Int]).map { rows[$0]["milliseconds"] as? Double ?? 0 }
            XCTAssertEqual(slowest.count, min(10, timed.count))
            XCTAssertEqual(slowest, slowest.sorted(by: >))
            for key in extra { XCTAssertNotNil(object[key], "\(backend): \(key)") }
            let text = try Tool.run(words, environment: cache)
            XCTAssertTrue(text.output.contains("slowest steps"), text.output)
            XCTAssertTrue(text.output.contains("of the arithmetic peak"), text.output)
            XCTAssertEqual(text.output.contains("lost between kernels"), backend == "opencl", text.output)
        }
    }

    /// Each step is held to the peak of its own arithmetic and to what its method really multiplies, so that no share is above the whole, and
    /// to a copy of as many bytes where that is slower.
    func testSharesOfThePeakAreTrue() throws {
        for (backend, precision) in [("cpu", "float32"), ("cpu", "float32-winograd"), ("cpu", "bfloat16"), ("opencl", "float32")] {
            let words = ["bench", mobileNet, "--backend", backend, "--precision", precision, "--seconds", "0.4", "--profile", "--json"]
            let object = try XCTUnwrap(try Tool.run(words, environment: ["NEEDLETAIL_CACHE": folder.path]).objects().first)
            let peaks = try XCTUnwrap(object["peaks"] as? [String: Any])
            let rows = try XCTUnwrap(object["profile"] as? [[String: Any]])
            let hasBFloat16 = rows.contains { $0["arithmetic"] as? String == "bfloat16" }
            XCTAssertEqual(peaks["bfloat16GigaflopsPerSecond"] != nil, hasBFloat16)
            if precision != "bfloat16" { XCTAssertFalse(hasBFloat16) }
            for row in rows {
                // The slack is for clocks that change between one measurement and the other, and on OpenCL for neighbours that take a core while the peak
                // of all cores is measured.
                XCTAssertLessThan(row["percentOfArithmeticPeak"] as? Double ?? 0, backend == "cpu" ? 115 : 300, "\(precision): \(row)")
                XCTAssertLessThanOrEqual(try XCTUnwrap(row["performedFlops"] as? Int), try XCTUnwrap(row["flops"] as? Int))
                XCTAssertLessThanOrEqual(row["percentOfMemoryPeak"] as? Double ?? 0, 100)
            }
            // Where steps have different peaks, each is named.
            let text = try Tool.run(words.dropLast(), environment: ["NEEDLETAIL_CACHE": folder.path]).output
            XCTAssertEqual(text.contains("of the arithmetic peak"), !hasBFloat16, text)
            XCTAssertEqual(text.contains("of the bfloat16 peak"), hasBFloat16, text)
            let copies = peaks["copies"] as? [[String: Any]] ?? []
            XCTAssertEqual(copies.isEmpty, backend == "cpu")
            XCTAssertEqual(rows.contains { $0["percentOfMemoryPeak"] != nil }, backend == "opencl")
            XCTAssertEqual(copies.last?["gigabytesPerSecond"] as? Double, peaks["gigabytesPerSecond"] as? Double)
        }
    }

    /// The first run on a device builds its programs, the next one finds them.
    func testBenchCountsPrograms() throws {
        let cache = ["NEEDLETAIL_CACHE": folder.path]
        let words = ["bench", emotion, "--backend", "opencl", "--seconds", "0.1", "--json"]
        let counts = try (0..<2).map { _ in
            try XCTUnwrap(try XCTUnwrap(try Tool.run(words, environment: cache).objects().first)["programs"] as? [String: Int])
        }
        XCTAssertGreaterThan(try XCTUnwrap(counts[0]["built"]), 0)
        XCTAssertEqual(counts[0]["cached"], 0)
        XCTAssertEqual(counts[1]["built"], 0)
        XCTAssertEqual(counts[1]["cached"], counts[0]["built"])
    }

    func testBatchesGiveAsManyImages() throws {
        let object = try XCTUnwrap(
            try Tool.run(["bench", emotion, "--backend", "cpu", "--batch", "3", "--seconds", "0.1", "--json"]).objects().first)
        XCTAssertEqual(object["batch"] as? Int, 3)
    }

    /// What was verified is told for batches, frames and files too.
    func testVerifiedMeasurementsSaySo() throws {
        for what in [["--batch", "2"], ["--frame", "64x48"], ["--image", "\(photos)/face.png"]] {
            let words = ["bench", emotion, "--backend", "cpu", "--verify", "--seconds", "0.05"] + what
            XCTAssertTrue(try Tool.run(words).output.contains("# verified"), "\(what)")
            XCTAssertNotNil(try XCTUnwrap(try Tool.run(words + ["--json"]).objects().first)["verification"], "\(what)")
        }
    }

    /// Half precision is an error where there is none, but on the CPU, where bfloat16, float16 and `fast` take what there is, and say so.
    func testPrecisionIsNeverIgnored() throws {
        let image = "\(photos)/face.png"
        for (backend, precision) in [("reference", "bfloat16"), ("reference", "float16"), ("opencl", "bfloat16")] {
            try assertFails(
                ["classify", emotion, image, "--backend", backend, "--precision", precision], status: 1,
                mentions: precision)
        }
        for ceiling in ["portable", "avx2", "avx512", "amx"] {
            let result = try Tool.run(
                ["bench", emotion, "--backend", "cpu", "--precision", "bfloat16", "--seconds", "0.05"],
                environment: ["NEEDLETAIL_MAX_ISA": ceiling])
            XCTAssertEqual(result.status, 0, result.errors)
            if ceiling != "amx" { XCTAssertTrue(result.output.contains("computed in float32"), result.output) }
            let half = try Tool.run(
                ["describe", emotion, "--precision", "float16", "--backend", "cpu"], environment: ["NEEDLETAIL_MAX_ISA": ceiling])
            XCTAssertEqual(half.status, 0, half.errors)
            XCTAssertNotEqual(
                half.output.contains("computed in float32, for AVX512-FP16 is absent"), half.output.contains("avx512fp16 "), half.output)
            let fast = try Tool.run(
                ["bench", emotion, "--backend", "cpu", "--precision", "fast", "--seconds", "0.05"],
                environment: ["NEEDLETAIL_MAX_ISA": ceiling])
            XCTAssertTrue(fast.output.contains(ceiling == "amx" ? "fast is" : "fast is float32-winograd"), fast.output)
        }
        for backend in ["cpu", "opencl", "reference", "auto"] {
            let result = try Tool.run(["classify", emotion, image, "--backend", backend, "--precision", "fast", "--top", "1"])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.output.contains("Happy"))
        }
    }

    /// A network of one ReLU has nothing to measure, and nothing is said to be written.
    func testTuningAModelWithoutConvolutions() throws {
        func field(_ number: Int, _ content: [UInt8]) -> [UInt8] {
            // The tag, of two bytes for numbers from 16 on, and the length.
            let tag = number << 3 | 2
            return (tag < 128 ? [UInt8(tag)] : [UInt8(tag & 127 | 128), UInt8(tag >> 7)]) + [UInt8(content.count)] + content
        }
        func array(_ name: String) -> [UInt8] {
            // Four values of float32, which is 65568.
            field(1, Array(name.utf8)) + field(3, field(5, field(1, [4]) + [0x10, 0xa0, 0x80, 0x04]))
        }
        let layer = field(1, Array("relu".utf8)) + field(2, Array("x".utf8)) + field(3, Array("y".utf8)) + field(130, field(10, []))
        let model = [0x08, 0x01] + field(2, field(1, array("x")) + field(10, array("y"))) + field(500, field(1, layer))
        let path = folder.appendingPathComponent("relu.mlmodel").path
        try Data(model).write(to: URL(fileURLWithPath: path))
        let result = try Tool.run(["tune", path], environment: ["NEEDLETAIL_CACHE": folder.path])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.output, "nothing to tune: the model has no convolution or dense layer on the device\n")
    }

    func testTunesADeviceAndUsesTheTable() throws {
        let cache = ["NEEDLETAIL_CACHE": folder.path]
        let result = try Tool.run(["tune", emotion], environment: cache)
        XCTAssertEqual(result.status, 0, result.errors)
        let file = try XCTUnwrap(result.output.split(separator: "\n").last?.dropFirst("written to ".count))
        XCTAssertTrue(FileManager.default.fileExists(atPath: String(file)), result.output)
        let after = try Tool.run(["classify", emotion, "\(photos)/face.png", "--backend", "opencl", "--top", "1"], environment: cache)
        XCTAssertTrue(after.output.contains("Happy"), after.errors)
        let short = try XCTUnwrap(try Tool.run(["tune", emotion, "--batch", "2", "--seconds", "0", "--json"], environment: cache).objects().first)
        XCTAssertEqual((short["findings"] as? [Any])?.count, 0)
        XCTAssertGreaterThan(try XCTUnwrap(short["shapes"] as? Int), 5)
        let none = try Tool.run(["tune", emotion, "--seconds", "0"], environment: cache)
        XCTAssertTrue(none.output.contains("0 of \(short["shapes"] as? Int ?? -1) shapes were measured"), none.output)
        XCTAssertFalse(none.output.contains("written"), none.output)
        let together = Outcomes()
        let fresh = folder.appendingPathComponent("fresh")
        let words = ["classify", emotion, "\(photos)/face.png", "--backend", "opencl"]
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let run = try? Tool.run(
                words,
                environment: ["NEEDLETAIL_CACHE": fresh.path, "POCL_CACHE_DIR": fresh.appendingPathComponent("pocl").path])
            together.add(run?.status ?? -1)
        }
        XCTAssertEqual(together.statuses, [0, 0, 0, 0], "processes that build at once over a cold cache")
        try assertFails(["tune", emotion], status: 1, mentions: "tune", environment: ["NEEDLETAIL_CACHE": "/proc/nope"])
        try assertFails(["tune", emotion], status: 1, mentions: "cache is off", environment: ["NEEDLETAIL_CACHE": "off"])
        try assertFails(["tune", emotion], status: 1, mentions: "opencl", environment: ["OCL_ICD_VENDORS": folder.path])
    }

    func testCompiledModelsPredictTheSame() throws {
        let compiled = folder.appendingPathComponent("Emotion.mlmodelc")
        for _ in 0..<2 {
            let result = try Tool.run(["compile", emotion, "-o", compiled.path])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.output.contains(compiled.path), result.output)
        }
        let words = ["\(photos)/face.png", "--backend", "cpu", "--top", "7"]
        func labels(_ model: String) throws -> [Substring] {
            let result = try Tool.run(["classify", model] + words)
            XCTAssertEqual(result.status, 0, result.errors)
            return result.output.split(separator: "\n").filter { $0.contains("%") }
        }
        XCTAssertEqual(try labels(emotion).count, 7)
        XCTAssertEqual(try labels(compiled.path), try labels(emotion))
        let bench = try XCTUnwrap(
            try Tool.run(["bench", compiled.path, "--backend", "cpu", "--threads", "1", "--seconds", "0.01", "--json"]).objects().first)
        XCTAssertEqual(bench["isCompiled"] as? Bool, true)
        XCTAssertGreaterThan(try XCTUnwrap(bench["loadMilliseconds"] as? Double), 0)
        // A damaged one, and one whose model was changed, says so and predicts from the model inside.
        let (file, inside) = (compiled.appendingPathComponent("compiled.bin"), compiled.appendingPathComponent("model.mlmodel"))
        let (whole, model) = (try Data(contentsOf: file), try Data(contentsOf: inside))
        try (model + Data([0xa2, 0x06, 0])).write(to: inside)
        let tensor = folder.appendingPathComponent("in.npy")
        try NPY.encode(Tensor([1, 1, 64, 64], [Float](repeating: 7, count: 4096))).write(to: tensor)
        for verb in [
            ["classify", compiled.path] + words, ["bench", compiled.path, "--backend", "cpu", "--seconds", "0.01"],
            ["predict", compiled.path, "--backend", "cpu", "--input", "image=\(tensor.path)", "--output", folder.path + "/out"],
        ] {
            let result = try Tool.run(verb)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.errors.contains("compiled.bin: was made from another model"), "\(verb): \(result.errors)")
            XCTAssertEqual(result.errors.split(separator: "\n").count, 1, result.errors)
        }
        try model.write(to: inside)
        XCTAssertEqual(try Tool.run(["classify", compiled.path] + words).errors, "")
        try whole.dropLast(1).write(to: file)
        XCTAssertEqual(try labels(compiled.path), try labels(emotion))
        let described = try Tool.run(["describe", compiled.path])
        XCTAssertTrue(described.output.contains("compiled.bin"), described.output)
        let target = folder.appendingPathComponent("no.mlmodelc").path
        try assertFails(["compile", emotion], status: 2, mentions: "--output")
        try assertFails(["compile", emotion, "-o", folder.path + "/x"], status: 2, mentions: ".mlmodelc")
        try assertFails(["compile", "-o", target], status: 2, mentions: "model")
        try assertFails(["compile", emotion, "-o", target, "--precision", "half"], status: 2, mentions: "--precision")
        try assertFails(["compile", "\(folder.path)/none.mlmodel", "-o", target], status: 1, mentions: "none.mlmodel")
        try assertFails(["compile", emotion, "-o", "/proc/nope/x.mlmodelc"], status: 1, mentions: "x.mlmodelc")
        XCTAssertFalse(FileManager.default.fileExists(atPath: target))
    }

    /// Compilations that race for a new name all succeed; a folder that holds a stranger's file is not replaced.
    func testCompilesIntoAFolderThatOthersWant() throws {
        let target = folder.appendingPathComponent("shared.mlmodelc")
        let (model, together) = (emotion, Outcomes())
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            together.add((try? Tool.run(["compile", model, "-o", target.path + "/"]).status) ?? -1)
        }
        XCTAssertEqual(together.statuses, [0, 0, 0, 0])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        XCTAssertEqual(names.filter { $0.hasSuffix(".mlmodelc") }, ["shared.mlmodelc"])
        let notes = target.appendingPathComponent("notes.txt")
        try Data("keep".utf8).write(to: notes)
        try assertFails(["compile", emotion, "-o", target.path], status: 1, mentions: "notes.txt")
        XCTAssertEqual(try Data(contentsOf: notes), Data("keep".utf8))
    }

    /// Flags that would be passed over are refused by name.
    func testFlagsThatDoNotGoTogether() throws {
        let image = "\(photos)/face.png"
        for backend in ["cpu", "reference"] {
            try assertFails(["classify", emotion, image, "--backend", backend, "--device", "0"], status: 2, mentions: "--device")
            try assertFails(["bench", emotion, "--backend", backend, "--device", "0"], status: 2, mentions: "--device")
            try assertFails(["describe", emotion, "--backend", backend, "--device", "0"], status: 2, mentions: "--device")
        }
        try assertFails(["describe", emotion, "--device", "0"], status: 2, mentions: "--backend")
        try assertFails(["describe", emotion, "--threads", "1"], status: 2, mentions: "--backend")
        try assertFails(["describe", emotion, "--precision", "float16"], status: 2, mentions: "--backend")
        for words in [["--json"], ["--profile"], ["--seconds", "1"]] {
            try assertFails(["bench", emotion, "--backend", "cpu", "--rounds-from-stdin"] + words, status: 2, mentions: words[0])
            try assertFails(["bench", emotion, "--frame", "9x9", "--backend", "cpu", "--rounds-from-stdin"] + words, status: 2, mentions: words[0])
        }
        for backend in ["auto", "opencl"] {
            try assertFails(["classify", emotion, image, "--backend", backend, "--device", "55"], status: 1, mentions: "expected 0 for ")
        }
    }

    /// With `--json` the figure comes last, in an object of its own, for few images and for many.
    func testVerifyTellsPrograms() throws {
        for count in [1, 20] {
            let images = [String](repeating: "\(photos)/face.png", count: count)
            let result = try Tool.run(["classify", emotion] + images + ["--backend", "cpu", "--verify", "--json"])
            XCTAssertEqual(result.status, 0, result.errors)
            let objects = try result.objects()
            XCTAssertEqual(objects.count, count + 1)
            XCTAssertLessThan(try XCTUnwrap(objects.last?["verification"] as? Double), 1e-3)
            XCTAssertEqual(objects.last?["verificationRemarks"] as? [String], [])
        }
    }

    /// Printed times are those without the reference, whose run takes most of the program's.
    func testVerifiedTimesAreThePredictions() throws {
        func run(_ words: [String]) throws -> (result: Tool.Result, milliseconds: Double) {
            let start = ContinuousClock.now
            return (try Tool.run(words + ["--backend", "cpu", "--verify"]), (ContinuousClock.now - start) / .milliseconds(1))
        }
        let photo = "\(photos)/coffee.jpg"
        let (one, all) = try run(["classify", mobileNet, photo])
        let line = try XCTUnwrap(one.output.split(separator: "\n").first { $0.hasSuffix(" ms)") })
        let time = try XCTUnwrap(line.split(separator: "(").last?.split(separator: " ").first)
        XCTAssertLessThan(try XCTUnwrap(Double(time)), all / 2, one.output)
        XCTAssertFalse(try run(["classify", mobileNet] + [String](repeating: photo, count: 9)).result.output.contains(" ms)"))
        let compiled = folder.path + "/M.mlmodelc"
        XCTAssertEqual(try Tool.run(["compile", mobileNet, "-o", compiled]).status, 0)
        for model in [mobileNet, compiled] {
            let (bench, all) = try run(["bench", model, "--seconds", "0.01", "--json"])
            let object = try XCTUnwrap(try bench.objects().first)
            XCTAssertNotNil(object["verification"])
            XCTAssertLessThan(try XCTUnwrap(object["loadAndFirstPredictionMilliseconds"] as? Double), all / 2)
        }
    }

    func testVerifySaysWhatItFound() throws {
        let result = try Tool.run(["classify", emotion, "\(photos)/face.png", "--backend", "cpu", "--verify"])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("# verified"), result.output)
    }

    /// Exit statuses of programs run at once.
    private final class Outcomes: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [Int32] = []
        var statuses: [Int32] { lock.withLock { values } }
        func add(_ status: Int32) { lock.withLock { values.append(status) } }
    }

    func testHelpEverywhere() throws {
        for arguments in [
            ["--help"], ["tune", "--help"], ["compile", "--help"], ["classify", "--help"], ["predict", "--help"], ["describe", "--help"],
            ["devices", "--help"],
            ["bench", "--help"],
        ] {
            let result = try Tool.run(arguments)
            XCTAssertEqual(result.status, 0)
            XCTAssertTrue(result.output.hasPrefix("usage: needletail"), result.output)
        }
    }

    func testWrongCommandLines() throws {
        let image = "\(photos)/face.png"
        try assertFails(["frobnicate"], status: 2, mentions: "frobnicate")
        try assertFails(["classify"], status: 2, mentions: "model")
        try assertFails(["classify", emotion], status: 2, mentions: "image")
        try assertFails(["classify", emotion, ""], status: 2, mentions: "empty")
        try assertFails(["describe", ""], status: 2, mentions: "empty")
        try assertFails(["classify", emotion, image, "--top", "0"], status: 2, mentions: "--top")
        try assertFails(["classify", emotion, image, "--top"], status: 2, mentions: "--top")
        try assertFails(["classify", emotion, image, "--crop", "zoom"], status: 2, mentions: "--crop")
        try assertFails(["classify", emotion, image, "--backend", "cuda"], status: 2, mentions: "--backend")
        try assertFails(["classify", emotion, image, "--nope"], status: 2, mentions: "--nope")
        try assertFails(["predict", emotion, "--input", "image", "--output", folder.path], status: 2, mentions: "--input")
        try assertFails(["bench", emotion, "--seconds", "nan"], status: 2, mentions: "--seconds")
    }

    func testBadModelsAndInputs() throws {
        let image = "\(photos)/face.png"
        try assertFails(["describe", "\(folder.path)/none.mlmodel"], status: 1, mentions: "none.mlmodel")
        try assertFails(["classify", image, image], status: 1, mentions: "face.png")
        let empty = folder.appendingPathComponent("empty.mlmodel")
        try Data().write(to: empty)
        try assertFails(["describe", empty.path], status: 1, mentions: "empty")
        let short = folder.appendingPathComponent("short.mlmodel")
        let whole = try Data(contentsOf: URL(fileURLWithPath: emotion))
        try whole.prefix(whole.count / 2).write(to: short)
        try assertFails(["classify", short.path, image], status: 1, mentions: "short.mlmodel")
        try assertFails(["classify", emotion, image, "--backend", "opencl", "--device", "99"], status: 1, mentions: "99")
        try assertFails(["predict", emotion, "--output", folder.path], status: 1, mentions: "image")
        let wrong = folder.appendingPathComponent("wrong.npy")
        try NPY.encode(Tensor([1, 1, 32, 32], [Float](repeating: 0, count: 1024))).write(to: wrong)
        try assertFails(
            ["predict", emotion, "--input", "image=\(wrong.path)", "--output", folder.path], status: 1, mentions: "image")
        try assertFails(
            ["predict", emotion, "--input", "picture=\(wrong.path)", "--output", folder.path], status: 1, mentions: "picture")
        try assertFails(
            ["predict", emotion, "--input", "image=\(empty.path)", "--output", folder.path], status: 1, mentions: "empty.mlmodel")
    }
}
