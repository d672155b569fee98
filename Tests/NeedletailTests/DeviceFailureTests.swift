import Foundation
import NTCPU
import NTOpenCL
import Needletail
import TestSupport
import XCTest

/// Devices that fail: `auto` turns to the CPU and says so, `opencl` throws an error of the right kind, and a session works again afterwards.
final class DeviceFailureTests: XCTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel")

    private func input() throws -> [String: Needletail.Tensor] {
        ["image": try Needletail.Tensor(npy: Fixtures.folder.appendingPathComponent("Models/Emotion-face-input.npy"))]
    }

    private func session(
        _ backend: BackendChoice, _ api: OpenCLInterface, precision: ComputePrecision = .float32, features: DeviceFeatures? = nil
    ) throws -> Session {
        var configuration = SessionConfiguration(backend: backend, deviceIndex: 0, precision: precision)
        configuration.deviceFeatures = features
        return try Session(Model(contentsOf: emotion), configuration: configuration, resolver: BackendResolver(api: api))
    }

    /// Failing calls with the status they return and the kind of error that comes of it.
    private let faults: [([String], Int32, NeedletailError.Code, String)] = [
        (["clGetPlatformIDs"], -1001, .backendUnavailable, "the installed drivers offer no platform"),
        (["clGetDeviceIDs"], -1, .backendUnavailable, "offer no device"),
        (["clCreateContext"], -2, .deviceBusy, "busy"),
        (["clCreateProgramWithBinary", "clBuildProgram"], -11, .buildFailed, "does not build"),
        (["clCreateBuffer"], -4, .outOfMemory, "memory is short"),
        (["clCreateSubBuffer"], -6, .outOfMemory, "memory is short"),
        (["clCreateCommandQueue"], -5, .outOfMemory, "memory is short"),
        (["clCreateKernel"], -46, .executionFailed, "CL_INVALID_KERNEL_NAME"),
    ]

    func testAutoTurnsToTheCPUAndSaysSo() throws {
        for (calls, status, _, words) in faults where !calls[0].hasPrefix("clGet") {
            let api = OpenCLInterface(interceptor: { calls.contains($0) ? status : nil })
            let session = try session(.auto, api)
            XCTAssertEqual(session.backendName, "cpu", "\(calls)")
            XCTAssertTrue(session.backendReason.hasPrefix("auto: OpenCL device 0 failed: "), session.backendReason)
            XCTAssertTrue(session.backendReason.contains(words), session.backendReason)
            XCTAssertTrue(try XCTUnwrap(session.backendNotice).hasSuffix("the CPU is used instead"))
            XCTAssertEqual(try session.run(input())["classLabel"]?.text, "Happy")
            XCTAssertEqual(api.liveObjects, [:], "\(calls)")
        }
    }

    /// A device that was asked for by number and does not exist is a mistake, not a reason to turn to the CPU; without a number `auto` does that.
    func testAutoRefusesADeviceThatDoesNotExist() throws {
        for (calls, status, code, words) in faults where calls[0].hasPrefix("clGet") {
            let api = OpenCLInterface(interceptor: { calls.contains($0) ? status : nil })
            XCTAssertThrowsError(try session(.auto, api)) { error in
                XCTAssertEqual((error as? NeedletailError)?.code, code, "\(error)")
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
            let plain = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(), resolver: BackendResolver(api: api))
            XCTAssertEqual(plain.backendName, "cpu")
        }
        for backend in [BackendChoice.auto, .opencl] {
            let configuration = SessionConfiguration(backend: backend, deviceIndex: 77)
            XCTAssertThrowsError(try Session(Model(contentsOf: emotion), configuration: configuration)) { error in
                XCTAssertEqual((error as? NeedletailError)?.code, .backendUnavailable)
                XCTAssertTrue("\(error)".contains("OpenCL device 77 does not exist; expected 0 for "), "\(error)")
                for device in Devices.openCL().devices { XCTAssertTrue("\(error)".contains("\(device.index) for \(device.name)"), "\(error)") }
            }
        }
        for backend in [BackendChoice.cpu, .reference] {
            let configuration = SessionConfiguration(backend: backend, deviceIndex: 0)
            XCTAssertThrowsError(try Session(Model(contentsOf: emotion), configuration: configuration)) { error in
                XCTAssertEqual((error as? NeedletailError)?.code, .invalidInput)
            }
        }
    }

    func testOpenCLThrowsTheRightKind() throws {
        for (calls, status, code, words) in faults {
            let api = OpenCLInterface(interceptor: { calls.contains($0) ? status : nil })
            XCTAssertThrowsError(try self.session(.opencl, api).run(input()) as [String: FeatureValue], "\(calls)") { error in
                XCTAssertEqual((error as? NeedletailError)?.code, code, "\(error)")
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
            XCTAssertEqual(api.liveObjects, [:], "\(calls)")
        }
    }

    func testASoundDeviceIsTaken() throws {
        let session = try session(.auto, .system)
        XCTAssertEqual(session.backendName, "opencl")
        XCTAssertNil(session.backendNotice)
        XCTAssertEqual(session.backendReason, "auto: OpenCL device 0")
        let plain = try Session(Model(contentsOf: emotion), configuration: SessionConfiguration(backend: .cpu))
        XCTAssertNil(plain.backendNotice)
        XCTAssertNil(plain.programCounts)
        XCTAssertNotNil(session.programCounts)
    }

    /// The processor takes a failed device's place in float16 too, and says what it computes in when it has no such arithmetic.
    func testThePlaceOfADeviceInFloat16() throws {
        let api = OpenCLInterface(interceptor: { $0 == "clCreateContext" ? -2 : nil })
        let session = try session(.auto, api, precision: .float16)
        XCTAssertEqual(session.backendName, "cpu")
        let isComputed = CPUBackend.resolved(.float16) == .float16
        XCTAssertNotEqual(session.backendReason.contains("computed in float32, for AVX512-FP16 is absent"), isComputed, session.backendReason)
        XCTAssertTrue(session.backendReason.hasPrefix("auto: OpenCL device 0 failed"), session.backendReason)
    }

    func testADeviceThatFailsDuringRuns() throws {
        let copies: [(String, Int32, NeedletailError.Code)] = [
            ("clFinish", -5, .deviceLost), ("clEnqueueNDRangeKernel", -36, .deviceLost), ("clEnqueueWriteBuffer", -4, .outOfMemory),
            ("clEnqueueReadBuffer", -2, .deviceLost),
        ]
        let shares: [(String, Int32, NeedletailError.Code)] = [
            ("clEnqueueUnmapMemObject", -36, .deviceLost), ("clEnqueueMapBuffer", -5, .deviceLost),
        ]
        for (features, faults) in [(DeviceFeatures(), copies), (DeviceFeatures(sharesMemory: true), shares)] {
            let fault = Fault()
            let session = try session(.opencl, OpenCLInterface(interceptor: { fault.status(of: $0) }), features: features)
            for (call, status, code) in faults {
                fault.set(call, status)
                XCTAssertThrowsError(try session.run(input()) as [String: FeatureValue], call) { error in
                    XCTAssertEqual((error as? NeedletailError)?.code, code, "\(error)")
                    XCTAssertTrue("\(error)".contains(call), "\(error)")
                }
                fault.set("", 0)
                XCTAssertEqual(try session.run(input())["classLabel"]?.text, "Happy", call)
            }
        }
    }

    /// `auto` has the processor compute what a device failed at, for all requests at once, and says so; without the device's fault an error stays one.
    func testAutoTurnsToTheCPUDuringRuns() throws {
        let launch = "clEnqueueNDRangeKernel"
        let faults: [(String, Int32)] = [("clFinish", -5), (launch, -36), (launch, -54), ("clEnqueueReadBuffer", -2)]
        let face = Fixtures.models.appendingPathComponent("photos/face.png")
        let inputs = try input()
        for (number, (call, status)) in faults.enumerated() {
            let fault = Fault()
            let session = try session(.auto, OpenCLInterface(interceptor: { fault.status(of: $0) }), features: DeviceFeatures())
            let classifier = try ImageClassifier(session, cropAndScale: .centerCrop)
            XCTAssertEqual(try session.run(inputs)["classLabel"]?.text, "Happy")
            XCTAssertThrowsError(try session.run([:]) as [String: FeatureValue])
            XCTAssertEqual(session.backendName, "opencl")
            XCTAssertNil(session.backendNotice)
            fault.set(call, status)
            let labels = Labels()
            switch number {
            case 0:
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    labels.add((try? session.run(inputs) as [String: FeatureValue])?["classLabel"]?.text ?? "none")
                }
            case 1: for result in classifier.classify(imagesAt: [face, face, face]) { labels.add(try result.get().first?.label ?? "none") }
            case 2: for result in try session.run(batch: [inputs, inputs, inputs]) { labels.add(result["classLabel"]?.text ?? "none") }
            default: labels.add(try classifier.classify(imageAt: face).first?.label ?? "none")
            }
            XCTAssertEqual(Set(labels.all), ["Happy"], call)
            XCTAssertEqual(session.backendName, "cpu")
            XCTAssertTrue(session.backendReason.hasPrefix("auto: OpenCL device 0 failed: "), session.backendReason)
            let notice = try XCTUnwrap(session.backendNotice)
            XCTAssertTrue(notice.contains(call) && notice.hasSuffix("the CPU is used instead"), notice)
            // The device is well again and not asked.
            fault.set("", 0)
            let calls = fault.count
            XCTAssertEqual(try session.run(inputs)["classLabel"]?.text, "Happy")
            XCTAssertEqual(try session.run(batch: [inputs, inputs]).count, 2)
            XCTAssertEqual(try classifier.classify(imagesAt: [face, face]).map { try $0.get().first?.label }, ["Happy", "Happy"])
            XCTAssertEqual(fault.count, calls)
        }
    }

    private final class Labels: @unchecked Sendable {
        private let lock = NSLock()
        private var labels: [String] = []
        var all: [String] { lock.withLock { labels } }
        func add(_ label: String) { lock.withLock { labels.append(label) } }
    }

    /// A call that fails from now on.
    private final class Fault: @unchecked Sendable {
        private let lock = NSLock()
        private var call = ""
        private var code: Int32 = 0
        func set(_ call: String, _ code: Int32) { lock.withLock { (self.call, self.code) = (call, code) } }
        /// Calls so far.
        private(set) var count = 0
        func status(of name: String) -> Int32? {
            lock.withLock {
                count += 1
                return name == call ? code : nil
            }
        }
    }
}
