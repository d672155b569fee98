import CNTPlatform
import Foundation
import NTCPU
import NTRuntime
import NTTensor
import Needletail
import TestSupport
import XCTest

/// Models and sessions through the engine's public interface.
final class SessionTests: XCTestCase {
    private let mobileNet = Fixtures.models.appendingPathComponent("MobileNet.mlmodel")
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel")
    private let photos = Fixtures.models.appendingPathComponent("photos")

    private func golden(_ name: String) throws -> Needletail.Tensor {
        try Needletail.Tensor(npy: Fixtures.folder.appendingPathComponent("Models/\(name).npy"))
    }

    func testGoldensOnEveryBackend() throws {
        for backend in [BackendChoice.cpu, .opencl, .reference] {
            for (model, photo) in [(mobileNet, "MobileNet-coffee"), (mobileNet, "MobileNet-cat"), (emotion, "Emotion-face")] {
                let session = try Session(Model(contentsOf: model), configuration: SessionConfiguration(backend: backend))
                XCTAssertEqual(session.fallbacks, [], "\(backend)")
                let outputs = try session.run(["image": try golden("\(photo)-input")])
                guard case .probabilities(let found)? = outputs["classLabelProbs"] else { return XCTFail("no probabilities") }
                let expected = try golden("\(photo)-probabilities").elements
                let scale = try XCTUnwrap(expected.max())
                for (pair, value) in zip(found, expected) {
                    XCTAssertEqual(pair.probability, value, accuracy: 1e-4 * scale, "\(backend) \(photo) \(pair.label)")
                }
            }
        }
    }

    /// What a precision gives for inputs beside float32: how often the best label is the same, and how far probabilities are apart.
    private struct Agreement {
        /// Inputs, those for which float32 finds the best label twice as likely as the next, and of each how many get float32's label.
        var (inputs, decided, agreeing, agreeingDecided) = (0, 0, 0, 0)
        /// The largest difference of a probability, over the largest probability of its input.
        var difference: Float = 0
    }

    /// Compares on the photos, on whose label both must agree, and on 400 random parts of them and images of white noise.
    private func agreement(of precision: ComputePrecision, _ model: URL, _ names: [String], noise shape: [Int]) throws -> Agreement {
        let sessions = try [ComputePrecision.float32, precision].map {
            try Session(Model(contentsOf: model), configuration: SessionConfiguration(backend: .cpu, precision: $0))
        }
        var random = TestRandom(seed: 11)
        let photos = try names.map { try golden("\($0)-input") }
        var inputs = photos
        for _ in 0..<200 {
            inputs.append(try part(of: photos[inputs.count % photos.count], &random))
            let count = shape.reduce(1, *)
            inputs.append(try Needletail.Tensor(shape: shape, elements: (0..<count).map { _ in Float(random.integer(0...255)) }))
        }
        var result = Agreement()
        for (index, input) in inputs.enumerated() {
            let outputs = try sessions.map { try $0.run(["image": input]) }
            let agrees = outputs[0]["classLabel"]?.text == outputs[1]["classLabel"]?.text
            XCTAssertTrue(agrees || index >= photos.count, model.lastPathComponent)
            guard case .probabilities(let expected)? = outputs[0]["classLabelProbs"], case .probabilities(let found)? = outputs[1]["classLabelProbs"]
            else {
                XCTFail("no probabilities")
                return result
            }
            let best = expected.map(\.probability).sorted(by: >)
            let isDecided = best[0] >= 2 * best[1]
            result.inputs += 1
            result.decided += isDecided ? 1 : 0
            result.agreeing += agrees ? 1 : 0
            result.agreeingDecided += agrees && isDecided ? 1 : 0
            let byLabel = Dictionary(found.map { ("\($0.label)", $0.probability) }) { first, _ in first }
            for pair in expected {
                let difference = abs((byLabel["\(pair.label)"] ?? .nan) - pair.probability) / best[0]
                result.difference = difference <= result.difference ? result.difference : difference
            }
        }
        return result
    }

    private var networks: [(model: URL, photos: [String], noise: [Int])] {
        [(mobileNet, ["MobileNet-coffee", "MobileNet-cat"], [1, 3, 224, 224]), (emotion, ["Emotion-face"], [1, 1, 64, 64])]
    }

    /// bfloat16 names float32's label wherever that is twice as likely as the next, on 97 in 100 of all, and is within 30 % of the largest
    /// probability everywhere. (Found: 397 of 402 and 24 %, on other parts and noise 788 of 804. What is left is the rounding of images: it alone
    /// leaves 392 in a model of these kernels; without what biases give back of the weights' rounding it is 379 and 43 %.)
    func testBFloat16AgreesWithFloat32() throws {
        for (model, photos, noise) in networks {
            let found = try agreement(of: .bfloat16, model, photos, noise: noise)
            XCTAssertGreaterThan(found.decided, 50)
            XCTAssertEqual(found.agreeingDecided, found.decided, model.lastPathComponent)
            XCTAssertGreaterThanOrEqual(Double(found.agreeing), 0.97 * Double(found.inputs), model.lastPathComponent)
            XCTAssertLessThan(found.difference, 0.3, model.lastPathComponent)
        }
    }

    /// float16, by AVX512-FP16 or its model, names float32's label wherever that is twice as likely as the next, on 98 in 100 of all, and is
    /// within 10 % of the largest probability everywhere. (Found: 400 of 402 and 6 %, where bfloat16 is 24 % away; with every product added in
    /// float32, 401 and 6 %: it is the rounding of images and weights that counts. 401 of 401 and 0.8 % for the other model.)
    func testFloat16AgreesWithFloat32() throws {
        nt_isa_set_float16_model(true)
        defer { nt_isa_set_float16_model(false) }
        for (model, photos, noise) in networks {
            let found = try agreement(of: .float16, model, photos, noise: noise)
            XCTAssertEqual(found.agreeingDecided, found.decided, model.lastPathComponent)
            XCTAssertGreaterThanOrEqual(Double(found.agreeing), 0.98 * Double(found.inputs), model.lastPathComponent)
            XCTAssertLessThan(found.difference, 0.1, model.lastPathComponent)
        }
    }

    /// A verified session names the layer that leaves float16's range, which the reference does not.
    func testFloat16SaysWhereItsRangeEnds() throws {
        nt_isa_set_float16_model(true)
        defer { nt_isa_set_float16_model(false) }
        try XCTSkipUnless(CPUBackend.resolved(.float16) == .float16, "this processor has no AVX-512")
        let face = try golden("Emotion-face-input")
        let bright = try Needletail.Tensor(shape: face.shape, elements: face.elements.map { $0 * 1e7 })
        func session(_ precision: ComputePrecision) throws -> Session {
            try Session(
                Model(contentsOf: emotion),
                configuration: SessionConfiguration(backend: .cpu, precision: precision, verifiesFirstPrediction: true))
        }
        XCTAssertNoThrow(try session(.float32).run(["image": bright]))
        XCTAssertNoThrow(try session(.float16).run(["image": face]))
        XCTAssertThrowsError(try session(.float16).run(["image": bright])) { error in
            XCTAssertTrue("\(error)".contains("gives values beyond 65504, where float16 ends"), "\(error)")
        }
    }

    /// A random square of a square image, brought to the image's size again by taking the nearest pixel.
    private func part(of image: Needletail.Tensor, _ random: inout TestRandom) throws -> Needletail.Tensor {
        let (channels, size) = (image.shape[1], image.shape[3])
        let side = random.integer((size / 3)...size)
        let (top, left) = (random.integer(0...(size - side)), random.integer(0...(size - side)))
        let elements = image.elements
        return try Needletail.Tensor(
            shape: image.shape,
            elements: (0..<(channels * size * size)).map { index in
                let (c, y, x) = (index / (size * size), index / size % size, index % size)
                return elements[(c * size + top + y * side / size) * size + left + x * side / size]
            })
    }

    func testThreadCountsGiveTheSameBits() throws {
        let input = try golden("MobileNet-cat-input")
        let outputs = try [1, 2, 3].map { threads -> [UInt32] in
            let configuration = SessionConfiguration(backend: .cpu, threadCount: threads)
            let session = try Session(Model(contentsOf: mobileNet), configuration: configuration)
            guard case .probabilities(let list)? = try session.run(["image": input])["classLabelProbs"] else { return [] }
            return list.map(\.probability.bitPattern)
        }
        XCTAssertEqual(outputs[0].count, 1000)
        XCTAssertEqual(outputs[0], outputs[1])
        XCTAssertEqual(outputs[0], outputs[2])
    }

    /// Busy neighbours on every core cost a run its share of the cores, not a scheduler's slice at each meeting of threads (60 ms for this model).
    func testRunsBesideBusyNeighbours() throws {
        let session = try Session(Model(contentsOf: mobileNet), configuration: SessionConfiguration(backend: .cpu, threadCount: 2))
        let neighbours = (0..<ProcessInfo.processInfo.activeProcessorCount).map { _ in Thread { while !Thread.current.isCancelled {} } }
        for thread in neighbours { thread.start() }
        defer { for thread in neighbours { thread.cancel() } }
        let input = try golden("MobileNet-cat-input")
        let times = try (0..<30).map { _ in try ContinuousClock().measure { _ = try session.run(["image": input]) } }.sorted()
        XCTAssertLessThan(times[15], .milliseconds(20))
    }

    func testOneSessionFromManyThreads() throws {
        for backend in [BackendChoice.cpu, .opencl] {
            let classifier = try ImageClassifier(contentsOf: mobileNet, configuration: SessionConfiguration(backend: backend))
            let files = ["cat.png", "coffee.jpg", "astronaut.jpg"].map { photos.appendingPathComponent($0) }
            let expected = try files.map { try classifier.classify(imageAt: $0, top: 3) }
            let results = Results(count: 24)
            DispatchQueue.concurrentPerform(iterations: 24) { index in
                results.set(index, Result { try classifier.classify(imageAt: files[index % 3], top: 3) })
            }
            for index in 0..<24 { XCTAssertEqual(try results.get(index), expected[index % 3], "\(backend)") }
        }
    }

    /// Numbers that no one means are bounded or refused, on every backend; nothing traps, waits or starts a million threads.
    func testAbsurdNumbers() throws {
        let face = photos.appendingPathComponent("face.png")
        for backend in [BackendChoice.cpu, .opencl, .reference] {
            for threads in [Int.min, -1, 0, 1_000_000_000, Int.max] {
                let session = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: backend, threadCount: threads))
                let classifier = try ImageClassifier(session)
                for result in classifier.classify(imagesAt: [URL](repeating: face, count: 3), top: .max) {
                    XCTAssertEqual(try result.get().first?.label, "Happy", "\(backend), \(threads) threads")
                }
                XCTAssertEqual(try classifier.classify(imageAt: face, top: .min), [])
                XCTAssertEqual(classifier.classify(imagesAt: [], top: 1).count, 0)
            }
            let session = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: backend))
            for batch in [Int.min, -1, 0, 1 << 40, Int.max] {
                XCTAssertThrowsError(try Benchmark(session, batch: batch), "\(backend), batch \(batch)")
            }
            for shape in [[-1, 1, 64, 64], [1, 1, .max, .max], [.min], [0, 1, 64, 64]] {
                XCTAssertThrowsError(try session.run(["image": try Needletail.Tensor(shape: shape, elements: [])]), "\(shape)")
            }
        }
        for device in [Int.min, -1, .max] {
            for backend in [BackendChoice.opencl, .auto] {
                XCTAssertThrowsError(
                    try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: backend, deviceIndex: device)))
            }
        }
    }

    func testClassifiesAsynchronously() async throws {
        let classifier = try ImageClassifier(contentsOf: emotion, configuration: SessionConfiguration(backend: .cpu))
        let best = try await classifier.classify(imageAt: photos.appendingPathComponent("face.png"), top: 1)
        XCTAssertEqual(best.first?.label, "Happy")
        let task = Task { try await classifier.session.run(["image": try Needletail.Tensor.zeros(shape: [1, 1, 64, 64])]) }
        let outputs = try await task.value
        XCTAssertNotNil(outputs["classLabel"]?.text)
    }

    func testInputsThatDoNotFit() throws {
        let session = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: .cpu))
        for inputs in [
            [:], ["image": try Needletail.Tensor.zeros(shape: [1, 1, 63, 64])], ["image": try .zeros(shape: [3, 64, 64])],
            ["image": try .zeros(shape: [])], ["other": try .zeros(shape: [1, 1, 64, 64])],
        ] as [[String: Needletail.Tensor]] {
            XCTAssertThrowsError(try session.run(inputs) as [String: FeatureValue]) { error in
                XCTAssertEqual((error as? NeedletailError)?.code, .invalidInput, "\(error)")
            }
        }
        let plain = try session.run(["image": try Needletail.Tensor.zeros(shape: [1, 64, 64])]) as [String: FeatureValue]
        XCTAssertEqual(plain["classLabelProbs"]?.dictionary?.count, 7)
    }

    /// On the CPU a batch runs the plan of one element on each, to the bit, whatever the number of threads and elements; also several batches at once.
    func testBatchesOnTheCPUAreSingleRuns() throws {
        let model = try Model(contentsOf: emotion)
        let inputs = try (0..<9).map { index -> [String: Needletail.Tensor] in
            let elements = (0..<4096).map { Float(($0 * (index + 3) + index * 17) % 256) }
            return ["image": try Needletail.Tensor(shape: [1, 1, 64, 64], elements: elements)]
        }
        @Sendable func bits(_ result: [String: FeatureValue]) -> [String: UInt32] {
            var bits: [String: UInt32] = [:]
            for (label, value) in result["classLabelProbs"]?.dictionary ?? [:] { bits["\(label)"] = Float(value).bitPattern }
            return bits
        }
        for precision in [ComputePrecision.float32, .float32Winograd, .bfloat16] {
            for threads in [1, 2, 3] {
                let session = try Session(model, configuration: SessionConfiguration(backend: .cpu, threadCount: threads, precision: precision))
                let expected = try inputs.map { bits(try session.run($0) as [String: FeatureValue]) }
                XCTAssertEqual(expected[0].count, 7)
                for count in [2, 3, 8, 9] {
                    let plan = try session.plan(PlanKey(shapes: [:], batch: count)).plan
                    XCTAssertTrue(plan.steps.allSatisfy { $0.step.output.hasPrefix("\(count) of ") })
                    let single = try session.plan(.standard).plan
                    XCTAssertEqual(plan.steps.map(\.step.flops), single.steps.map { $0.step.flops * count })
                    XCTAssertEqual(plan.steps.map(\.step.performedFlops), single.steps.map { $0.step.performedFlops * count })
                    let together = try session.run(batch: Array(inputs.prefix(count))).map(bits)
                    XCTAssertEqual(together, Array(expected.prefix(count)), "\(precision) on \(threads) threads")
                }
                let results = SharedResults()
                DispatchQueue.concurrentPerform(iterations: 3) { _ in
                    results.add((try? session.run(batch: inputs).map(bits)) ?? [])
                }
                XCTAssertEqual(results.all, [expected, expected, expected])
            }
        }
    }

    private final class SharedResults: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [[[String: UInt32]]] = []

        func add(_ value: [[String: UInt32]]) { lock.withLock { list.append(value) } }
        var all: [[[String: UInt32]]] { lock.withLock { list } }
    }

    func testBatchesGiveWhatSingleRunsGive() throws {
        for backend in [BackendChoice.cpu, .opencl] {
            let classifier = try ImageClassifier(contentsOf: mobileNet, configuration: SessionConfiguration(backend: backend))
            let inputs = try ["cat", "coffee", "astronaut"].map { ["image": try golden("MobileNet-\($0)-input")] }
            let together = try classifier.session.run(batch: inputs)
            for (input, result) in zip(inputs, together) {
                let single = try classifier.session.run(input) as [String: FeatureValue]
                XCTAssertEqual(single["classLabel"]?.text, result["classLabel"]?.text)
                let (a, b) = (try XCTUnwrap(single["classLabelProbs"]?.dictionary), try XCTUnwrap(result["classLabelProbs"]?.dictionary))
                for (label, value) in a { XCTAssertEqual(value, try XCTUnwrap(b[label]), accuracy: 1e-5) }
            }
            XCTAssertEqual(try classifier.session.run(batch: []).count, 0)
            // Forty files, a missing one among them: more than one part, and the others unharmed.
            let names = ["cat.png", "coffee.jpg", "none.jpg", "astronaut.jpg"]
            let urls = (0..<40).map { photos.appendingPathComponent(names[$0 % 4]) }
            let results = classifier.classify(imagesAt: urls, top: 1)
            XCTAssertEqual(results.count, 40)
            for (index, result) in results.enumerated() {
                if index % 4 == 2 {
                    XCTAssertThrowsError(try result.get())
                } else {
                    XCTAssertEqual(try result.get().first?.label, ["tabby, tabby cat", "espresso", "", "barbell"][index % 4])
                }
            }
        }
    }

    func testVerificationAcceptsSoundBackends() throws {
        for backend in [BackendChoice.cpu, .opencl] {
            let configuration = SessionConfiguration(backend: backend, verifiesFirstPrediction: true)
            let session = try Session(Model(contentsOf: emotion), configuration: configuration)
            XCTAssertNoThrow(try session.run(["image": try golden("Emotion-face-input")]) as [String: FeatureValue])
        }
    }

    /// NaN and infinities on both sides are named, on every backend; 0 is no answer where nothing could be compared.
    func testVerificationNamesWhatIsNotFinite() throws {
        for backend in [BackendChoice.cpu, .opencl, .reference] {
            func verified(_ elements: [Float]) throws -> VerificationResult {
                let configuration = SessionConfiguration(backend: backend, verifiesFirstPrediction: true)
                let session = try Session(Model(contentsOf: emotion), configuration: configuration)
                XCTAssertNil(session.verificationResult)
                _ = try session.run(["image": try Needletail.Tensor(shape: [1, 1, 64, 64], elements: elements)]) as [String: FeatureValue]
                return try XCTUnwrap(session.verificationResult)
            }
            let nan = try verified([Float](repeating: .nan, count: 4096))
            XCTAssertNil(nan.difference, "\(backend)")
            XCTAssertEqual(nan.remarks, ["input 'image' is NaN", "output 'classLabelProbs' is NaN in both"], "\(backend)")
            let infinite = try verified([.infinity, -.infinity] + [Float](repeating: 3, count: 4094))
            XCTAssertEqual(infinite.remarks.first, "input 'image' has 2 of 4096 values that are infinite", "\(backend)")
            let sound = try verified([Float](repeating: 3, count: 4096))
            XCTAssertLessThan(try XCTUnwrap(sound.difference), 1e-3)
            XCTAssertEqual(sound.remarks, [])
        }
    }

    /// Batches are checked by plans of their own, and told of all the same.
    func testVerificationCoversBatches() throws {
        let configuration = SessionConfiguration(backend: .cpu, verifiesFirstPrediction: true)
        let session = try Session(Model(contentsOf: emotion), configuration: configuration)
        _ = try session.run(batch: [[String: Needletail.Tensor]](repeating: ["image": try golden("Emotion-face-input")], count: 8))
        XCTAssertLessThan(try XCTUnwrap(session.verification), 1e-3)
    }

    func testWhatADifferenceIs() {
        func compare(_ a: [Float], _ b: [Float]) -> (difference: Double?, remark: String?) {
            a.withUnsafeBufferPointer { a in b.withUnsafeBufferPointer { Verification.compare(a, $0) } }
        }
        XCTAssertEqual(compare([1, 2], [1, 4]).difference, 0.5)
        XCTAssertEqual(compare([], []).difference, 0)
        XCTAssertEqual(compare([1, .nan], [1, .nan]).difference, 0)
        XCTAssertEqual(compare([1, .nan], [1, .nan]).remark, "has 1 of 2 values that are NaN in both")
        XCTAssertNil(compare([.infinity], [.infinity]).difference)
        XCTAssertEqual(compare([.infinity], [.infinity]).remark, "is infinite in both")
        XCTAssertEqual(compare([.infinity], [.nan]).remark, "is infinite; in the reference it is NaN")
        for (a, b) in [([.nan], [1]), ([1], [.nan]), ([.infinity], [-.infinity]), ([1], [.infinity])] as [([Float], [Float])] {
            XCTAssertTrue(compare(a, b).difference?.isNaN == true, "\(a) \(b)")
        }
    }

    /// `fast` and `float32-winograd` say what they stand for on every backend.
    func testPrecisionsSayWhatTheyStandFor() throws {
        for (backend, precision, words) in [
            (.opencl, .fast, "; fast is float"), (.opencl, .float32Winograd, "; float32-winograd is float32 here"), (.cpu, .fast, "; fast is "),
            (.reference, .fast, "; fast is float32 here"), (.reference, .float32Winograd, "; float32-winograd is float32 here"),
        ] as [(BackendChoice, ComputePrecision, String)] {
            let session = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: backend, precision: precision))
            XCTAssertTrue(session.backendReason.contains(words), session.backendReason)
        }
        for backend in [BackendChoice.opencl, .reference] {
            let session = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: backend))
            XCTAssertFalse(session.backendReason.contains(" is float"), session.backendReason)
        }
        let hasHalf = Devices.openCL().devices.first?.hasHalfPrecision == true
        let configuration = SessionConfiguration(backend: .opencl, deviceIndex: 0, precision: .bfloat16)
        XCTAssertThrowsError(try Session(Model(contentsOf: emotion), configuration: configuration)) {
            XCTAssertEqual("\($0)".contains("float32 or float16"), hasHalf, "\($0)")
        }
    }

    func testTheEnvironmentIsChecked() throws {
        for (variable, values) in [
            ("NEEDLETAIL_OPENCL", ["fuse=yes", "fusion=on", "single=off,single=on", "fuse=on,pixels=on,fuse=off"]),
            ("NEEDLETAIL_CACHE", ["cache", "./x", "on"]),
        ] {
            for value in values {
                XCTAssertThrowsError(try PackageInfo.checkEnvironment([variable: value])) {
                    XCTAssertTrue("\($0)".hasPrefix(variable + ": expected ") && "\($0)".contains(value), "\($0)")
                }
            }
        }
        for (variable, value) in [
            ("NEEDLETAIL_OPENCL", "fuse=off"), ("NEEDLETAIL_OPENCL", "fuse=off,fuse=off"), ("NEEDLETAIL_CACHE", "/x"), ("NEEDLETAIL_CACHE", "OFF"),
            ("NEEDLETAIL_CACHE", ""),
        ] {
            XCTAssertNoThrow(try PackageInfo.checkEnvironment([variable: value]))
        }
    }

    func testTensorsRefuseWrongCounts() {
        XCTAssertThrowsError(try Needletail.Tensor(shape: [2, 3], elements: [1, 2, 3]))
        XCTAssertThrowsError(try Needletail.Tensor(shape: [-1], elements: []))
        XCTAssertThrowsError(try Needletail.Tensor(shape: [Int.max, 2], elements: []))
        XCTAssertThrowsError(try Needletail.Tensor.zeros(shape: [Int.max, Int.max]))
    }

    /// Results filled by several threads, one slot each.
    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [Result<[Classification], any Error>?]

        init(count: Int) { values = Array(repeating: nil, count: count) }
        func set(_ index: Int, _ value: Result<[Classification], any Error>) { lock.withLock { values[index] = value } }
        func get(_ index: Int) throws -> [Classification] { try XCTUnwrap(lock.withLock { values[index] }).get() }
    }
}
