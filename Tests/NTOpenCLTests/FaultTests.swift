import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Makes one call after the other fail.
private final class FaultPlan: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [String] = []
    private let failing: Int?
    private(set) var failedCall: String?

    /// The call of this number fails; nil only counts.
    init(failing: Int?) { self.failing = failing }

    /// The calls so far, in order.
    var names: [String] { lock.withLock { calls } }

    func intercept(_ call: String) -> Int32? {
        lock.withLock {
            defer { calls.append(call) }
            guard calls.count == failing else { return nil }
            failedCall = call
            return CL_OUT_OF_RESOURCES
        }
    }
}

/// Every OpenCL call that this module makes fails in turn: the error is thrown, nothing leaks, hangs or crashes.
final class FaultTests: XCTestCase {
    private func smallNetwork() throws -> (Graph, [Tensor]) {
        let item = try DeviceCase("faults", [[1, 3, 8, 8], [2]], range: 0...0) { builder, inputs, numbers in
            let w = try builder.constant(try numbers.tensor([8, 3, 3, 3]))
            let x = try builder.add(Convolution(activation: .relu), inputs[0], w, layer: "convolution")
            let pooled = try builder.add(Pool(.maximum, kernel: Size2D(2, 2)), x, layer: "pool")
            let picked = try builder.add(Gather(axis: 1), pooled, inputs[1], layer: "gather")
            return [try builder.add(Softmax(axis: 1), picked, layer: "softmax"), pooled]
        }
        return (item.graph, item.inputs)
    }

    /// A black picture for the first input, which is all zeros.
    private let picture: PixelCase = {
        var picture = PixelCase(
            .packed(byteCount: 4, red: 0, green: 1, blue: 2), .rgb, columns: 9, rows: 9, transposed: false, drawn: (8, 8), at: (0, 0), image: (8, 8),
            seed: 1)
        picture.planes[0].bytes = picture.planes[0].bytes.map { _ in 0 }
        return picture
    }()

    /// Everything from the device list to a profiled run.
    private func everything(
        _ api: OpenCLInterface, _ graph: Graph, _ inputs: [Tensor], cache: ProgramCache, features: DeviceFeatures
    ) throws -> [Tensor] {
        let device = try OpenCLDeviceList(api: api).device(0)
        let backend = try OpenCLBackend(device: device, api: api, cache: cache, features: features)
        let plan = try ExecutionPlan(graph, backend: backend)
        let state = try plan.makeState()
        let taken = try picture.withUpload { try plan.stage($0, input: 0, image: 0, in: state) }
        XCTAssertEqual(taken, features.preparesPixels)
        _ = try compute(plan, state, inputs: inputs, profile: RunProfile(stepCount: plan.steps.count))
        return try compute(plan, state, inputs: inputs)
    }

    func testEachCallFailing() throws {
        let (graph, inputs) = try smallNetwork()
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = ProgramCache(folder: folder)
        // With an empty cache, then with a full one; pictures prepared, memory shared and launches replayed; memory shared; none of it; one launch.
        let plain = DeviceFeatures()
        let everyFeature = DeviceFeatures(preparesPixels: true, sharesMemory: true, replaysLaunches: true)
        var single = DeviceFeatures(sharesMemory: true, runsInOneLaunch: true)
        single.leastLaunches = 1
        for (round, features) in [plain, everyFeature, DeviceFeatures(sharesMemory: true), plain, single].enumerated() {
            let counting = FaultPlan(failing: nil)
            let counter = OpenCLInterface { counting.intercept($0) }
            _ = try everything(
                counter, graph, inputs, cache: round == 0 ? ProgramCache(folder: folder.appendingPathComponent("a")) : cache, features: features)
            XCTAssertEqual(counter.liveObjects, [:])
            XCTAssertGreaterThan(counting.names.count, 60)
            var tolerated: Set<String> = []
            for (number, name) in counting.names.enumerated() where isWorthFailing(name, round: round) {
                let faults = FaultPlan(failing: number)
                let api = OpenCLInterface { faults.intercept($0) }
                do {
                    let own = round == 0 ? ProgramCache(folder: folder.appendingPathComponent("b"), maximumBytes: 0) : cache
                    let found = try everything(api, graph, inputs, cache: own, features: features)
                    // Only what has another way may fail and leave the result right.
                    for (a, b) in zip(found, expected) { assertEqual(a, b, "call \(number)") }
                    if let call = faults.failedCall { tolerated.insert(call) }
                } catch let error as OpenCLError {
                    XCTAssertNotNil(faults.failedCall, "\(error) without a fault")
                }
                XCTAssertEqual(api.liveObjects, [:], "call \(number), \(faults.failedCall ?? "none")")
            }
            // Optional facts about the device, binaries for the cache, binaries from the cache, recordings.
            let allowed: Set = [
                "clGetDeviceInfo", "clGetProgramInfo", "clCreateProgramWithBinary", "clBuildProgram",
                "clGetExtensionFunctionAddressForPlatform", "clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR",
                "clFinalizeCommandBufferKHR",
            ]
            XCTAssertTrue(tolerated.isSubset(of: allowed), "\(tolerated.subtracting(allowed))")
        }
    }

    /// What an empty cache changes is how programs come about; what features change is what is queued.
    private func isWorthFailing(_ call: String, round: Int) -> Bool {
        switch round {
        case 0: call.contains("Program")
        case 1: true
        default: call.hasPrefix("clEnqueue") || call == "clFinish" || call == "clCreateBuffer"
        }
    }

    func testStateWorksAgainAfterAFailedRun() throws {
        let (graph, inputs) = try smallNetwork()
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let switchedOn = Switch()
        let api = OpenCLInterface { call in switchedOn.value == call ? CL_DEVICE_NOT_AVAILABLE : nil }
        let device = try OpenCLDeviceList(api: api).device(0)
        let replays = device.extensions.contains("cl_khr_command_buffer")
        var single = DeviceFeatures(runsInOneLaunch: true)
        single.leastLaunches = 1
        for (features, calls) in [
            (single, ["clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clFinish"]),
            (DeviceFeatures(), ["clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clEnqueueReadBuffer", "clFinish"]),
            (DeviceFeatures(sharesMemory: true), ["clEnqueueMapBuffer", "clEnqueueUnmapMemObject", "clEnqueueNDRangeKernel", "clFinish"]),
            (DeviceFeatures(replaysLaunches: true), replays ? ["clEnqueueCommandBufferKHR", "clFinish"] : []),
        ] {
            let backend = try OpenCLBackend(device: device, api: api, cache: DeviceFixture.cache, features: features)
            let plan = try ExecutionPlan(graph, backend: backend)
            let state = try plan.makeState()
            for call in calls {
                switchedOn.value = call
                XCTAssertThrowsError(try compute(plan, state, inputs: inputs), call) {
                    XCTAssertEqual($0 as? OpenCLError, .call(name: call, code: CL_DEVICE_NOT_AVAILABLE))
                }
                switchedOn.value = nil
                for (a, b) in zip(try compute(plan, state, inputs: inputs), expected) { assertEqual(a, b, call) }
                for buffer in state.inputs { buffer.base.initializeMemory(as: UInt8.self, repeating: 0, count: buffer.byteCount) }
                try plan.run(state)
                for (buffer, b) in zip(state.outputs, expected) { assertEqual(try Tensor(b.type, buffer: buffer), b, call) }
            }
        }
    }

    private final class Switch: @unchecked Sendable {
        private let lock = NSLock()
        private var stored: String?
        var value: String? {
            get { lock.withLock { stored } }
            set { lock.withLock { stored = newValue } }
        }
    }

    func testMissingDriverPlatformAndDevice() throws {
        let noDriver = OpenCLDeviceList(api: OpenCLInterface { $0 == "clGetPlatformIDs" ? -1001 : nil })
        XCTAssertEqual(noDriver.devices.count, 0)
        XCTAssertEqual(noDriver.reason, "the installed drivers offer no platform")
        XCTAssertNil(noDriver.firstGPU)
        XCTAssertThrowsError(try noDriver.device(0)) {
            XCTAssertEqual("\($0)", "no OpenCL device: the installed drivers offer no platform")
        }
        let nowhere = OpenCLDeviceList(api: OpenCLInterface { $0 == "clGetPlatformIDs" ? -1001 : nil }, environment: ["OCL_ICD_VENDORS": "/nothing"])
        XCTAssertEqual(nowhere.reason, "no OpenCL driver is installed: '/nothing' names none")
        let noDevice = OpenCLDeviceList(api: OpenCLInterface { $0 == "clGetDeviceIDs" ? CL_DEVICE_NOT_FOUND : nil })
        XCTAssertEqual(noDevice.reason, "the installed drivers offer no device")
        let broken = OpenCLDeviceList(api: OpenCLInterface { $0 == "clGetDeviceIDs" ? CL_OUT_OF_HOST_MEMORY : nil })
        XCTAssertEqual(broken.reason, "clGetDeviceIDs failed: CL_OUT_OF_HOST_MEMORY (-6) (memory is short)")
        let devices = OpenCLBackend.devices().devices
        for index in [devices.count, -1, .max] {
            XCTAssertThrowsError(try OpenCLBackend(deviceIndex: index)) {
                XCTAssertEqual($0 as? OpenCLError, .noSuchDevice(index: index, devices: devices.map(\.summary)))
                for device in devices { XCTAssertTrue("\($0)".contains(device.name), "\($0)") }
            }
        }
    }

    /// What the compiler itself says about a program that it refuses.
    func testBuildFailureCarriesTheCompilersOwnWords() throws {
        let api = OpenCLInterface(sourceFilter: { $0 + "\n#error spoiled on purpose\n" })
        let backend = try OpenCLBackend(device: OpenCLDeviceList(api: api).device(0), api: api, cache: nil)
        let item = try DeviceCase(Unary(.relu), [[4]])
        XCTAssertThrowsError(try ExecutionPlan(item.graph, backend: backend)) {
            guard case .build(let program, let options, let code, let log)? = $0 as? OpenCLError else { return XCTFail("\($0)") }
            XCTAssertEqual(program, "pointwise")
            XCTAssertTrue(options.contains("-cl-std=CL1.2"))
            XCTAssertEqual(code, CL_BUILD_PROGRAM_FAILURE)
            XCTAssertTrue(log.contains("spoiled on purpose"), log)
            XCTAssertTrue("\($0)".contains("spoiled on purpose"))
        }
    }

    /// What a program can do about an error depends on its condition, not on the status alone.
    func testConditions() {
        let calls: [(String, Int32, OpenCLError.Condition, String)] = [
            ("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, .outOfMemory, "memory is short"),
            ("clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES, .outOfMemory, "memory is short"),
            ("clFinish", CL_OUT_OF_RESOURCES, .lost, "is lost"), ("clEnqueueReadBuffer", CL_OUT_OF_RESOURCES, .lost, "is lost"),
            ("clFinish", CL_OUT_OF_HOST_MEMORY, .outOfMemory, "memory is short"),
            ("clCreateContext", CL_DEVICE_NOT_AVAILABLE, .busy, "is busy"), ("clFinish", CL_DEVICE_NOT_AVAILABLE, .lost, "is lost"),
            ("clEnqueueWriteBuffer", CL_INVALID_COMMAND_QUEUE, .lost, "is lost"), ("clFinish", -9999, .lost, "is lost"),
            ("clGetPlatformIDs", -1001, .absent, "no OpenCL driver"), ("clGetDeviceIDs", CL_DEVICE_NOT_FOUND, .absent, "no OpenCL driver"),
            ("clSetKernelArg", CL_INVALID_ARG_SIZE, .other, "CL_INVALID_ARG_SIZE"),
        ]
        for (name, code, condition, words) in calls {
            let error = OpenCLError.call(name: name, code: code)
            XCTAssertEqual(error.condition, condition, "\(error)")
            XCTAssertTrue("\(error)".contains(words), "\(error)")
        }
        XCTAssertEqual(OpenCLError.build(program: "p", options: "", code: CL_BUILD_PROGRAM_FAILURE, log: "").condition, .buildFailed)
        XCTAssertEqual(OpenCLError.build(program: "p", options: "", code: CL_OUT_OF_HOST_MEMORY, log: "").condition, .outOfMemory)
        XCTAssertEqual(OpenCLError.notAvailable(device: "d").condition, .busy)
        XCTAssertEqual(OpenCLError.noSuchDevice(index: 3, devices: ["a"]).condition, .absent)
        XCTAssertEqual(OpenCLError.tooLarge(what: "w", byteCount: 2, limit: 1, device: "d").condition, .outOfMemory)
    }

    func testPoCLsCacheFolder() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-pocl-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let (a, b, c, t) = (place.path + "/a", place.path + "/b", place.path + "/c", place.path)
        let own = t + "/needletail-\(geteuid())/pocl"
        let cases: [([String: String], String, Bool)] = [
            (["POCL_CACHE_DIR": a, "XDG_CACHE_HOME": b], a, false), (["XDG_CACHE_HOME": b, "HOME": c], b + "/pocl/kcache", false),
            (["HOME": c], c + "/.cache/pocl/kcache", false), (["HOME": c, "XDG_CACHE_HOME": ""], c + "/.cache/pocl/kcache", false),
            (["POCL_CACHE_DIR": "", "HOME": c], c + "/.cache/pocl/kcache", true),
            (["XDG_CACHE_HOME": "relative", "HOME": c], c + "/.cache/pocl/kcache", true), (["XDG_CACHE_HOME": "/proc/nope", "HOME": c], own, true),
            (["HOME": "relative"], own, true), ([:], own, true),
        ]
        for (environment, folder, mustBeSet) in cases {
            let cache = PoCLCache(environment: environment.merging(["TMPDIR": t]) { $1 })
            XCTAssertEqual(cache.folder.path, folder, "\(environment)")
            XCTAssertEqual(cache.mustBeSet, mustBeSet, "\(environment)")
            XCTAssertNil(cache.problem, "\(environment)")
        }
        // Others may write there: not to be trusted.
        XCTAssertEqual(chmod(t + "/needletail-\(geteuid())", 0o777), 0)
        let nowhere = PoCLCache(environment: ["XDG_CACHE_HOME": "/proc/nope", "TMPDIR": t])
        let problem = try XCTUnwrap(nowhere.problem)
        XCTAssertTrue(problem.contains("'/proc/nope/pocl/kcache' (by XDG_CACHE_HOME) cannot be written"), problem)
        // What stands where a folder of the cache should.
        try FileManager.default.createDirectory(atPath: a, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: a + "/AB"))
        let spoiled = PoCLCache(environment: ["POCL_CACHE_DIR": a])
        XCTAssertNil(spoiled.problem)
        XCTAssertTrue(try XCTUnwrap(spoiled.buildProblem).contains("'\(a)' (by POCL_CACHE_DIR) holds 'AB', which cannot be written"))
    }

    func testBuildFailureCarriesTheCompilersLog() throws {
        let backend = try OpenCLBackend(
            device: OpenCLDeviceList().device(0), api: OpenCLInterface { $0 == "clBuildProgram" ? CL_BUILD_PROGRAM_FAILURE : nil }, cache: nil)
        let item = try DeviceCase(Unary(.relu), [[4]])
        XCTAssertThrowsError(try ExecutionPlan(item.graph, backend: backend)) {
            guard case .build(let program, _, let code, _)? = $0 as? OpenCLError else { return XCTFail("\($0)") }
            XCTAssertEqual(program, "pointwise")
            XCTAssertEqual(code, CL_BUILD_PROGRAM_FAILURE)
        }
    }
}
