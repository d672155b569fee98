import CNTGraphicsStandIn
import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Makes one call of many fail, or give nothing and say that it has succeeded.
private final class FaultPlan: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [String] = []
    private let failing: Int?
    private let status: Int32
    private var failed: String?

    /// The call of this number has this status; nil only counts.
    init(failing: Int?, status: Int32 = CL_OUT_OF_RESOURCES) { (self.failing, self.status) = (failing, status) }

    /// The calls so far, in order.
    var names: [String] { lock.withLock { calls } }
    var failedCall: String? { lock.withLock { failed } }

    func intercept(_ call: String) -> Int32? {
        lock.withLock {
            defer { calls.append(call) }
            guard calls.count == failing else { return nil }
            failed = call
            return status
        }
    }
}

/// Ends a test that waits for ever.
private final class Watchdog: @unchecked Sendable {
    private let lock = NSLock()
    private var step = ""
    private var begin = ContinuousClock.now
    private var isOver = false

    /// What begins now.
    func begins(_ text: String) { lock.withLock { (step, begin) = (text, .now) } }

    /// Runs `body` on a thread of its own and fails, naming the step, once one takes longer than `seconds`: the thread is then left to itself.
    static func watch(seconds: Double, _ body: @escaping (Watchdog) throws -> Void) throws {
        let watchdog = Watchdog()
        let end = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var failure: (any Error)?
        nonisolated(unsafe) let work = body
        let thread = Thread {
            do { try work(watchdog) } catch { failure = error }
            end.signal()
        }
        // Drivers compile on the thread that asks.
        thread.stackSize = 16 << 20
        thread.start()
        while end.wait(timeout: .now() + 0.2) == .timedOut {
            let (step, begin) = watchdog.lock.withLock { (watchdog.step, watchdog.begin) }
            guard ContinuousClock.now - begin < .seconds(seconds) else {
                XCTFail("does not return: \(step)")
                throw CancellationError()
            }
        }
        if let failure { throw failure }
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

    /// Statuses that drivers give, two that no header has, and success with nothing done. `conditions` are those that fit.
    private static let statuses: [(status: Int32, conditions: Set<OpenCLError.Condition>)] = [
        (CL_OUT_OF_RESOURCES, [.outOfMemory, .lost]), (CL_OUT_OF_HOST_MEMORY, [.outOfMemory]), (CL_MEM_OBJECT_ALLOCATION_FAILURE, [.outOfMemory]),
        (CL_DEVICE_NOT_AVAILABLE, [.busy, .lost]), (CL_INVALID_COMMAND_QUEUE, [.lost]), (CL_BUILD_PROGRAM_FAILURE, [.buildFailed, .other]),
        (-9999, [.lost]), (-54_321, [.other, .buildFailed]), (77, [.other, .buildFailed]), (CL_SUCCESS, [.other, .buildFailed]),
    ]

    /// What has another way may fail and leave the result right: optional facts about the device and its kernels, binaries for the cache, binaries from the
    /// cache, recordings, what the compiler said.
    private static let optional: Set = [
        "clGetDeviceInfo", "clGetKernelWorkGroupInfo", "clGetProgramInfo", "clGetProgramBuildInfo", "clCreateProgramWithBinary", "clBuildProgram",
        "clGetExtensionFunctionAddressForPlatform", "clCreateCommandBufferKHR", "clCommandNDRangeKernelKHR", "clFinalizeCommandBufferKHR",
    ]

    /// Calls that a driver cannot leave out and call done: memory is freed that it still reads or writes, or kernels run without their arguments or tables.
    private static let indispensable: Set = ["clFinish", "clWaitForEvents", "clSetKernelArg", "clEnqueueWriteBuffer"]

    /// Each call has one of the statuses, so that all have come in each set of calls of one name; the first call of a name has every one.
    func testEachCallFailing() throws {
        let (graph, inputs) = try smallNetwork()
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-faults-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = ProgramCache(folder: folder.appendingPathComponent("c"))
        // With an empty cache, then with a full one; pictures prepared, memory shared and launches replayed; memory shared; none of it; one launch.
        let plain = DeviceFeatures()
        let everyFeature = DeviceFeatures(preparesPixels: true, sharesMemory: true, replaysLaunches: true)
        var single = DeviceFeatures(sharesMemory: true, runsInOneLaunch: true)
        single.leastLaunches = 1
        try Watchdog.watch(seconds: 20) { watchdog in
            for (round, features) in [plain, everyFeature, DeviceFeatures(sharesMemory: true), plain, single].enumerated() {
                let counting = FaultPlan(failing: nil)
                let counter = OpenCLInterface { counting.intercept($0) }
                watchdog.begins("no fault, round \(round)")
                // The second finds in the cache what the first has left, as all later ones do.
                if round > 0 { _ = try self.everything(OpenCLInterface(), graph, inputs, cache: cache, features: features) }
                _ = try self.everything(
                    counter, graph, inputs, cache: round == 0 ? ProgramCache(folder: folder.appendingPathComponent("a")) : cache, features: features)
                XCTAssertEqual(counter.liveObjects, [:])
                XCTAssertGreaterThan(counting.names.count, 60)
                var seen: [String: Int] = [:]
                for (number, name) in counting.names.enumerated() where self.isWorthFailing(name, round: round) {
                    let first = seen[name] == nil
                    let place = seen[name, default: round]
                    seen[name] = place + 1
                    let all = Self.statuses
                    for (status, conditions) in first && round == 1 ? all : [all[place % all.count]] {
                        if status == CL_SUCCESS, Self.indispensable.contains(name) { continue }
                        let faults = FaultPlan(failing: number, status: status)
                        let api = OpenCLInterface { faults.intercept($0) }
                        let label = "call \(number), \(name), status \(status), round \(round)"
                        watchdog.begins(label)
                        let own = round == 0 ? ProgramCache(folder: folder.appendingPathComponent("b"), maximumBytes: 0) : cache
                        do {
                            let found = try self.everything(api, graph, inputs, cache: own, features: features)
                            XCTAssertTrue(status == CL_SUCCESS || Self.optional.contains(name), "\(label) is tolerated")
                            // What only claims to have worked may have left anything.
                            if status != CL_SUCCESS { for (a, b) in zip(found, expected) { assertEqual(a, b, label) } }
                        } catch let error as OpenCLError {
                            XCTAssertNotNil(faults.failedCall, "\(error) without a fault")
                            self.assertFits(error, name, status, conditions, label)
                        }
                        XCTAssertEqual(api.liveObjects, [:], label)
                    }
                }
            }
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

    /// The error names the call and its status, and has a condition that fits.
    private func assertFits(_ error: OpenCLError, _ call: String, _ status: Int32, _ conditions: Set<OpenCLError.Condition>, _ label: String) {
        switch error {
        case .call(let name, let code):
            // What a call left out is missed by the next that needs it.
            guard status != CL_SUCCESS else { return XCTAssertNotEqual(code, CL_SUCCESS, label) }
            XCTAssertEqual(name, call, label)
            XCTAssertEqual(code, status, label)
            XCTAssertTrue(conditions.contains(error.condition), "\(label): \(error.condition)")
        case .build(_, _, let code, _):
            XCTAssertEqual(code, status, label)
            XCTAssertTrue(conditions.contains(error.condition), "\(label): \(error.condition)")
        case .noDevice(let reason):
            XCTAssertTrue(status == CL_SUCCESS || reason.contains("\(call) failed") || reason.contains("has no compiler"), "\(label): \(reason)")
            XCTAssertEqual(error.condition, .absent, label)
        default: XCTAssertEqual(status, CL_SUCCESS, "\(label): \(error)")
        }
    }

    func testStateWorksAgainAfterAFailedRun() throws {
        let (graph, inputs) = try smallNetwork()
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let switchedOn = Switch()
        let statuses = Self.statuses.map(\.status).filter { $0 != CL_SUCCESS }
        let api = OpenCLInterface { call in switchedOn.value == call ? switchedOn.status : nil }
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
            for (call, status) in calls.flatMap({ call in statuses.map { (call, $0) } }) {
                (switchedOn.value, switchedOn.status) = (call, status)
                XCTAssertThrowsError(try compute(plan, state, inputs: inputs), call) {
                    XCTAssertEqual($0 as? OpenCLError, .call(name: call, code: status))
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
        private var storedStatus = CL_DEVICE_NOT_AVAILABLE
        var status: Int32 {
            get { lock.withLock { storedStatus } }
            set { lock.withLock { storedStatus = newValue } }
        }
        var value: String? {
            get { lock.withLock { stored } }
            set { lock.withLock { stored = newValue } }
        }
    }

    /// Answers that make no sense: the device is left out with a reason, or used within what it says, with the right result.
    func testAbsurdAnswers() throws {
        let (graph, inputs) = try smallNetwork()
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        let zeros = [UInt8](repeating: 0, count: 24)
        let ones = [UInt8](repeating: 255, count: 24)
        func bytes(_ values: UInt64...) -> [UInt8] { values.flatMap { value in withUnsafeBytes(of: value) { [UInt8]($0) } } }
        func info(_ property: Int32, _ bytes: some Sequence<UInt8>, says count: Int? = nil) -> (String, Int32, [UInt8], Int) {
            let bytes = Array(bytes)
            return ("clGetDeviceInfo", property, bytes, count ?? bytes.count)
        }
        let garbled: [UInt8] = [0xff, 0xfe, 0x41, 0xc3, 0x28, 0x0a, 0x80, 0]
        // Whether the device can be used, or nil where either will do.
        let cases: [(answer: (call: String, property: Int32, bytes: [UInt8], announced: Int), isUsable: Bool?)] = [
            (info(CL_DEVICE_MAX_COMPUTE_UNITS, zeros.prefix(4)), true), (info(CL_DEVICE_MAX_COMPUTE_UNITS, ones.prefix(4)), true),
            (info(CL_DEVICE_MAX_WORK_GROUP_SIZE, zeros.prefix(8)), true), (info(CL_DEVICE_MAX_WORK_GROUP_SIZE, bytes(1)), true),
            (info(CL_DEVICE_MAX_WORK_GROUP_SIZE, ones.prefix(8)), true), (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, zeros), true),
            (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, []), true), (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes(1, 1, 1)), true),
            (info(CL_DEVICE_LOCAL_MEM_SIZE, zeros.prefix(8)), true), (info(CL_DEVICE_LOCAL_MEM_SIZE, bytes(1)), true),
            (info(CL_DEVICE_LOCAL_MEM_SIZE, ones.prefix(8)), true), (info(CL_DEVICE_MAX_MEM_ALLOC_SIZE, zeros.prefix(8)), false),
            (info(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ones.prefix(8)), true), (info(CL_DEVICE_GLOBAL_MEM_SIZE, zeros.prefix(8)), nil),
            (info(CL_DEVICE_GLOBAL_MEM_SIZE, ones.prefix(8)), true), (info(CL_DEVICE_MEM_BASE_ADDR_ALIGN, zeros.prefix(4)), nil),
            (info(CL_DEVICE_MEM_BASE_ADDR_ALIGN, ones.prefix(4)), true), (info(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, zeros.prefix(4)), true),
            (info(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, ones.prefix(4)), true), (info(CL_DEVICE_TYPE, zeros.prefix(8)), true),
            (info(CL_DEVICE_COMPILER_AVAILABLE, zeros.prefix(4)), false), (info(CL_DEVICE_AVAILABLE, zeros.prefix(4)), false),
            (info(CL_DEVICE_MAX_CLOCK_FREQUENCY, ones.prefix(4)), true), (info(CL_DEVICE_NAME, garbled), true), (info(CL_DEVICE_NAME, []), true),
            (info(CL_DEVICE_VERSION, garbled), true), (info(CL_DRIVER_VERSION, Array("no end".utf8)), true),
            (info(CL_DEVICE_EXTENSIONS, Array("a b".utf8), says: .max), false), (info(CL_DEVICE_EXTENSIONS, [], says: -1), false),
            // Sizes that change between two questions: the answer has become longer, or shorter.
            (info(CL_DEVICE_EXTENSIONS, Array("cl_khr_fp16 cl_khr_fp64".utf8), says: 4), false),
            (info(CL_DEVICE_EXTENSIONS, Array("cl_khr_fp64".utf8), says: 400), true),
            (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes(64, 64, 64), says: 8), false),
            (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes(64, 64, 64), says: 1 << 40), false),
            (info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes(64, 64, 64), says: 13), false),
            (("clGetPlatformInfo", CL_PLATFORM_NAME, garbled, garbled.count), true), (("clGetPlatformInfo", CL_PLATFORM_NAME, [], 0), true),
            (("clGetPlatformInfo", CL_PLATFORM_NAME, garbled, .max), false), (("clGetPlatformIDs", 0, [], Int(Int32.max)), false),
            (("clGetPlatformIDs", 0, [], 5), true), (("clGetPlatformIDs", 0, [], 0), false), (("clGetDeviceIDs", 0, [], Int(UInt32.max)), false),
            (("clGetDeviceIDs", 0, [], 7), true), (("clGetDeviceIDs", 0, [], 0), false),
            (("clGetKernelWorkGroupInfo", CL_KERNEL_WORK_GROUP_SIZE, zeros, 8), true),
            // Not asked where all is one launch.
            (("clGetKernelWorkGroupInfo", CL_KERNEL_LOCAL_MEM_SIZE, Array(ones.prefix(8)), 8), nil),
        ]
        try Watchdog.watch(seconds: 20) { watchdog in
            for name in [nil, "sm_90"] {
                defer { nt_stand_in(nil) }
                XCTAssertTrue(nt_stand_in(name))
                for (answer, isUsable) in cases {
                    let question = "\(answer.call) \(String(answer.property, radix: 16))"
                    let label = "\(question): \(answer.bytes.prefix(24)), \(answer.announced) bytes, \(name ?? "as it is")"
                    watchdog.begins(label)
                    defer { nt_stand_in_answer(nil, 0, nil, 0, 0) }
                    nt_stand_in_answer(answer.call, UInt32(bitPattern: answer.property), answer.bytes, answer.bytes.count, answer.announced)
                    let api = OpenCLInterface()
                    do {
                        let device = try OpenCLDeviceList(api: api).device(0)
                        let features = try DeviceFeatures(for: device, environment: [:])
                        let found = try self.everything(api, graph, inputs, cache: DeviceFixture.cache, features: features)
                        for (a, b) in zip(found, expected) { assertEqual(a, b, label) }
                        XCTAssertNotEqual(isUsable, false, label)
                    } catch let error as OpenCLError {
                        XCTAssertNotEqual(isUsable, true, "\(label): \(error)")
                        XCTAssertFalse("\(error)".isEmpty)
                    }
                    XCTAssertEqual(api.liveObjects, [:], label)
                }
            }
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
