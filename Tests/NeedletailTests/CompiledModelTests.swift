import CNTPlatform
import Foundation
import NTFormats
import NTTensor
import Needletail
import TestSupport
import XCTest

/// Compiled models give the bits of the models they were made from, or are left aside for them, whatever is wrong with the file.
final class CompiledModelTests: XCTestCase {
    private let mobileNet = Fixtures.models.appendingPathComponent("MobileNet.mlmodel")
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel")
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("nt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        nt_isa_set_ceiling(~0)
        nt_isa_set_float16_model(false)
        try FileManager.default.removeItem(at: folder)
    }

    private func compile(_ model: URL, as name: String = "x") throws -> (folder: URL, file: URL) {
        let target = folder.appendingPathComponent(name + ".mlmodelc")
        try Model.compile(contentsOf: model, to: target)
        return (target, target.appendingPathComponent(CompiledModel.fileName))
    }

    private func input(_ model: URL) throws -> [String: Needletail.Tensor] {
        let name = model == emotion ? "Emotion-face-input" : "MobileNet-cat-input"
        return ["image": try Needletail.Tensor(npy: Fixtures.folder.appendingPathComponent("Models/\(name).npy"))]
    }

    private func bits(_ session: Session, _ inputs: [String: Needletail.Tensor]) throws -> [UInt32] {
        guard case .probabilities(let list)? = try session.run(inputs)["classLabelProbs"] else { return [] }
        return list.map(\.probability.bitPattern)
    }

    private func cpu(_ threads: Int = 1, verifies: Bool = false) -> SessionConfiguration {
        SessionConfiguration(backend: .cpu, threadCount: threads, verifiesFirstPrediction: verifies)
    }

    /// The bits of a prediction from a model as it is.
    private func expected(_ model: URL) throws -> [UInt32] { try bits(Session(Model(contentsOf: model), configuration: cpu()), input(model)) }

    func testGivesTheSameBits() throws {
        for model in [mobileNet, emotion] {
            let compiled = try compile(model, as: model.deletingPathExtension().lastPathComponent).folder
            let inputs = try input(model)
            XCTAssertGreaterThan(try expected(model).count, 6)
            for threads in [1, 2, 3] {
                let session = try Session(Model(contentsOf: compiled), configuration: cpu(threads))
                XCTAssertTrue(session.usesCompiledForm)
                XCTAssertEqual(try bits(session, inputs), try expected(model))
            }
            let verified = try Session(Model(contentsOf: compiled), configuration: cpu(verifies: true))
            XCTAssertEqual(try bits(verified, inputs), try expected(model))
            XCTAssertTrue(verified.usesCompiledForm)
            XCTAssertLessThan(try XCTUnwrap(verified.verification), 1e-3)
            // Batches, other backends and descriptions start from the model inside.
            let batch = try verified.run(batch: [inputs, inputs, inputs])
            XCTAssertEqual(batch.count, 3)
            let reference = try Session(Model(contentsOf: compiled), configuration: SessionConfiguration(backend: .reference))
            XCTAssertFalse(reference.usesCompiledForm)
            XCTAssertEqual(try Model(contentsOf: compiled).description.classLabels, try Model(contentsOf: model).description.classLabels)
            XCTAssertTrue(try Model(contentsOf: compiled).remarks.contains { $0.hasPrefix("compiled: float32 on") })
        }
    }

    /// The same at another precision, and from weights that were packed for another one.
    func testPrecisions() throws {
        nt_isa_set_float16_model(true)
        for precision in [ComputePrecision.float32, .bfloat16, .float16, .fast] {
            let target = folder.appendingPathComponent("\(precision).mlmodelc")
            try Model.compile(contentsOf: mobileNet, to: target, precision: precision)
            for asked in [ComputePrecision.float32, .bfloat16, .float16] {
                let configuration = SessionConfiguration(backend: .cpu, threadCount: 2, precision: asked)
                let session = try Session(Model(contentsOf: target), configuration: configuration)
                XCTAssertTrue(session.usesCompiledForm)
                let plain = try Session(Model(contentsOf: mobileNet), configuration: configuration)
                XCTAssertEqual(try bits(session, input(mobileNet)), try bits(plain, input(mobileNet)), "\(asked) from \(precision)")
            }
        }
    }

    /// Weights packed for one instruction set do not serve another, which packs its own from the graph beside them.
    func testOtherInstructionSets() throws {
        let compiled = try compile(emotion).folder
        for ceiling in [0, UInt32(NT_ISA_AVX2)] {
            nt_isa_set_ceiling(ceiling)
            let session = try Session(Model(contentsOf: compiled), configuration: cpu())
            XCTAssertEqual(try bits(session, input(emotion)), try expected(emotion), "ceiling \(ceiling)")
        }
    }

    /// Whatever byte is damaged, those between sections too, and wherever the file ends, predictions have the right bits and the damage is told.
    func testDamage() throws {
        let (compiled, file) = try compile(emotion)
        let whole = try Data(contentsOf: file)
        let (inputs, expected) = (try input(emotion), try expected(emotion))
        var random = TestRandom(name: "damage")
        var (used, unused) = (0, 0)
        func check(_ what: String, mustBeUnused: Bool = false) throws {
            let model = try Model(contentsOf: compiled)
            let session = try Session(model, configuration: cpu())
            XCTAssertEqual(try bits(session, inputs), expected, what)
            if session.usesCompiledForm { used += 1 } else { unused += 1 }
            XCTAssertEqual(model.remarks.contains { $0.contains("not used") || $0.contains("damaged") }, what != "whole again", what)
            if mustBeUnused {
                XCTAssertFalse(session.usesCompiledForm, what)
                XCTAssertTrue(model.remarks.contains { $0.contains(CompiledModel.fileName) }, what)
            }
        }
        for count in [0, 1, 127, 128, 129, 4095, 4096, 4097, whole.count / 2, whole.count - 1]
            + (0..<40).map({ _ in random.integer(0...whole.count) })
        where count < whole.count {
            try whole.prefix(count).write(to: file)
            try check("\(count) bytes", mustBeUnused: true)
        }
        try (whole + Data([0])).write(to: file)
        try check("a byte more", mustBeUnused: true)
        // All of the header, some of what fills its page and of what fills others, of the index at the end, places in between.
        let header = Array(0..<128) + Array(stride(from: 128, to: 4096, by: 63))
        let gaps = stride(from: 4159, to: whole.count, by: 64).filter { whole[($0 - 15)...$0].allSatisfy { $0 == 0 } }
        XCTAssertGreaterThan(gaps.count, 10)
        let places = header + gaps.prefix(100) + (0..<60).map { _ in random.integer((whole.count - 12_000)...(whole.count - 1)) }
        for (round, place) in (places + (0..<150).map { _ in random.integer(4096...(whole.count - 1)) }).enumerated() {
            var damaged = whole
            damaged[place] ^= UInt8(1 << random.integer(0...7))
            try damaged.write(to: file)
            try check("byte \(place)", mustBeUnused: round < header.count)
        }
        XCTAssertGreaterThan(used, 20)
        XCTAssertGreaterThan(unused, 180)
        try whole.write(to: file)
        let before = used
        try check("whole again")
        XCTAssertEqual(used, before + 1)
    }

    /// Noise, text, another file or nothing at all in place of the compiled form.
    func testOtherFilesInItsPlace() throws {
        let (compiled, file) = try compile(emotion)
        let expected = try expected(emotion)
        let contents = [
            Data(), Data("hello".utf8), Data(repeating: 0, count: 10_000), Data(repeating: 0xff, count: 5000), try Data(contentsOf: emotion),
        ]
        for content in contents {
            try content.write(to: file)
            let session = try Session(Model(contentsOf: compiled), configuration: cpu())
            XCTAssertFalse(session.usesCompiledForm)
            XCTAssertEqual(try bits(session, input(emotion)), expected)
        }
        try FileManager.default.removeItem(at: file)
        XCTAssertFalse(try Session(Model(contentsOf: compiled), configuration: cpu()).usesCompiledForm)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        XCTAssertFalse(try Session(Model(contentsOf: compiled), configuration: cpu()).usesCompiledForm)
        // The compiled form of another model.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.copyItem(at: try compile(mobileNet, as: "other").file, to: file)
        let session = try Session(Model(contentsOf: compiled), configuration: cpu())
        XCTAssertFalse(session.usesCompiledForm)
        XCTAssertEqual(try bits(session, input(emotion)), expected)
        XCTAssertTrue(session.model.remarks.contains { $0.contains("another model") })
    }

    /// A model that was changed after compiling is not run as it was; a folder that was merely copied is.
    func testStaleAndCopied() throws {
        let (compiled, _) = try compile(emotion)
        let copy = folder.appendingPathComponent("copy.mlmodelc")
        try FileManager.default.copyItem(at: compiled, to: copy)
        let inside = copy.appendingPathComponent(ModelPackage.compiledModelName)
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: inside.path)
        XCTAssertTrue(try Session(Model(contentsOf: copy), configuration: cpu()).usesCompiledForm)
        // A weight in the middle of the file, between the pages that are looked at first.
        var bytes = try Data(contentsOf: inside)
        bytes[bytes.count / 2] ^= 0x10
        try bytes.write(to: inside)
        let session = try Session(Model(contentsOf: copy), configuration: cpu())
        XCTAssertFalse(session.usesCompiledForm)
        let plain = folder.appendingPathComponent("changed.mlmodel")
        try bytes.write(to: plain)
        XCTAssertEqual(
            try bits(session, input(emotion)), try bits(Session(Model(contentsOf: plain), configuration: cpu()), input(emotion)))
    }

    /// An index that was changed and summed anew is still refused or harmless.
    func testForgedIndices() throws {
        let (compiled, file) = try compile(emotion)
        let whole = try Data(contentsOf: file)
        var random = TestRandom(name: "forged")
        let header = try XCTUnwrap(whole.withUnsafeBytes { CompiledHeader($0) })
        let start = Int(header.indexOffset)
        let inputs = try input(emotion)
        var used = 0
        for _ in 0..<600 {
            var index = Array(whole[start...])
            let word = random.choice([0, 1, 2, 3, 64, -1, 4096, 65536, 1 << 32, .max, .min, whole.count])
            let place = random.integer(0...(index.count - 8))
            withUnsafeBytes(of: Int64(word).littleEndian) { index.replaceSubrange(place..<(place + 8), with: $0) }
            var forged = header
            forged.indexByteCount = UInt64(index.count)
            forged.indexChecksum = index.withUnsafeBytes { Checksum.sum($0) }
            forged.fileByteCount = UInt64(start + index.count)
            let words = forged.words.withUnsafeBytes { Data($0) }
            try (words + whole[128..<start] + index).write(to: file)
            let session = try Session(Model(contentsOf: compiled), configuration: cpu())
            if session.usesCompiledForm { used += 1 }
            _ = try? session.run(inputs) as [String: FeatureValue]
        }
        XCTAssertLessThan(used, 600)
    }

    /// Compiling again replaces the folder in one step; whoever loads it meanwhile gets the one or the other.
    func testReplacingWhileLoading() throws {
        let (compiled, _) = try compile(emotion)
        let (inputs, expected) = (try input(emotion), try expected(emotion))
        let done = DispatchSemaphore(value: 0)
        let source = emotion
        DispatchQueue.global().async {
            for _ in 0..<10 { try? Model.compile(contentsOf: source, to: compiled) }
            done.signal()
        }
        var loads = 0
        repeat {
            XCTAssertEqual(try bits(Session(Model(contentsOf: compiled), configuration: cpu()), inputs), expected)
            loads += 1
        } while done.wait(timeout: .now()) == .timedOut
        XCTAssertGreaterThan(loads, 1)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["x.mlmodelc"])
    }

    func testWhatIsInTheWayStays() throws {
        let target = folder.appendingPathComponent("mine.mlmodelc")
        try Data("precious".utf8).write(to: target)
        XCTAssertThrowsError(try Model.compile(contentsOf: emotion, to: target)) { XCTAssertTrue("\($0)".contains("mine.mlmodelc"), "\($0)") }
        XCTAssertEqual(try Data(contentsOf: target), Data("precious".utf8))
        XCTAssertThrowsError(try Model.compile(contentsOf: emotion, to: folder.appendingPathComponent("no/such/place.mlmodelc"))) {
            XCTAssertTrue("\($0)".contains("place.mlmodelc"), "\($0)")
        }
        XCTAssertThrowsError(try Model.compile(contentsOf: folder.appendingPathComponent("none.mlmodel"), to: target)) {
            XCTAssertTrue("\($0)".contains("none.mlmodel"), "\($0)")
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["mine.mlmodelc"])
        // A compiled folder can be compiled again.
        let (first, _) = try compile(emotion, as: "first")
        XCTAssertTrue(try Session(Model(contentsOf: try compile(first, as: "second").folder), configuration: cpu()).usesCompiledForm)
    }
}
