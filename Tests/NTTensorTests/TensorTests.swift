import Foundation
import NTTensor
import XCTest

final class TensorTests: XCTestCase {
    func testShapes() throws {
        let shape: Shape = [2, 3, 4]
        XCTAssertEqual(shape.count, 24)
        XCTAssertEqual(shape.strides, [12, 4, 1])
        XCTAssertEqual("\(shape)", "2x3x4")
        XCTAssertEqual(Shape([]).count, 1)
        XCTAssertEqual(Shape([]).strides, [])
        XCTAssertEqual("\(Shape([]))", "scalar")
        XCTAssertEqual(try Shape(checking: [1 << 31]).count, 1 << 31)
        for dims in [[-1], [1 << 31, 2], [Int.max, Int.max], [1 << 32], [Int.min], [0, .max], [Int](repeating: 1, count: 17)] {
            XCTAssertThrowsError(try Shape(checking: dims)) { error in XCTAssertTrue("\(error)".contains("refused"), "\(error)") }
        }
    }

    func testBroadcasting() {
        XCTAssertEqual(Shape.broadcast([2, 1, 4], [3, 1]), [2, 3, 4])
        XCTAssertEqual(Shape.broadcast([], [5]), [5])
        XCTAssertEqual(Shape.broadcast([0], [1]), [0])
        XCTAssertNil(Shape.broadcast([2], [3]))
        XCTAssertNil(Shape.broadcast([0], [2]))
        XCTAssertEqual(Shape([3, 1]).broadcastStrides(to: [2, 3, 4]), [0, 1, 0])
        XCTAssertEqual(Shape([2, 3, 4]).broadcastStrides(to: [2, 3, 4]), [12, 4, 1])
    }

    func testTensorsKeepTheirValues() throws {
        let tensor = try Tensor([2, 3], [1, 2, 3, 4, 5, 6])
        XCTAssertEqual(Array(tensor.floats), [1, 2, 3, 4, 5, 6])
        XCTAssertEqual(Int(bitPattern: tensor.bytes.baseAddress) % 64, 0)
        XCTAssertEqual(try tensor.reshaped([3, 2]).floatArray(), [1, 2, 3, 4, 5, 6])
        XCTAssertThrowsError(try tensor.reshaped([4])) {
            XCTAssertEqual($0 as? TensorError, .wrongShape(expected: [2, 3], found: [4]))
        }
        XCTAssertThrowsError(try Tensor([2, 3], [1])) { XCTAssertEqual($0 as? TensorError, .wrongByteCount(expected: 24, found: 4)) }
        XCTAssertEqual(try Tensor([0, 3], []).floatArray(), [])
        XCTAssertEqual(try Tensor([], [7]).floatArray(), [7])
    }

    func testTensorsOverBuffersStayInside() throws {
        let buffer = try TensorBuffer(byteCount: 32, zeroed: true)
        let type = TensorType.float32([4])
        XCTAssertEqual(try Tensor(type, buffer: buffer, byteOffset: 16).floatArray(), [0, 0, 0, 0])
        for offset in [17, 32, 33, -1, .max, .min] {
            XCTAssertThrowsError(try Tensor(type, buffer: buffer, byteOffset: offset), "\(offset)")
        }
        XCTAssertThrowsError(try TensorBuffer(byteCount: -1))
        XCTAssertThrowsError(try TensorBuffer(byteCount: 1 << 60))
    }

    func testABorrowedBufferKeepsItsOwner() throws {
        final class Owner {
            let memory = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
            deinit { memory.deallocate() }
        }
        weak var watched: Owner?
        var tensor: Tensor?
        do {
            let owner = Owner()
            owner.memory.storeBytes(of: 1.5, as: Float.self)
            owner.memory.storeBytes(of: -2, toByteOffset: 4, as: Float.self)
            watched = owner
            tensor = try Tensor(
                .float32([2]), buffer: TensorBuffer(borrowing: UnsafeRawBufferPointer(start: owner.memory, count: 8), owner: owner))
        }
        XCTAssertNotNil(watched)
        XCTAssertEqual(tensor?.floatArray(), [1.5, -2])
        tensor = nil
        XCTAssertNil(watched)
    }

    func testEveryElementTypeConverts() throws {
        func tensor<T>(_ dtype: DType, _ values: [T]) throws -> Tensor {
            try Tensor(TensorType(dtype, [values.count])) { target in values.withUnsafeBytes { target.copyMemory(from: $0) } }
        }
        let tensors = [
            try tensor(.float32, [1, -2, 3] as [Float]), try tensor(.float64, [1, -2, 3] as [Double]),
            try tensor(.float16, [0x3c00, 0xc000, 0x4200] as [UInt16]), try tensor(.bfloat16, [0x3f80, 0xc000, 0x4040] as [UInt16]),
            try tensor(.int8, [1, -2, 3] as [Int8]), try tensor(.int16, [1, -2, 3] as [Int16]), try tensor(.int32, [1, -2, 3] as [Int32]),
            try tensor(.int64, [1, -2, 3] as [Int64]),
        ]
        for tensor in tensors {
            XCTAssertEqual(tensor.floatArray(), [1, -2, 3], tensor.dtype.rawValue)
            XCTAssertEqual(try tensor.asFloat32().dtype, .float32)
        }
        XCTAssertEqual(try tensor(.uint8, [0, 200, 255] as [UInt8]).floatArray(), [0, 200, 255])
        XCTAssertEqual(try tensor(.uint16, [0, 65535] as [UInt16]).floatArray(), [0, 65535])
        XCTAssertEqual(try tensor(.bool, [0, 1, 255] as [UInt8]).floatArray(), [0, 1, 1])
        for dtype in DType.allCases { XCTAssertEqual(TensorType(dtype, [3]).byteCount, 3 * dtype.byteCount) }
    }
}
