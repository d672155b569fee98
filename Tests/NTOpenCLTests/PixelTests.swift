import Foundation
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Pictures that go up as bytes.
final class PixelTests: XCTestCase {
    static func withPixels(_ entry: DeviceFixture.Entry) throws -> OpenCLBackend {
        try OpenCLBackend(
            device: entry.backend.device, family: entry.backend.style.family, cache: DeviceFixture.cache,
            features: DeviceFeatures(preparesPixels: true))
    }

    func testEqualToPlainLoops() throws {
        for entry in try DeviceFixture.entries.get() {
            let backend = try Self.withPixels(entry)
            for (index, item) in PixelCase.all.enumerated() {
                XCTAssertEqual(try item.found(backend), item.expected, "case \(index) on \(entry.name)")
            }
            for (columns, rows, drawn) in [(1, 1, (1, 1)), (130, 70, (33, 65)), (2, 300, (257, 3))] {
                let item = PixelCase(
                    .packed(byteCount: 4, red: 2, green: 1, blue: 0), .rgb, columns: columns, rows: rows, transposed: rows == 70, drawn: drawn,
                    at: (0, 0), image: drawn, padding: 0, seed: 99)
                XCTAssertEqual(try item.found(backend), item.expected, "\(columns) x \(rows) on \(entry.name)")
            }
        }
    }

    /// Images of a batch come from bytes and from floats side by side, from several threads, and each run forgets what was staged.
    func testBatchesOfBytesAndFloats() throws {
        let items = (0..<6).map {
            PixelCase(
                .packed(byteCount: 4, red: 0, green: 1, blue: 2), .rgb, columns: 20 + $0, rows: 17, transposed: $0 % 2 == 1, drawn: (10, 9),
                at: (1, 0),
                image: (12, 9), seed: UInt64($0 + 5))
        }
        let count = items[0].imageShape.reduce(1, *)
        for entry in try DeviceFixture.entries.get() {
            let plan = try items[0].plan(try Self.withPixels(entry), count: 8)
            let state = try plan.makeState()
            let floats = UnsafeMutableBufferPointer(start: state.inputs[0].base.assumingMemoryBound(to: Float.self), count: 8 * count)
            let results = UnsafeBufferPointer(start: state.outputs[0].base.assumingMemoryBound(to: Float.self), count: 8 * count)
            for round in 0..<3 {
                floats.update(repeating: Float(1000 + round))
                let failures = Failures()
                let shared = state
                DispatchQueue.concurrentPerform(iterations: items.count) { index in
                    do {
                        let taken = try items[index].withUpload { try plan.stage($0, input: 0, image: index + 1, in: shared) }
                        if !taken { failures.add("image \(index) was not taken") }
                    } catch {
                        failures.add("\(error)")
                    }
                }
                XCTAssertEqual(failures.all, [])
                let profile = round == 1 ? RunProfile(stepCount: plan.steps.count) : nil
                try plan.run(state, profile: profile)
                for image in 0..<8 {
                    let found = results[(image * count)..<((image + 1) * count)].map { $0 - 0.5 }
                    let expected = (1...6).contains(image) ? items[image - 1].expected : [Float](repeating: Float(1000 + round), count: count)
                    XCTAssertEqual(found, expected, "image \(image), round \(round) on \(entry.name)")
                }
                try plan.run(state)
                XCTAssertEqual(results[0..<(8 * count)].map { $0 }, [Float](repeating: Float(1000 + round) + 0.5, count: 8 * count), "not forgotten")
            }
            XCTAssertTrue(try items[0].withUpload { try plan.stage($0, input: 0, image: 3, in: state) })
            plan.discardStaged(state)
            try plan.run(state)
            XCTAssertEqual(results[3 * count], 1002.5)
        }
    }

    /// What does not fit is not taken, and nothing is staged.
    func testDescriptionsThatDoNotFitAreNotTaken() throws {
        let item = PixelCase(
            .packed(byteCount: 4, red: 0, green: 1, blue: 2), .rgb, columns: 9, rows: 8, transposed: false, drawn: (5, 4), at: (0, 0), image: (5, 4),
            seed: 3)
        let backend = try Self.withPixels(try DeviceFixture.entries.get()[0])
        let plan = try item.plan(backend)
        let state = try plan.makeState()
        func takes(_ upload: PixelUpload, image: Int = 0, input: Int = 0) throws -> Bool {
            try plan.stage(upload, input: input, image: image, in: state)
        }
        try item.withUpload { good in
            let r = good.resampling
            func with(_ x: PixelResampling.Axis, left: Int = 0, rows: Int? = nil) -> PixelUpload {
                PixelUpload(
                    planes: good.planes, encoding: good.encoding, color: good.color,
                    resampling: PixelResampling(
                        columns: r.columns, rows: rows ?? r.rows, isTransposed: false, x: x, y: r.y, left: left, top: 0, width: 5, height: 4))
            }
            func moved(_ by: Int32) -> PixelResampling.Axis {
                PixelResampling.Axis(first: r.x.first.map { $0 + by }, used: r.x.used, taps: r.x.taps, weights: r.x.weights)
            }
            XCTAssertFalse(try takes(with(moved(9))))
            XCTAssertFalse(try takes(with(moved(-9))))
            XCTAssertFalse(try takes(with(r.x, left: 1)))
            XCTAssertFalse(try takes(with(r.x, rows: 9)))
            XCTAssertFalse(try takes(with(PixelResampling.Axis(first: r.x.first, used: r.x.used, taps: r.x.taps, weights: []))))
            XCTAssertFalse(try takes(PixelUpload(planes: good.planes, encoding: .gray, color: .rgb, resampling: r)))
            XCTAssertFalse(try takes(PixelUpload(planes: good.planes, encoding: good.encoding, color: .luma, resampling: r)))
            XCTAssertFalse(try takes(PixelUpload(planes: [], encoding: good.encoding, color: .rgb, resampling: r)))
            XCTAssertFalse(try takes(good, image: 1))
            XCTAssertFalse(try takes(good, image: -1))
            XCTAssertFalse(try takes(good, image: .max))
            XCTAssertFalse(try takes(good, input: 1))
            XCTAssertTrue(try takes(good))
        }
        plan.discardStaged(state)
        let off = try OpenCLBackend(
            device: backend.device, cache: DeviceFixture.cache, features: DeviceFeatures(preparesPixels: false))
        let other = try item.plan(off)
        XCTAssertFalse(other.takesPixels(input: 0))
        XCTAssertFalse(try item.withUpload { try other.stage($0, input: 0, image: 0, in: try other.makeState()) })
    }

    func testFeaturesFollowTheEnvironment() throws {
        let device = try DeviceFixture.backend().device
        func features(_ text: String) throws -> DeviceFeatures { try DeviceFeatures(for: device, environment: ["NEEDLETAIL_OPENCL": text]) }
        let standard = try DeviceFeatures(for: device, environment: [:])
        for text in ["", ",", " , "] { XCTAssertEqual(try features(text), standard) }
        for text in ["pixels", "pixels=maybe", "colour=on", ",,=,", "pixels=on=on", "pixels=on,fused=off", "Pixels=on"] {
            XCTAssertThrowsError(try features(text), text) {
                XCTAssertTrue(
                    "\($0)".hasPrefix("NEEDLETAIL_OPENCL: expected pixels, shared, replay, fuse, single, subgroups, each with =on or =off, found "),
                    "\($0)")
            }
        }
        XCTAssertThrowsError(try features("single=off,pixels=on,single=on")) {
            XCTAssertEqual("\($0)", "NEEDLETAIL_OPENCL: expected single to be either on or off, found 'single=off,pixels=on,single=on'")
        }
        XCTAssertTrue(try features("fuse=on, pixels=on").preparesPixels)
        XCTAssertFalse(try features("pixels=off").preparesPixels)
        var everything = DeviceFeatures(
            preparesPixels: true, sharesMemory: true, replaysLaunches: device.extensions.contains("cl_khr_command_buffer"), fusesSeparable: true,
            runsInOneLaunch: true, usesSubgroups: !Subgroups.all(of: device).isEmpty)
        var nothing = DeviceFeatures()
        (everything.leastSeparableWork, nothing.leastSeparableWork) = (standard.leastSeparableWork, standard.leastSeparableWork)
        XCTAssertEqual(try features("pixels=on,shared=on,replay=on,fuse=on,single=on,subgroups=on"), everything)
        XCTAssertEqual(try features("replay=off,shared=off,pixels=off,fuse=off,single=off,subgroups=off"), nothing)
        XCTAssertEqual(standard.sharesMemory, device.hasUnifiedMemory)
    }
}
