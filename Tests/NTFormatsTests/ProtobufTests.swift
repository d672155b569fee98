import NTFormats
import XCTest

final class ProtobufTests: XCTestCase {
    private func message(_ bytes: [UInt8]) -> ProtobufMessage { ProtobufMessage(ByteSlice(ByteStorage(copying: bytes))) }

    private func assertMalformed(_ bytes: [UInt8], line: UInt = #line) {
        XCTAssertThrowsError(try message(bytes).forEachField { _, _ in }, line: line) {
            XCTAssertEqual(($0 as? FormatError)?.kind, .malformed, line: line)
        }
    }

    func testScalarsTakeTheLastValueAndDefaults() throws {
        let message = message([0x08, 0x96, 0x01, 0x08, 0x07, 0x15, 0, 0, 0x80, 0x3f])
        XCTAssertEqual(try message.int(1), 7)
        XCTAssertEqual(try message.float(2), 1)
        XCTAssertEqual(try message.int(3), 0)
        XCTAssertEqual(try message.string(3), "")
        XCTAssertNil(try message.message(3))
    }

    func testNegativeNumbersTakeTenBytes() throws {
        let message = message([0x08] + [UInt8](repeating: 0xff, count: 9) + [0x01])
        XCTAssertEqual(try message.int(1), -1)
    }

    func testRepeatedNumbersPackedAndNot() throws {
        let message = message([0x08, 0x01, 0x0a, 0x03, 0x02, 0x80, 0x01, 0x08, 0x04])
        XCTAssertEqual(try message.ints(1), [1, 2, 128, 4])
        XCTAssertThrowsError(try message.ints(1, limit: 3))
    }

    func testFloatsPackedInPiecesAndNot() throws {
        let one: [UInt8] = [0, 0, 0x80, 0x3f]
        let two: [UInt8] = [0, 0, 0, 0x40]
        XCTAssertEqual(try message([0x0a, 8] + one + two).floats(1), [1, 2])
        XCTAssertEqual(try message([0x0a, 4] + one + [0x0a, 4] + two).floats(1), [1, 2])
        XCTAssertEqual(try message([0x0d] + one + [0x0a, 4] + two + [0x0d] + one).floats(1), [1, 2, 1])
        XCTAssertEqual(try message([0x0a, 4] + one + [0x0d] + two).floats(1), [1, 2])
        XCTAssertEqual(try message([]).floats(1), [])
        XCTAssertThrowsError(try message([0x0a, 3, 0, 0, 0]).floats(1))
    }

    func testFieldsOfAnotherWireTypeAndGroupsAreSkipped() throws {
        let message = message([0x0d, 1, 2, 3, 4, 0x1b, 0x23, 0x08, 0x01, 0x24, 0x1c, 0x10, 0x05])
        XCTAssertEqual(try message.int(1), 0)
        XCTAssertEqual(try message.int(2), 5)
    }

    func testMalformedBytes() {
        assertMalformed([0x08])
        assertMalformed([0x08, 0x80])
        assertMalformed([0x08] + [UInt8](repeating: 0xff, count: 9) + [0x02])
        assertMalformed([0x08] + [UInt8](repeating: 0x80, count: 11))
        assertMalformed([0x0a, 0x02, 0x00])
        assertMalformed([0x0a] + [UInt8](repeating: 0xff, count: 9) + [0x01])
        assertMalformed([0x0d, 0, 0, 0])
        assertMalformed([0x09, 0, 0, 0, 0, 0, 0, 0])
        assertMalformed([0x00, 0x00])
        assertMalformed([0x0e])
        assertMalformed([0x0c])
        assertMalformed([0x0b])
        assertMalformed([0x0b, 0x14])
        assertMalformed([UInt8](repeating: 0x0b, count: 200))
    }

    func testNestingIsBounded() throws {
        var bytes: [UInt8] = []
        for _ in 0..<60 {
            var length = bytes.count
            var prefix: [UInt8] = [0x0a]
            while length >= 0x80 {
                prefix.append(UInt8(length & 0x7f | 0x80))
                length >>= 7
            }
            bytes = prefix + [UInt8(length)] + bytes
        }
        var inner = message(bytes)
        for _ in 0..<60 { inner = try XCTUnwrap(try inner.message(1)) }
        var deep = message([0x0a, 0])
        for _ in 0..<ProtobufMessage.maximumDepth { deep = try deep.nested(deep.bytes) }
        XCTAssertThrowsError(try deep.message(1))
    }
}
