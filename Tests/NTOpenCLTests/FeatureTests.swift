import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Shared memory, replayed launches and one launch for all give the bits that copies and single launches give.
final class FeatureTests: XCTestCase {
    static let all = [
        DeviceFeatures(), DeviceFeatures(sharesMemory: true), DeviceFeatures(replaysLaunches: true),
        DeviceFeatures(preparesPixels: true, sharesMemory: true, replaysLaunches: true, fusesSeparable: true),
        DeviceFeatures(runsInOneLaunch: true), DeviceFeatures(sharesMemory: true, fusesSeparable: true, runsInOneLaunch: true),
    ]

    /// Those worth the time of a device's compiler.
    static func all(_ device: OpenCLDevice) throws -> [DeviceFeatures] {
        let isWorthIt = try DeviceFeatures(for: device, environment: [:]).runsInOneLaunch
        return all.filter { isWorthIt || !$0.runsInOneLaunch }
    }

    private func backend(_ entry: DeviceFixture.Entry, _ features: DeviceFeatures, api: OpenCLInterface = .system) throws -> OpenCLBackend {
        try OpenCLBackend(
            device: entry.backend.device, family: entry.backend.style.family, api: api, cache: DeviceFixture.cache, features: features)
    }

    private static func bits(_ tensors: [Tensor]) -> [[UInt32]] { tensors.map { $0.floatArray().map(\.bitPattern) } }

    /// From the caller's memory and from the state's own, run after run, with a profiled run between.
    func testEveryCombinationGivesTheSameBits() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        var numbers = SeededNumbers(5)
        let inputs = try (0..<3).map { _ in try numbers.tensor([1, 3, 32, 32]) }
        for entry in try DeviceFixture.entries.get() {
            let expected = try inputs.map { Self.bits(try compute(graph, on: try backend(entry, DeviceFeatures()), inputs: [$0])) }
            for features in try Self.all(entry.backend.device) {
                let plan = try ExecutionPlan(graph, backend: try backend(entry, features))
                let state = try plan.makeState()
                for round in 0..<2 {
                    for (input, wanted) in zip(inputs, expected) {
                        let profile = round == 1 ? RunProfile(stepCount: plan.steps.count) : nil
                        XCTAssertEqual(Self.bits(try compute(plan, state, inputs: [input], profile: profile)), wanted, "\(features) on \(entry.name)")
                        state.inputs[0].base.copyMemory(from: try XCTUnwrap(input.bytes.baseAddress), byteCount: input.byteCount)
                        try plan.run(state)
                        let own = UnsafeBufferPointer(start: state.outputs[0].base.assumingMemoryBound(to: Float.self), count: wanted[0].count)
                        XCTAssertEqual(own.map(\.bitPattern), wanted[0], "\(features) on \(entry.name), own memory")
                        // What was put in stays.
                        XCTAssertEqual(memcmp(state.inputs[0].base, try XCTUnwrap(input.bytes.baseAddress), input.byteCount), 0)
                    }
                }
            }
        }
    }

    /// Operators of all kinds, with outputs that are inputs, constants, views, or two at once.
    func testOperatorCases() throws {
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == .wideCores {
            for features in try Self.all(entry.backend.device).dropFirst() {
                let backend = try backend(entry, features)
                for (index, item) in OperatorCases.all.enumerated() where index % 5 == 0 {
                    for problem in BackendCheck.run(item, on: backend) { XCTFail("\(features) on \(entry.name): \(problem)") }
                }
                let item = try DeviceCase("outputs", [[1, 2, 3, 4], [5]]) { builder, inputs, numbers in
                    let constant = try builder.constant(try numbers.tensor([7]))
                    let relu = try builder.add(Unary(.relu), inputs[0], layer: "relu")
                    let view = try builder.add(Reshape([24]), relu, layer: "view")
                    let moved = try builder.add(Transpose([0, 2, 3, 1]), inputs[0], layer: "moved")
                    let same = try builder.add(Reshape([5]), inputs[1], layer: "same")
                    return [relu, view, moved, same, try builder.add(Unary(.negate), constant, layer: "constant")]
                }
                let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
                let plan = try ExecutionPlan(item.graph, backend: backend)
                let state = try plan.makeState()
                for _ in 0..<2 {
                    for (a, b) in zip(try compute(plan, state, inputs: item.inputs), expected) { assertEqual(a, b, "\(features)") }
                    for (buffer, input) in zip(state.inputs, item.inputs) {
                        buffer.base.copyMemory(from: try XCTUnwrap(input.bytes.baseAddress), byteCount: input.byteCount)
                    }
                    try plan.run(state)
                    for (buffer, b) in zip(state.outputs, expected) { assertEqual(try Tensor(b.type, buffer: buffer), b, "\(features), own memory") }
                }
            }
        }
    }

    /// A device that will not record runs the launches one by one.
    func testLaunchesThatCannotBeRecorded() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        var numbers = SeededNumbers(5)
        let input = try numbers.tensor([1, 3, 32, 32])
        let expected = Self.bits(try compute(graph, on: try DeviceFixture.backend(), inputs: [input]))
        for call in [
            "clGetExtensionFunctionAddressForPlatform", "clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR", "clFinalizeCommandBufferKHR",
        ] {
            let calls = CallLog()
            let api = OpenCLInterface { name in
                calls.add(name)
                return name == call ? CL_INVALID_OPERATION : nil
            }
            let backend = try OpenCLBackend(
                device: OpenCLDeviceList(api: api).device(0), api: api, cache: DeviceFixture.cache, features: DeviceFeatures(replaysLaunches: true))
            XCTAssertEqual(Self.bits(try compute(graph, on: backend, inputs: [input])), expected, call)
            XCTAssertFalse(calls.names.contains("clEnqueueCommandBufferKHR"))
            XCTAssertTrue(calls.names.contains("clEnqueueNDRangeKernel"))
        }
    }

    /// One run waits once, at its end, and copies nothing that the device shares.
    func testARunWaitsOnce() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        for features in try Self.all(try DeviceFixture.backend().device) {
            let calls = CallLog()
            let api = OpenCLInterface { name in
                calls.add(name)
                return nil
            }
            let backend = try backend(try DeviceFixture.entries.get()[0], features, api: api)
            let plan = try ExecutionPlan(graph, backend: backend)
            let state = try plan.makeState()
            let before = calls.names.count
            try plan.run(state)
            let names = Array(calls.names[before...])
            func count(_ name: String) -> Int { names.filter { $0 == name }.count }
            XCTAssertEqual(names.last, "clFinish")
            XCTAssertEqual(count("clFinish"), 1)
            XCTAssertEqual(count("clWaitForEvents"), 0)
            XCTAssertEqual(count("clEnqueueReadBuffer"), features.sharesMemory ? 0 : graph.outputs.count)
            // An input that is made from pictures stays on the device.
            XCTAssertEqual(count("clEnqueueWriteBuffer"), features.sharesMemory && !features.preparesPixels ? 0 : 1)
            let isReplayed = features.replaysLaunches && backend.device.extensions.contains("cl_khr_command_buffer")
            XCTAssertEqual(count("clEnqueueCommandBufferKHR"), isReplayed ? 1 : 0)
            let launches = count("clEnqueueNDRangeKernel")
            if features.runsInOneLaunch {
                XCTAssertEqual(launches, 1)
            } else {
                XCTAssertEqual(launches > 1, !isReplayed)
            }
        }
    }

    /// While one thread waits for its run, others begin and end theirs: no lock is held.
    func testAWaitingRunHoldsNoLock() throws {
        let graph = try NetworkCases.mobileNetV1(size: 32, alpha: 0.25, classes: 10)
        for features in try Self.all(try DeviceFixture.backend().device) {
            let gate = Gate()
            let api = OpenCLInterface { name in
                if name == "clFinish" { gate.pass() }
                return nil
            }
            let backend = try backend(try DeviceFixture.entries.get()[0], features, api: api)
            let plan = try ExecutionPlan(graph, backend: backend)
            let pool = StatePool(plan)
            try pool.withState { first in try pool.withState { second in try [first, second].forEach { try plan.run($0) } } }
            gate.close()
            let failures = Failures()
            let done = DispatchGroup()
            DispatchQueue.global().async(group: done) {
                do { try pool.withState { try plan.run($0) } } catch { failures.add("\(error)") }
            }
            XCTAssertTrue(gate.waitForWaiter(), "no run came to its wait")
            for _ in 0..<5 { try pool.withState { try plan.run($0) } }
            // A new state as well.
            try plan.run(try plan.makeState())
            gate.open()
            XCTAssertEqual(done.wait(timeout: .now() + 60), .success)
            XCTAssertEqual(failures.all, [])
        }
    }

    /// Holds back the first that comes while it is closed.
    private final class Gate: @unchecked Sendable {
        private let lock = NSLock()
        private var isClosed = false
        private let arrived = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        func close() { lock.withLock { isClosed = true } }
        func open() { opened.signal() }
        func waitForWaiter() -> Bool { arrived.wait(timeout: .now() + 60) == .success }

        func pass() {
            let isFirst = lock.withLock {
                defer { isClosed = false }
                return isClosed
            }
            guard isFirst else { return }
            arrived.signal()
            _ = opened.wait(timeout: .now() + 60)
        }
    }

    /// Many threads on one plan give the bits that one thread gives.
    func testThreadsGiveTheBitsOfOne() throws {
        let graph = try NetworkCases.mobileNetV2(size: 32, classes: 10, depth: 4)
        var numbers = SeededNumbers(5)
        let inputs = try (0..<5).map { _ in try numbers.tensor([1, 3, 32, 32]) }
        for entry in try DeviceFixture.entries.get() {
            for features in try Self.all(try DeviceFixture.backend().device) {
                let plan = try ExecutionPlan(graph, backend: try backend(entry, features))
                let single = try plan.makeState()
                let expected = try inputs.map { Self.bits(try compute(plan, single, inputs: [$0])) }
                let pool = StatePool(plan)
                let failures = Failures()
                DispatchQueue.concurrentPerform(iterations: 6) { thread in
                    for request in 0..<10 {
                        let which = (thread + request) % inputs.count
                        do {
                            let found = try pool.withState { try compute(plan, $0, inputs: [inputs[which]]) }
                            if Self.bits(found) != expected[which] { failures.add("thread \(thread), request \(request)") }
                        } catch {
                            failures.add("\(error)")
                        }
                    }
                }
                XCTAssertEqual(failures.all, [], "\(features) on \(entry.name)")
            }
        }
    }
}

/// The names of calls, in order.
final class CallLog: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [String] = []
    func add(_ name: String) { lock.withLock { calls.append(name) } }
    var names: [String] { lock.withLock { calls } }
}
