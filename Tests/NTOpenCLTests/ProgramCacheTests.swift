import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

final class ProgramCacheTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("needletail-cache-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(at: folder) }

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
}
