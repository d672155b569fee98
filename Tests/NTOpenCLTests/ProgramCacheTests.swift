import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

final class ProgramCacheTests: XCTestCase {
    /// The cache's folder; its lock lies beside it.
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-cache-\(UUID().uuidString)/opencl")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    private func files() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).sorted { $0.path < $1.path }
    }

    private func key(_ options: String) throws -> CacheEntryKey {
        CacheEntryKey(source: "kernel void f() {}", options: options, device: try DeviceFixture.backend().device)
    }

    func testDamagedEntriesAreNotUsed() throws {
        let cache = ProgramCache(folder: folder)
        let binary = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let own = try key("-D A")
        XCTAssertNil(cache.load(own))
        cache.store(binary, for: own)
        XCTAssertEqual(cache.load(own), binary)
        XCTAssertNil(cache.load(try key("-D B")))
        let file = folder.appendingPathComponent(own.fileName)
        let whole = try Data(contentsOf: file)
        for length in [0, 1, 7, 8, 15, 16, 40, whole.count / 2, whole.count - 1] {
            try whole.prefix(length).write(to: file)
            XCTAssertNil(cache.load(own), "\(length) bytes")
        }
        for place in stride(from: 0, to: whole.count, by: 13) {
            var bytes = whole
            bytes[place] ^= 0x10
            try bytes.write(to: file)
            XCTAssertNil(cache.load(own), "byte \(place)")
        }
        try (whole + [0]).write(to: file)
        XCTAssertNil(cache.load(own))
        // Another key's entry under this name.
        cache.store(binary, for: try key("-D C"))
        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: folder.appendingPathComponent(try key("-D C").fileName), to: file)
        XCTAssertNil(cache.load(own))
        cache.store(binary, for: own)
        XCTAssertEqual(cache.load(own), binary)
    }

    func testSizeIsBounded() throws {
        let cache = ProgramCache(folder: folder, maximumBytes: 10_000)
        for index in 0..<12 {
            cache.store([UInt8](repeating: UInt8(index), count: 2000), for: try key("-D N=\(index)"))
            let sizes = try files().map { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 }
            XCTAssertLessThanOrEqual(sizes.reduce(0, +), 10_000)
        }
        XCTAssertNotNil(cache.load(try key("-D N=11")))
        cache.store([UInt8](repeating: 1, count: 20_000), for: try key("-D large"))
        XCTAssertNil(cache.load(try key("-D large")))
    }

    func testPlaceFollowsTheEnvironment() {
        XCTAssertNil(CacheLocation(environment: ["NEEDLETAIL_CACHE": "off", "HOME": "/home/a"]).folder)
        XCTAssertNil(CacheLocation(environment: [:]).folder)
        XCTAssertEqual(CacheLocation(environment: ["NEEDLETAIL_CACHE": "/own", "HOME": "/home/a"]).folder?.path, "/own")
        XCTAssertEqual(CacheLocation(environment: ["HOME": "/home/a"]).folder?.path, "/home/a/.cache/needletail")
        XCTAssertEqual(CacheLocation(environment: ["HOME": "/home/a", "XDG_CACHE_HOME": "/c"]).folder?.path, "/c/needletail")
        XCTAssertEqual(CacheLocation(environment: ["HOME": "/home/a", "XDG_CACHE_HOME": "relative"]).folder?.path, "/home/a/.cache/needletail")
        XCTAssertNil(ProgramCache.standard(environment: ["NEEDLETAIL_CACHE": "off", "HOME": "/home/a"]))
    }

    /// Programs come from the disk the second time, and are built again when their files are damaged.
    func testProgramsComeFromTheCache() throws {
        let device = try DeviceFixture.backend().device
        let item = try DeviceCase(Convolution(activation: .relu), [[1, 4, 6, 6]], constants: [[5, 4, 1, 1]])
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        func builds(_ cache: ProgramCache?) throws -> Int {
            let backend = try OpenCLBackend(device: device, cache: cache)
            for (a, b) in zip(try compute(item.graph, on: backend, inputs: item.inputs), expected) { assertEqual(a, b, "cached") }
            return backend.programBuildCount
        }
        let cache = ProgramCache(folder: folder)
        let first = try builds(cache)
        XCTAssertGreaterThan(first, 0)
        XCTAssertEqual(try files().count, first)
        XCTAssertEqual(try builds(cache), 0)
        for file in try files() {
            var bytes = try Data(contentsOf: file)
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: file)
        }
        XCTAssertEqual(try builds(cache), first)
        XCTAssertEqual(try builds(cache), 0)
        XCTAssertEqual(try builds(nil), first)
        XCTAssertEqual(try builds(ProgramCache(folder: URL(fileURLWithPath: "/dev/null/needletail"))), first)
    }

    /// A process that holds the lock and hangs is waited for once, aloud; and not at all for what the cache has.
    func testALockThatIsNotGivenBack() throws {
        let lock = open(folder.path + ".lock", O_CREAT | O_RDWR, 0o600)
        defer { close(lock) }
        XCTAssertEqual(flock(lock, LOCK_EX | LOCK_NB), 0)
        let item = try DeviceCase("two programs", [[1, 4, 6, 6]]) { builder, inputs, numbers in
            let a = try builder.add(Convolution(), inputs[0], try builder.constant(try numbers.tensor([5, 4, 1, 1])), layer: "convolution")
            return [try builder.add(Softmax(axis: 1), a, layer: "softmax")]
        }
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        var single = DeviceFeatures(runsInOneLaunch: true)
        single.leastLaunches = 1
        for features in [DeviceFeatures(), single] {
            let notices = Notices()
            func run(_ patience: BuildPatience) throws -> OpenCLBackend {
                let backend = try OpenCLBackend(
                    device: DeviceFixture.backend().device, family: .wideCores, cache: ProgramCache(folder: folder, patience: patience),
                    tuning: TuningTable(), features: features, notify: { notices.add($0) })
                assertEqual(try compute(item.graph, on: backend, inputs: item.inputs)[0], expected[0], "with the lock held elsewhere")
                return backend
            }
            let short = BuildPatience(seconds: 0.3, secondsUntilNotice: 0.1)
            XCTAssertGreaterThan(try run(short).programBuildCount, features.runsInOneLaunch ? 0 : 1)
            XCTAssertEqual(short.seconds, 0)
            XCTAssertEqual(notices.all.filter { $0.contains("holds '\(folder.path).lock'") }.count, 1, "\(notices.all)")
            let long = BuildPatience(seconds: 60)
            XCTAssertEqual(try run(long).programBuildCount, 0)
            XCTAssertEqual(long.seconds, 60, "nothing was waited for")
        }
    }

    private final class Notices: @unchecked Sendable {
        private let lock = NSLock()
        private var texts: [String] = []
        var all: [String] { lock.withLock { texts } }
        func add(_ text: String) { lock.withLock { texts.append(text) } }
    }
}
