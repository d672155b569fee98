import CNTGraphicsStandIn
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// The backends that every case runs on: each device of each platform as it is, and under the description of a graphics processor, with all that the backend
/// does for one. PoCL is a dependency of the tests: where no device is found they fail.
enum DeviceFixture {
    struct Entry: Sendable {
        let name: String
        let backend: OpenCLBackend
    }

    static let entries: Result<[Entry], Error> = Result {
        let list = OpenCLBackend.devices()
        if list.devices.isEmpty { throw OpenCLError.noDevice(reason: list.reason ?? "") }
        // What is a graphics processor has no other kernels by itself.
        let plain = try list.devices.map { device in
            Entry(name: "\(device.name) wideCores", backend: try OpenCLBackend(device: device, family: .wideCores, cache: cache))
        }
        let graphics = try standIns("sm_90").map { Entry(name: "\($0.name) (stand-in)", backend: try OpenCLBackend(device: $0, cache: cache)) }
        return plain + graphics
    }

    /// The devices under the description of a graphics processor that `nt_stand_in` knows.
    static func standIns(_ name: String) throws -> [OpenCLDevice] {
        XCTAssertTrue(nt_stand_in(name), name)
        defer { nt_stand_in(nil) }
        return OpenCLBackend.devices().devices
    }

    /// A cache of the test run's own, gone when it ends.
    static let cache: ProgramCache = {
        atexit { try? FileManager.default.removeItem(at: DeviceFixture.folder) }
        return ProgramCache(folder: folder.appendingPathComponent("opencl"))
    }()

    private static var folder: URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("needletail-tests-\(ProcessInfo.processInfo.processIdentifier)")
    }

    /// The first device with the kernels of its own kind.
    static func backend() throws -> OpenCLBackend { try entries.get()[0].backend }
}

/// Runs a graph through a plan.
func compute(_ graph: Graph, on backend: any Backend, inputs: [Tensor], options: CompileOptions = CompileOptions()) throws -> [Tensor] {
    let plan = try ExecutionPlan(graph, backend: backend, options: options)
    return try compute(plan, try plan.makeState(), inputs: inputs)
}

func compute(_ plan: ExecutionPlan, _ state: ExecutionState, inputs: [Tensor], profile: RunProfile? = nil) throws -> [Tensor] {
    let results = try plan.graph.outputs.map { try TensorBuffer(byteCount: plan.graph[$0].type.byteCount) }
    try plan.run(
        state, inputs: inputs.map(\.bytes),
        outputs: zip(results, plan.graph.outputs).map {
            UnsafeMutableRawBufferPointer(start: $0.base, count: plan.graph[$1].type.byteCount)
        }, profile: profile)
    return try zip(results, plan.graph.outputs).map { try Tensor(plan.graph[$1].type, buffer: $0) }
}

/// Fails unless the tensors agree: each element within `tolerance` of its own size plus `tolerance` of the largest, NaN and infinities alike.
func assertEqual(
    _ found: Tensor, _ expected: Tensor, tolerance: Float = 1e-5, _ message: @autoclosure () -> String, file: StaticString = #filePath,
    line: UInt = #line
) {
    XCTAssertEqual(found.shape, expected.shape, message(), file: file, line: line)
    let (a, b) = (found.floats, expected.floats)
    let largest = b.reduce(Float(0)) { $1.isFinite ? max($0, abs($1)) : $0 }
    for index in 0..<min(a.count, b.count) {
        if a[index] == b[index] || (a[index].isNaN && b[index].isNaN) { continue }
        let bound = tolerance * (abs(b[index]) + largest)
        if !(abs(a[index] - b[index]) <= bound) {
            XCTFail("\(message()): element \(index) is \(a[index]), expected \(b[index])", file: file, line: line)
            return
        }
    }
}

/// Numbers from a seed, the same on every machine.
struct SeededNumbers {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// Uniform in the range.
    mutating func float(_ low: Float, _ high: Float) -> Float { low + (high - low) * Float(next() >> 40) * 0x1p-24 }

    mutating func tensor(_ shape: Shape, _ low: Float = -1, _ high: Float = 1) throws -> Tensor {
        try Tensor(shape, (0..<shape.count).map { _ in float(low, high) })
    }
}
