import Foundation
import NTTensor
import TestSupport
import XCTest

final class NPYTests: XCTestCase {
    private func file(_ name: String) -> URL { Fixtures.folder.appendingPathComponent("NTTensor/\(name).npy") }

    func testNumPysFilesOfEveryElementType() throws {
        for dtype in DType.allCases where dtype != .bfloat16 {
            let tensor = try NPY.read(contentsOf: file(dtype.rawValue))
            XCTAssertEqual(tensor.type, TensorType(dtype, [1, 3, 4]))
            let values: [Float] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 127]
            XCTAssertEqual(tensor.floatArray(), dtype == .bool ? values.map { $0 == 0 ? 0 : 1 } : values, dtype.rawValue)
        }
    }

    func testOrdersRanksAndVersions() throws {
        let fortran = try NPY.read(contentsOf: file("fortran"))
        XCTAssertEqual(fortran.shape, [2, 3, 4])
        XCTAssertEqual(fortran.floatArray(), (0..<24).map { Float($0) })
        XCTAssertEqual(try NPY.read(contentsOf: file("scalar")).type, .float32([]))
        XCTAssertEqual(try NPY.read(contentsOf: file("scalar")).floatArray(), [2.5])
        XCTAssertEqual(try NPY.read(contentsOf: file("vector")).floatArray(), [1.5, -2.5, 3.5])
        XCTAssertEqual(try NPY.read(contentsOf: file("empty")).shape, [2, 0, 3])
        for version in 1...3 {
            let tensor = try NPY.read(contentsOf: file("version\(version)"))
            XCTAssertEqual(tensor.shape, [2, 2])
            XCTAssertEqual(tensor.floatArray(), [1, 2, 3, 4])
        }
    }

    func testOtherElementTypesAreNamed() {
        XCTAssertThrowsError(try NPY.read(contentsOf: file("complex"))) { XCTAssertTrue("\($0)".contains("<c16"), "\($0)") }
        XCTAssertThrowsError(try NPY.read(contentsOf: file("missing")))
    }

    /// Big-endian files, and unsigned numbers of 32 and 64 bits in both orders.
    func testByteOrdersAndWideNumbers() throws {
        for code in ["f2", "f4", "f8", "i2", "u2", "i4", "i8"] {
            let tensor = try NPY.read(contentsOf: file("big_\(code)"))
            XCTAssertEqual(tensor.shape, [2, 2])
            XCTAssertEqual(tensor.floatArray(), code.hasPrefix("u") ? [0, 1, 2, 300] : [-1, 1, 2, 300], code)
        }
        for order in ["little", "big"] {
            XCTAssertEqual(try NPY.read(contentsOf: file("\(order)_u4")).floatArray(), [0, 1, 300, 4_294_967_040])
            XCTAssertEqual(try NPY.read(contentsOf: file("\(order)_u8")).floatArray(), [0, 1, 300, 18_446_742_974_197_923_840])
        }
        let fortran = try NPY.read(contentsOf: file("big_fortran"))
        XCTAssertEqual(fortran.shape, [2, 3])
        XCTAssertEqual(fortran.floatArray(), [0, 1, 2, 3, 4, 5])
    }

    func testWrittenFilesReadBack() throws {
        for name in DType.allCases.filter({ $0 != .bfloat16 }).map(\.rawValue) + ["scalar", "vector", "empty", "fortran"] {
            let tensor = try NPY.read(contentsOf: file(name))
            let data = try NPY.encode(tensor)
            let back = try NPY.decode(data)
            XCTAssertEqual(back.type, tensor.type, name)
            XCTAssertTrue(back.bytes.elementsEqual(tensor.bytes), name)
            XCTAssertEqual((data.count - tensor.byteCount) % 64, 0, "the elements are aligned to 64 bytes")
        }
    }

    func testTheHeaderIsPythonText() throws {
        for (shape, text) in [([], "()"), ([3], "(3,)"), ([2, 3], "(2, 3)")] as [(Shape, String)] {
            let data = try NPY.encode(Tensor(shape, [Float](repeating: 0, count: shape.count)))
            let header = String(decoding: data[10..<(data.count - 4 * shape.count)], as: UTF8.self)
            XCTAssertTrue(header.hasPrefix("{'descr': '<f4', 'fortran_order': False, 'shape': \(text), }"), header)
            XCTAssertTrue(header.hasSuffix("\n"))
        }
    }

    func testBFloat16IsWrittenAsFloat32() throws {
        let tensor = try Tensor(TensorType(.bfloat16, [2])) { target in
            target.storeBytes(of: 0x3f80, as: UInt16.self)
            target.storeBytes(of: 0xc000, toByteOffset: 2, as: UInt16.self)
        }
        let back = try NPY.decode(NPY.encode(tensor))
        XCTAssertEqual(back.dtype, .float32)
        XCTAssertEqual(back.floatArray(), [1, -2])
    }

    func testDataWithAnOffsetIsRead() throws {
        let data = try Data(contentsOf: file("vector"))
        let slice = (Data([1, 2, 3]) + data).dropFirst(3)
        XCTAssertEqual(try NPY.decode(slice).floatArray(), [1.5, -2.5, 3.5])
    }

    /// A file with this header text and as many bytes after it.
    private func npy(_ header: String, payload: Int, version: UInt8 = 1, length: Int? = nil) -> Data {
        var data = Data([0x93] + Array("NUMPY".utf8) + [version, 0])
        let count = length ?? header.utf8.count
        data.append(contentsOf: (0..<(version == 1 ? 2 : 4)).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) })
        data.append(contentsOf: header.utf8)
        data.append(Data(count: payload))
        return data
    }

    func testHostileHeadersAreRefused() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n"
        XCTAssertNoThrow(try NPY.decode(npy(good, payload: 24)))
        let cases: [(String, Data)] = [
            ("nothing", Data()), ("magic only", Data([0x93] + Array("NUMPY".utf8))), ("other magic", Data("PK\u{3}\u{4}0000000000".utf8)),
            ("version 0", npy(good, payload: 24, version: 0)), ("version 9", npy(good, payload: 24, version: 9)),
            ("long header", npy(good, payload: 24, length: 60_000)), ("huge header", npy(good, payload: 24, version: 2, length: Int(UInt32.max))),
            ("short payload", npy(good, payload: 23)), ("long payload", npy(good, payload: 25)),
            ("no descr", npy("{'fortran_order': False, 'shape': (2, 3)}", payload: 24)),
            ("no order", npy("{'descr': '<f4', 'shape': (2, 3)}", payload: 24)),
            ("no shape", npy("{'descr': '<f4', 'fortran_order': False}", payload: 24)),
            ("bad order", npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3)}", payload: 24)),
            ("open tuple", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", payload: 24)),
            ("list", npy("{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}", payload: 24)),
            ("negative", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}", payload: 24)),
            ("words", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (two, 3)}", payload: 24)),
            ("overflow", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (9223372036854775807, 9223372036854775807)}", payload: 24)),
            ("hidden overflow", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (0, 9223372036854775807, 9223372036854775807)}", payload: 0)),
            ("too long", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", payload: 24)),
            ("rank", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (\(String(repeating: "1, ", count: 40)))}", payload: 4)),
            ("records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", payload: 24)),
            ("objects", npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", payload: 24)),
            ("empty header", npy("", payload: 0)), ("no text", npy("\u{0}\u{0}\u{0}", payload: 0)),
        ]
        for (name, data) in cases {
            XCTAssertThrowsError(try NPY.decode(data), name) { XCTAssertTrue($0 is TensorError, "\(name): \($0)") }
        }
    }

    /// Any damage to a file is an error or another tensor, never a trap.
    func testDamagedFilesDoNotTrap() throws {
        var random = TestRandom(seed: 3)
        for name in ["float32", "fortran", "version3"] {
            let data = try Data(contentsOf: file(name))
            for length in 0..<data.count { _ = try? NPY.decode(data.prefix(length)) }
            for _ in 0..<5000 {
                var damaged = data
                for _ in 0..<random.integer(1...4) { damaged[random.integer(0...(data.count - 1))] = UInt8(random.integer(0...255)) }
                if let tensor = try? NPY.decode(damaged) { XCTAssertEqual(tensor.floatArray().count, tensor.count) }
            }
        }
    }
}
