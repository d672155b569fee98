import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Peaks, tuning, the self-check.
final class MeasurementTests: XCTestCase {
    func testPeaksArePlausible() throws {
        // A stand-in would get work for as many compute units as it claims.
        let device = try DeviceFixture.backend().device
        for family in [DeviceStyle.Family.wideCores, .manyCores] {
            let peaks = try DevicePeaks.measure(on: try OpenCLBackend(device: device, family: family, cache: DeviceFixture.cache), seconds: 0.05)
            XCTAssertGreaterThan(peaks.gigaflops, 0.1, family.rawValue)
            XCTAssertLessThan(peaks.gigaflops, 1e6, family.rawValue)
            XCTAssertGreaterThan(peaks.copies.count, 2, family.rawValue)
            XCTAssertEqual(peaks.copies.map(\.byteCount), Set(peaks.copies.map(\.byteCount)).sorted(), family.rawValue)
            for copy in peaks.copies {
                XCTAssertGreaterThan(copy.gigabytesPerSecond, 0.05, family.rawValue)
                XCTAssertLessThan(copy.gigabytesPerSecond, 1e5, family.rawValue)
            }
        }
    }

    /// The higher of what is measured and what was kept counts; a file that holds nonsense is replaced.
    func testPeaksAreKept() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-peaks-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = CacheLocation(environment: ["NEEDLETAIL_CACHE": folder.path])
        let backend = try DeviceFixture.backend()
        let first = try DevicePeaks.kept(for: backend, in: location)
        let files = try FileManager.default.contentsOfDirectory(at: folder.appendingPathComponent("peaks"), includingPropertiesForKeys: nil)
        XCTAssertEqual(files.count, 1)
        func write(_ peaks: DevicePeaks) throws { try JSONEncoder().encode(peaks).write(to: files[0]) }
        func read() throws -> DevicePeaks { try JSONDecoder().decode(DevicePeaks.self, from: Data(contentsOf: files[0])) }
        XCTAssertEqual(try read(), first)
        func copies(_ rate: Double) -> [DevicePeaks.Copy] {
            first.copies.map { DevicePeaks.Copy(byteCount: $0.byteCount, gigabytesPerSecond: rate) }
        }
        let higher = DevicePeaks(gigaflops: first.gigaflops * 1.5, copies: copies(0.01))
        try write(higher)
        let second = try DevicePeaks.kept(for: backend, in: location)
        XCTAssertGreaterThanOrEqual(second.gigaflops, higher.gigaflops)
        XCTAssertEqual(second.copies.count, first.copies.count)
        for copy in second.copies { XCTAssertGreaterThan(copy.gigabytesPerSecond, 0.01) }
        XCTAssertEqual(try read(), second)
        try write(DevicePeaks(gigaflops: 1e12, copies: copies(1e12)))
        XCTAssertLessThan(try DevicePeaks.kept(for: backend, in: location).gigaflops, 1e6)
        for broken in ["", "{", "{\"gigaflops\":-1,\"copies\":[]}", "{\"gigaflops\":1}"] {
            try Data(broken.utf8).write(to: files[0])
            XCTAssertGreaterThan(try DevicePeaks.kept(for: backend, in: location).gigaflops, 0)
            XCTAssertGreaterThan(try read().gigaflops, 0)
        }
    }

    private func layers() throws -> DeviceCase {
        try DeviceCase("tuned", [[1, 5, 7, 6]]) { builder, inputs, numbers in
            let a = try builder.add(
                Convolution(activation: .relu), inputs[0], try builder.constant(try numbers.tensor([19, 5, 3, 3])), layer: "first")
            let b = try builder.add(Convolution(), a, try builder.constant(try numbers.tensor([21, 19, 1, 1])), layer: "second")
            let flat = try builder.add(Reshape([1, 21 * 20]), b, layer: "flat")
            return [try builder.add(Dense(), flat, try builder.constant(try numbers.tensor([10, 420])), layer: "third")]
        }
    }

    /// Every candidate tile gives the right result, on shapes that none divides; the table survives its file.
    func testTuningKeepsResultsAndItsFile() throws {
        let item = try layers()
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-tuning-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let entry = try DeviceFixture.entries.get()[0]
        var (calls, last) = (0, -1)
        let result = try OpenCLTuner(entry.backend).tune(item.graph, secondsPerTile: 0.001) { done, total, layer in
            XCTAssertGreaterThan(done, last)
            XCTAssertEqual(done == total, layer == nil, "all is done when the whole network's turn comes")
            (calls, last) = (calls + 1, done)
        }
        let (table, findings) = (result.table, result.findings)
        if let network = result.network { XCTAssertEqual(network.after < network.before, findings.contains { $0.after < $0.before }) }
        // By arithmetic: 11400, 7980 and 4200 multiply-adds.
        XCTAssertEqual(findings.map(\.layer), ["first", "second", "third"])
        XCTAssertEqual(result.shapeCount, 3)
        XCTAssertTrue(findings.allSatisfy { $0.after <= $0.before && $0.after > 0 })
        XCTAssertEqual(table.tiles.count, 3)
        XCTAssertGreaterThan(calls, 10)
        let tuned = try compute(item.graph, on: entry.backend.with(tuning: table), inputs: item.inputs)
        assertEqual(tuned[0], expected[0], "tuned")
        let file = try XCTUnwrap(TuningTable.file(for: entry.backend.device, in: CacheLocation(environment: ["XDG_CACHE_HOME": folder.path])))
        try table.write(to: file, beyond: TuningTable())
        XCTAssertEqual(TuningTable(contentsOf: file), table)
        for text in ["", "{", "[]", "{\"tiles\":{\"a\":{\"registers\":{\"rows\":3}}}}"] {
            try Data(text.utf8).write(to: file)
            XCTAssertEqual(TuningTable(contentsOf: file), TuningTable())
        }
        XCTAssertNil(TuningTable.file(for: entry.backend.device, in: CacheLocation(environment: ["NEEDLETAIL_CACHE": "off"])))
    }

    /// A tuner that is interrupted keeps what it has, the next one begins with what is missing, and what several write lies in one file.
    func testInterruptedTuningGoesOn() throws {
        let item = try layers()
        let backend = try DeviceFixture.backend()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-tuning-\(UUID().uuidString)/table.json")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var table = TuningTable()
        for layer in ["first", "second", "third", "first"] {
            var last = ""
            let before = table
            let tuner = OpenCLTuner(backend.with(tuning: before))
            let result = try tuner.tune(
                item.graph, secondsPerTile: 0,
                progress: { done, total, next in
                    XCTAssertLessThan(done, total, "what is left out is not done")
                    last = next ?? last
                }, isOver: { last != "" && last != layer })
            XCTAssertEqual(result.findings.map(\.layer), [layer])
            try result.table.write(to: file, beyond: before)
            table = TuningTable(contentsOf: file)
            XCTAssertEqual(table.tiles.keys.sorted(), result.table.tiles.keys.sorted())
        }
        XCTAssertEqual(table.tiles.count, 3)
        // Another process's findings, of which this one knows nothing.
        let text = "{\"tiles\":{\"other\":{\"registers\":{\"rows\":4,\"vectors\":1,\"width\":8}}},\"fusions\":{\"pair\":true}}"
        let other = try JSONDecoder().decode(TuningTable.self, from: Data(text.utf8))
        try other.write(to: file, beyond: TuningTable())
        let all = TuningTable(contentsOf: file)
        XCTAssertEqual(all.tiles.count, 4)
        XCTAssertEqual(all.fusions, ["pair": true])
        XCTAssertTrue(table.tiles.allSatisfy { all.tiles[$0.key] == $0.value })
    }

    /// When its time is over the tuner stops with what it has; tiles that a device refuses are passed over, a lost device is an error.
    func testTuningEndsInItsTimeAndSurvivesRefusals() throws {
        let item = try layers()
        let backend = try DeviceFixture.backend()
        let over = try OpenCLTuner(backend).tune(item.graph, seconds: 0)
        XCTAssertEqual(over.findings.count, 0)
        XCTAssertEqual(over.shapeCount, 3)
        XCTAssertEqual(over.table, backend.tuning)
        for (status, isError) in [(CL_OUT_OF_RESOURCES, false), (CL_INVALID_COMMAND_QUEUE, true)] {
            let refusing = Refusing(status)
            let api = OpenCLInterface(interceptor: { refusing.status(of: $0) })
            let failing = try OpenCLBackend(device: OpenCLDeviceList(api: api).device(0), api: api, cache: DeviceFixture.cache, tuning: TuningTable())
            let tune = { try OpenCLTuner(failing).tune(item.graph, secondsPerTile: 0) { _, _, _ in refusing.begin() } }
            if isError {
                XCTAssertThrowsError(try tune()) { XCTAssertEqual(($0 as? OpenCLError)?.condition, .lost) }
            } else {
                let found = try tune()
                XCTAssertEqual(found.findings.count, 3)
                XCTAssertGreaterThan(refusing.count, 10)
            }
        }
    }

    /// What the tuner compares with is what runs without it: where a device refuses every other tile, nothing changes.
    func testTheTunerMeasuresWhatRuns() throws {
        // Rows of 14 and of 196 pixels in the same number of them.
        let item = try DeviceCase("defaults", [[1, 20, 14, 14]]) { builder, inputs, numbers in
            let a = try builder.add(
                Convolution(padding: Padding2D(top: 1, left: 1, bottom: 1, right: 1)), inputs[0],
                try builder.constant(try numbers.tensor([24, 20, 3, 3])), layer: "rows")
            return [try builder.add(Convolution(), a, try builder.constant(try numbers.tensor([48, 24, 1, 1])), layer: "run")]
        }
        for runsInOneLaunch in [false, true] {
            var features = DeviceFeatures(runsInOneLaunch: runsInOneLaunch)
            features.leastLaunches = 2
            let (refusing, texts) = (Refusing(CL_OUT_OF_RESOURCES), Texts())
            let api = OpenCLInterface(
                interceptor: { refusing.status(of: $0) },
                sourceFilter: {
                    texts.add($0)
                    return $0
                })
            let backend = try OpenCLBackend(
                device: OpenCLDeviceList(api: api).device(0), family: .wideCores, api: api, cache: nil, tuning: TuningTable(), features: features)
            let plain = try ExecutionPlan(item.graph, backend: backend).steps.map(\.step.kernel)
            let result = try OpenCLTuner(backend).tune(item.graph, secondsPerTile: 0) { _, _, _ in refusing.begin() }
            XCTAssertEqual(try ExecutionPlan(item.graph, backend: backend.with(tuning: result.table)).steps.map(\.step.kernel), plain)
            XCTAssertEqual(result.table.tiles.count, 2)
            XCTAssertNil(result.network)
            // The network, and each layer with the tile that it has.
            XCTAssertEqual(texts.networks, runsInOneLaunch ? 3 : 0)
        }
    }

    /// Counts programs that hold a network.
    private final class Texts: @unchecked Sendable {
        private let lock = NSLock()
        private var count = 0

        var networks: Int { lock.withLock { count } }
        func add(_ text: String) { lock.withLock { count += text.hasPrefix("#define NT_IN_NETWORK") ? 1 : 0 } }
    }

    /// Refuses the first kernel after each `begin`.
    private final class Refusing: @unchecked Sendable {
        private let lock = NSLock()
        private let code: Int32
        private var isArmed = false
        private var refusals = 0

        init(_ code: Int32) { self.code = code }
        var count: Int { lock.withLock { refusals } }
        func begin() { lock.withLock { isArmed = true } }
        func status(of call: String) -> Int32? {
            lock.withLock {
                guard isArmed, call == "clEnqueueNDRangeKernel" else { return nil }
                (isArmed, refusals) = (false, refusals + 1)
                return code
            }
        }
    }

    /// A table may name tiles that no kernel is written for: they are not used.
    func testImpossibleTilesAreNotUsed() throws {
        let item = try layers()
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        let table = try OpenCLTuner(try DeviceFixture.backend()).tune(item.graph, secondsPerTile: 0).table
        let data = try JSONEncoder().encode(table)
        for entry in try DeviceFixture.entries.get() {
            for (from, to) in [("\"rows\":[0-9]+", "\"rows\":3"), ("\"vectors\":[0-9]+", "\"vectors\":7"), ("\"width\":[0-9]+", "\"width\":64")] {
                let text = String(decoding: data, as: UTF8.self).replacingOccurrences(of: from, with: to, options: .regularExpression)
                let broken = try JSONDecoder().decode(TuningTable.self, from: Data(text.utf8))
                let found = try compute(item.graph, on: entry.backend.with(tuning: broken), inputs: item.inputs)
                assertEqual(found[0], expected[0], "\(entry.name) \(to)")
            }
        }
    }

    func testSelfCheckNamesTheLayer() throws {
        let item = try DeviceCase("overflow", [[1, 4, 5, 5]], range: 1...2) { builder, inputs, numbers in
            let a = try builder.add(Unary(.square), inputs[0], layer: "fine")
            let b = try builder.add(Unary(.linear(1e30, 0)), a, layer: "large")
            let c = try builder.add(Binary(.multiply), b, b, layer: "over")
            return [try builder.add(Unary(.sigmoid), c, layer: "last")]
        }
        let backend = try DeviceFixture.backend()
        let bytes = item.inputs.map(\.bytes)
        defer { withExtendedLifetime(item) {} }
        let good = try SelfCheck(item.graph, tested: backend, trusted: ReferenceBackend()).run(bytes)
        XCTAssertTrue(good.isClean)
        XCTAssertEqual(good.worstLayer, "last")
        XCTAssertLessThan(good.largestDifference, 1e-5)
        let wrong = try SelfCheck(item.graph, tested: WrongBackend(layer: "large", value: .nan), trusted: backend).run(bytes)
        XCTAssertEqual(wrong.firstNonFiniteLayer, "large")
        let off = try SelfCheck(item.graph, tested: WrongBackend(layer: "fine", value: 3), trusted: backend).run(bytes)
        XCTAssertEqual(off.firstDifferentLayer, "fine")
        XCTAssertFalse(off.isClean)
    }

    /// The reference with one layer replaced by a constant.
    private struct WrongBackend: Backend {
        let layer: String
        let value: Float
        let name = "wrong"
        let deviceDescription = "one layer wrong"

        func claim(_ node: Node, in graph: Graph) -> Claim { .accepted }

        func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
            var graph = partition
            for index in graph.nodes.indices where graph.nodes[index].name == layer {
                graph.nodes[index].op = Fixed(value: value)
            }
            return try ReferenceBackend().compile(graph, options: options)
        }

        private struct Fixed: Operator {
            static let blank = Fixed(value: 0)
            var value: Float
            mutating func codeAttributes(_ coder: inout AttributeCoder) throws { try coder.float(&value) }
            func outputTypes(for inputs: [TensorType]) throws -> [TensorType] { [inputs[0]] }
            func evaluate(_ inputs: [Tensor]) throws -> [Tensor] {
                [try Tensor(inputs[0].shape, [Float](repeating: value, count: inputs[0].count))]
            }
        }
    }
}
