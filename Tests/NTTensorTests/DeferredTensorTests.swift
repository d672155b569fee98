import Dispatch
import NTTensor
import Synchronization
import XCTest

final class DeferredTensorTests: XCTestCase {
    /// The numbers 0, 1, 2, ... as bytes to come, and how often which part of them was asked for.
    private final class Source: Sendable {
        let writes = Mutex<[Range<Int>]>([])
        let releases = Atomic<Int>(0)

        func tensor(_ count: Int) throws -> Tensor {
            let bytes = DeferredBytes(
                write: { range, target in
                    self.writes.withLock { $0.append(range) }
                    let floats = target.bindMemory(to: Float.self, capacity: range.count / 4)
                    for place in 0..<(range.count / 4) { floats[place] = Float(range.lowerBound / 4 + place) }
                }, release: { self.releases.add(1, ordering: .relaxed) })
            return try Tensor(.float32([count]), buffer: TensorBuffer(byteCount: 4 * count, from: bytes))
        }
    }

    func testIsFilledOnceWhoeverAsks() throws {
        let source = Source()
        let tensor = try source.tensor(10_000)
        XCTAssertTrue(source.writes.withLock { $0.isEmpty })
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            XCTAssertEqual(tensor.floats[9_999], 9_999)
            XCTAssertEqual(tensor.floats[0], 0)
        }
        XCTAssertEqual(source.writes.withLock { $0 }, [0..<40_000])
    }

    func testReaderLeavesItUnfilled() throws {
        let source = Source()
        let tensor = try source.tensor(100)
        do {
            let reader = TensorReader(tensor)
            XCTAssertEqual(try reader.floats(10..<20)[3], 13)
            XCTAssertEqual(try reader.floats(40..<100)[59], 99)
            XCTAssertEqual(try reader.floats()[99], 99)
        }
        XCTAssertEqual(source.writes.withLock { $0 }, [40..<80, 160..<400, 0..<400])
        XCTAssertEqual(source.releases.load(ordering: .relaxed), 1)
        // A part of it, under another shape.
        let part = try Tensor(.float32([2, 5]), buffer: tensor.buffer, byteOffset: 80)
        let partReader = TensorReader(part)
        XCTAssertEqual(try partReader.floats(5..<10)[0], 25)
        XCTAssertEqual(part.floatArray(), (20..<30).map(Float.init))
        // Filled by now, so the reader reads it in place.
        let lateReader = TensorReader(tensor)
        XCTAssertEqual(try lateReader.floats(99..<100)[0], 99)
        XCTAssertEqual(source.writes.withLock { $0.count }, 5)
        withExtendedLifetime((partReader, lateReader)) {}
    }

    func testReaderOfAPlainTensor() throws {
        let tensor = try Tensor([4], [1, 2, 3, 4])
        let reader = TensorReader(tensor)
        XCTAssertEqual(try reader.floats(2..<4)[1], 4)
        XCTAssertEqual(UnsafeRawPointer(try reader.floats()), UnsafeRawPointer(tensor.buffer.base))
    }
}
