import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Networks whose kernels are functions of one program and run in one launch.
final class SingleLaunchTests: XCTestCase {
    /// A backend that runs everything in one launch.
    static func backend(_ entry: DeviceFixture.Entry, api: OpenCLInterface = .system) throws -> OpenCLBackend {
        var features = DeviceFeatures(sharesMemory: true, fusesSeparable: true, runsInOneLaunch: true)
        (features.leastLaunches, features.leastSeparableWork) = (1, 0)
        return try OpenCLBackend(
            device: entry.backend.device, family: entry.backend.style.family, api: api, cache: DeviceFixture.cache, features: features)
    }

    /// Devices whose compiler takes such programs in seconds.
    private func entries() throws -> [DeviceFixture.Entry] {
        try DeviceFixture.entries.get().filter { entry in
            let features = try DeviceFeatures(for: entry.backend.device, environment: [:])
            return entry.backend.style.family == .wideCores && features.runsInOneLaunch
        }
    }

    /// A driver other than PoCL's may compile for minutes: that is said as it begins, and not when the cache has the program.
    func testALongCompilationIsAnnounced() throws {
        let item = try Self.branches()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-notice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (platform, counts) in [("Portable Computing Language", [0, 0]), ("Another", [1, 0])] {
            for count in counts {
                var device = try DeviceFixture.backend().device
                device.platformName = platform
                var features = DeviceFeatures(runsInOneLaunch: true)
                features.leastLaunches = 1
                let heard = Heard()
                let backend = try OpenCLBackend(
                    device: device, family: .wideCores, cache: ProgramCache(folder: folder), features: features, notify: { heard.add($0) })
                _ = try ExecutionPlan(item.graph, backend: backend)
                XCTAssertEqual(heard.lines.count, count, platform)
                for line in heard.lines { XCTAssertTrue(line.contains("single=on") && line.contains("minutes"), line) }
            }
        }
    }

    private final class Heard: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: [String] = []

        var lines: [String] { lock.withLock { stored } }
        func add(_ line: String) { lock.withLock { stored.append(line) } }
    }

    /// Kernels that share local memory do not run in one launch, and the device does not say so.
    func testManyCoresLaunchOneByOne() throws {
        let backend = try OpenCLBackend(
            device: DeviceFixture.backend().device, family: .manyCores, cache: nil, features: DeviceFeatures(runsInOneLaunch: true))
        XCTAssertFalse(backend.deviceDescription.contains("one launch"), backend.deviceDescription)
    }

    /// Branches that meet again: stages that may run at once and stages that may not, and results that take over their operands' memory.
    static func branches() throws -> DeviceCase {
        try DeviceCase("branches", [[1, 16, 14, 15], [1, 4, 6]]) { builder, inputs, numbers in
            let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let filter = try builder.constant(try numbers.tensor([16, 1, 3, 3]))
            let mixing = try builder.constant(try numbers.tensor([24, 16, 1, 1]))
            let back = try builder.constant(try numbers.tensor([16, 24, 3, 3]))
            let left = try builder.add(
                Convolution(padding: same, groups: 16, activation: .relu), inputs[0], filter, layer: "left")
            let wide = try builder.add(Convolution(), left, mixing, layer: "wide")
            let right = try builder.add(Unary(.sigmoid), inputs[0], layer: "right")
            let joined = try builder.add(Convolution(padding: same, hasResidual: true), wide, back, right, layer: "joined")
            let pooled = try builder.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: same), joined, layer: "pooled")
            let small = try builder.add(
                Convolution(strides: Size2D(2, 2)), inputs[0], try builder.constant(try numbers.tensor([16, 16, 1, 1])), layer: "small")
            let sum = try builder.add(Binary(.add), pooled, small, layer: "sum")
            let mean = try builder.add(Reduce(.mean, axes: [2, 3], keepsDimensions: true), sum, layer: "mean")
            let flat = try builder.add(Reshape([1, 16]), mean, layer: "flat")
            let product = try builder.add(MatMul(), inputs[1], try builder.add(Transpose([0, 2, 1]), inputs[1], layer: "turned"), layer: "product")
            return [try builder.add(Softmax(axis: 1), flat, layer: "softmax"), joined, product]
        }
    }

    /// Run after run the bits of launches one by one: no stage begins too early, and counters are zero again.
    func testStagesWaitForWhatTheyNeed() throws {
        let item = try Self.branches()
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        for entry in try entries() {
            let plan = try ExecutionPlan(item.graph, backend: try Self.backend(entry))
            let state = try plan.makeState()
            let first = try compute(plan, state, inputs: item.inputs)
            for (a, b) in zip(first, expected) { assertEqual(a, b, entry.name) }
            for round in 0..<300 {
                let profile = round % 50 == 49 ? RunProfile(stepCount: plan.steps.count) : nil
                let found = try compute(plan, state, inputs: item.inputs, profile: profile)
                XCTAssertEqual(found.map { $0.floatArray() }, first.map { $0.floatArray() }, "run \(round) on \(entry.name)")
            }
        }
    }

    /// Kernels of many sources side by side, whose macros and functions have the same names.
    func testKernelsOfAllSources() throws {
        let item = try DeviceCase("many", [[1, 5, 9, 8], [3]], range: 0...1) { builder, inputs, numbers in
            let x = inputs[0]
            let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let half = try builder.add(
                Convolution(strides: Size2D(2, 2), padding: same), x, try builder.constant(try numbers.tensor([19, 5, 3, 3])), layer: "half")
            let double = try builder.add(
                ConvolutionTranspose(strides: Size2D(2, 2)), half, try builder.constant(try numbers.tensor([19, 6, 2, 2])), layer: "double")
            let lrn = try builder.add(LocalResponseNormalization(size: 3, alpha: 1, beta: 0.5, k: 1), double, layer: "lrn")
            let resized = try builder.add(Resize(.bilinear, to: Size2D(5, 4), coordinates: .halfPixel), lrn, layer: "resize")
            let padded = try builder.add(Pad(.reflection, before: [0, 0, 1, 0], after: [0, 0, 2, 1]), resized, layer: "pad")
            let gathered = try builder.add(Gather(axis: 1), padded, inputs[1], layer: "gather")
            let normal = try builder.add(MeanVarianceNormalization(axes: [2, 3], epsilon: 1e-3), gathered, layer: "normal")
            let gelu = try builder.add(Unary(.geluExact), normal, layer: "gelu")
            let largest = try builder.add(ArgReduce(axis: 1), gelu, layer: "largest")
            let sum = try builder.add(CumulativeSum(axis: 3), gelu, layer: "sum")
            return [sum, largest, try builder.add(Reduce(.l2, axes: [1]), sum, layer: "length")]
        }
        var inputs = item.inputs
        inputs[1] = try Tensor([3], [5, 0, 2])
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: inputs)
        for entry in try entries() {
            let plan = try ExecutionPlan(item.graph, backend: try Self.backend(entry))
            XCTAssertEqual(plan.fallbacks, [])
            let state = try plan.makeState()
            for _ in 0..<2 { for (a, b) in zip(try compute(plan, state, inputs: inputs), expected) { assertEqual(a, b, entry.name) } }
            // An index that no run may take is told, and the next run is right again.
            XCTAssertThrowsError(try compute(plan, state, inputs: [inputs[0], try Tensor([3], [5, 9, 2])])) {
                XCTAssertEqual($0 as? OpenCLError, .indexOutOfRange(layers: ["gather"]))
            }
            for (a, b) in zip(try compute(plan, state, inputs: inputs), expected) { assertEqual(a, b, entry.name) }
        }
    }

    /// More kinds of kernels than a program is given: several launches, which follow one another.
    func testManyKindsTakeFewLaunches() throws {
        let item = try DeviceCase("long", [[1, 3, 12, 12]]) { builder, inputs, numbers in
            var x = inputs[0]
            for index in 0..<30 {
                let weights = try builder.constant(try numbers.tensor([index + 2, index == 0 ? 3 : index + 1, 1, 1]))
                x = try builder.add(Convolution(activation: .relu), x, weights, layer: "layer \(index)")
            }
            return [x]
        }
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        for entry in try entries() {
            let calls = CallLog()
            let api = OpenCLInterface { name in
                calls.add(name)
                return nil
            }
            let plan = try ExecutionPlan(item.graph, backend: try Self.backend(entry, api: api))
            let state = try plan.makeState()
            let before = calls.names.count
            try plan.run(state)
            XCTAssertEqual(calls.names[before...].filter { $0 == "clEnqueueNDRangeKernel" }.count, 2)
            for (a, b) in zip(try compute(plan, state, inputs: item.inputs), expected) { assertEqual(a, b, entry.name) }
        }
    }

    /// Large runs and small graphs are launched kernel by kernel: a program of their own would not pay.
    func testWhereItIsNotWorthIt() throws {
        let item = try Self.branches()
        for entry in try entries() {
            for (least, most) in [(100, 4_000_000_000), (1, 1000)] {
                var features = DeviceFeatures(runsInOneLaunch: true)
                (features.leastLaunches, features.mostSingleLaunchWork) = (least, most)
                let calls = CallLog()
                let api = OpenCLInterface { name in
                    calls.add(name)
                    return nil
                }
                let backend = try OpenCLBackend(device: entry.backend.device, api: api, cache: DeviceFixture.cache, features: features)
                let plan = try ExecutionPlan(item.graph, backend: backend)
                let state = try plan.makeState()
                let before = calls.names.count
                try plan.run(state)
                XCTAssertGreaterThan(calls.names[before...].filter { $0 == "clEnqueueNDRangeKernel" }.count, 5)
            }
        }
    }
}
