import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Threads, profiles, precisions, limits.
final class RunTests: XCTestCase {
    func testManyThreadsShareAPlan() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        var numbers = SeededNumbers(5)
        let inputs = try (0..<4).map { _ in try numbers.tensor([1, 3, 32, 32]) }
        let backend = try DeviceFixture.backend()
        let plan = try ExecutionPlan(graph, backend: backend)
        let pool = StatePool(plan)
        let expected = try inputs.map { try ReferenceBackend.evaluate(graph, inputs: [$0]) }
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 32) { index in
            do {
                let found = try pool.withState { try compute(plan, $0, inputs: [inputs[index % 4]]) }
                for (a, b) in zip(found, expected[index % 4]) {
                    for (x, y) in zip(a.floats, b.floats) where !(abs(x - y) <= 1e-4 * max(1, abs(y))) { failures.add("\(index): \(x), \(y)") }
                }
            } catch {
                failures.add("\(error)")
            }
        }
        XCTAssertEqual(failures.all, [])
    }

    func testProfileTimesEveryKernel() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        let plan = try ExecutionPlan(graph, backend: try DeviceFixture.backend())
        let profile = RunProfile(stepCount: plan.steps.count)
        var numbers = SeededNumbers(5)
        let input = try numbers.tensor([1, 3, 32, 32])
        let state = try plan.makeState()
        for _ in 0..<3 { _ = try compute(plan, state, inputs: [input], profile: profile) }
        XCTAssertEqual(profile.runCount, 3)
        XCTAssertEqual(plan.steps.flatMap(\.step.layers), graph.nodes.map(\.name))
        for (index, (backend, step)) in plan.steps.enumerated() {
            XCTAssertEqual(backend, "opencl")
            if step.kernel == "view" {
                XCTAssertEqual(profile.seconds[index], 0)
            } else {
                XCTAssertGreaterThan(profile.seconds[index], 0, step.kernel)
                XCTAssertEqual(profile.kernelSeconds[index].count, step.kernels.count, step.kernel)
                XCTAssertEqual(profile.kernelSeconds[index].reduce(0, +), profile.seconds[index], accuracy: 1e-9)
            }
            XCTAssertFalse(step.choice.isEmpty, step.kernel)
        }
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(profile.gapSeconds), 0)
    }

    /// The description says whether a tile was measured or is the default.
    func testStepsSayWhereTheirTilesComeFrom() throws {
        let item = try DeviceCase("choice", [[1, 5, 7, 6]]) { builder, inputs, numbers in
            let a = try builder.add(
                Convolution(activation: .relu), inputs[0], try builder.constant(try numbers.tensor([19, 5, 3, 3])), layer: "first")
            return [try builder.add(Transpose([0, 2, 3, 1]), a, layer: "turned")]
        }
        let backend = try DeviceFixture.backend()
        let plain = try ExecutionPlan(item.graph, backend: backend.with(tuning: TuningTable())).steps.map(\.step.choice)
        XCTAssertTrue(plain[0].hasPrefix("the default tile for"), plain[0])
        XCTAssertTrue(plain[1].hasPrefix("its operand seen"), plain[1])
        let table = try OpenCLTuner(backend).tune(item.graph, secondsPerTile: 0).table
        let tuned = try ExecutionPlan(item.graph, backend: backend.with(tuning: table)).steps.map(\.step.choice)
        XCTAssertEqual(tuned[0], "the tile tuned on this device")
    }

    func testHalfPrecision() throws {
        let graph = try NetworkCases.mobileNetV2(size: 32, classes: 10, depth: 4)
        var numbers = SeededNumbers(5)
        let input = try numbers.tensor([1, 3, 32, 32])
        let expected = try ReferenceBackend.evaluate(graph, inputs: [input])
        let options = CompileOptions(precision: .float16)
        for entry in try DeviceFixture.entries.get() {
            if entry.backend.device.storesHalfPrecision {
                let found = try compute(graph, on: entry.backend, inputs: [input], options: options)
                for (a, b) in zip(found, expected) { assertEqual(a, b, tolerance: 0.02, "float16 on \(entry.name)") }
            } else {
                XCTAssertThrowsError(try ExecutionPlan(graph, backend: entry.backend, options: options)) {
                    XCTAssertTrue("\($0)".contains("no half precision (cl_khr_fp16)"), "\($0)")
                }
            }
            XCTAssertThrowsError(try ExecutionPlan(graph, backend: entry.backend, options: CompileOptions(precision: .bfloat16)))
        }
    }

    func testTooLargeIsRefusedByName() throws {
        let backend = try DeviceFixture.backend()
        let limit = backend.device.maximumAllocationBytes
        guard limit / 4 < Int(Int32.max) else { return }
        var builder = GraphBuilder(name: "large")
        let x = builder.input("wide", .float32([limit / 4 + 1]))
        try builder.output(try builder.add(Unary(.relu), x, layer: "relu"), name: "y")
        XCTAssertThrowsError(try ExecutionPlan(builder.graph, backend: backend)) {
            guard case .tooLarge(let what, _, let allowed, _)? = $0 as? OpenCLError else { return XCTFail("\($0)") }
            XCTAssertEqual(what, "input 'wide'")
            XCTAssertTrue("\($0)".hasPrefix("input 'wide': \(limit + 4) bytes are needed; "), "\($0)")
            XCTAssertEqual(allowed, limit)
        }
    }

    func testDevicesDescribeThemselves() throws {
        let list = OpenCLBackend.devices()
        XCTAssertNil(list.reason)
        for device in list.devices {
            XCTAssertFalse(device.name.isEmpty)
            XCTAssertFalse(device.driverVersion.isEmpty)
            XCTAssertGreaterThan(device.computeUnits, 0)
            XCTAssertGreaterThan(device.globalMemoryBytes, 1 << 20)
            XCTAssertGreaterThan(device.maximumWorkGroupSize, 0)
            XCTAssertTrue(device.summary.contains(device.platformName))
        }
        XCTAssertEqual(OpenCLBackend.firstGPU, list.devices.firstIndex { $0.kind == .gpu })
    }
}
