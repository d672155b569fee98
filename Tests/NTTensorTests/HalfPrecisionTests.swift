import NTTensor
import XCTest

final class HalfPrecisionTests: XCTestCase {
    /// The value of a half by its definition: sign, power of two, fraction of ten bits.
    private func value(_ bits: UInt16) -> Double {
        let sign: Double = bits & 0x8000 == 0 ? 1 : -1
        let exponent = Int(bits >> 10) & 0x1f
        let fraction = Double(bits & 0x3ff)
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 0x1f: return fraction == 0 ? sign * .infinity : .nan
        default: return sign * (1 + fraction / 1024) * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        }
    }

    func testEveryHalfHasItsValue() {
        for bits in UInt16.min...UInt16.max {
            let (found, expected) = (HalfPrecision.float(fromHalf: bits), value(bits))
            if expected.isNaN {
                XCTAssertTrue(found.isNaN)
            } else if Double(found) != expected || found.sign != expected.sign {
                XCTFail("half \(bits) is \(found), expected \(expected)")
            }
        }
    }

    func testEveryHalfSurvivesBothWays() {
        for bits in UInt16.min...UInt16.max {
            let float = HalfPrecision.float(fromHalf: bits)
            let back = HalfPrecision.half(from: float)
            if float.isNaN {
                XCTAssertTrue(HalfPrecision.float(fromHalf: back).isNaN)
                XCTAssertEqual(back & 0x8000, bits & 0x8000)
            } else if back != bits {
                XCTFail("half \(bits) came back as \(back)")
            }
        }
    }

    /// Between each two neighbours: just below, at and just above the midpoint. Ties go to the even one.
    func testRoundingIsToNearestEven() {
        for bits in UInt16(0)..<0x7c00 {
            let low = HalfPrecision.float(fromHalf: bits)
            // The neighbour of the largest half would be 65536; from halfway on the result is infinite.
            let high = bits == 0x7bff ? 65536 : HalfPrecision.float(fromHalf: bits + 1)
            let middle = (low + high) / 2
            let even = bits & 1 == 0 ? bits : bits + 1
            for (float, expected) in [(middle.nextDown, bits), (middle, even), (middle.nextUp, bits + 1)] {
                if HalfPrecision.half(from: float) != expected || HalfPrecision.half(from: -float) != expected | 0x8000 {
                    XCTFail("\(float) gives \(HalfPrecision.half(from: float)), expected \(expected)")
                }
            }
        }
        for float in [Float(65520), 65536, 1e10, .greatestFiniteMagnitude, .infinity] {
            XCTAssertEqual(HalfPrecision.half(from: float), 0x7c00)
            XCTAssertEqual(HalfPrecision.half(from: -float), 0xfc00)
        }
        for float in [Float.leastNonzeroMagnitude, .leastNormalMagnitude, 0x1p-25, 0] { XCTAssertEqual(HalfPrecision.half(from: float), 0) }
        XCTAssertEqual(HalfPrecision.half(from: (0x1p-25 as Float).nextUp), 1)
        XCTAssertEqual(HalfPrecision.half(from: -0.0), 0x8000)
    }

    func testBFloat16RoundsToNearestEven() {
        for upper in UInt16(0)..<0x7f80 {
            let base = UInt32(upper) << 16
            let even = upper & 1 == 0 ? upper : upper + 1
            for (bits, expected) in [
                (base, upper), (base + 0x7fff, upper), (base + 0x8000, even), (base + 0x8001, upper + 1), (base + 0xffff, upper + 1),
            ] {
                if HalfPrecision.bfloat16(from: Float(bitPattern: bits)) != expected
                    || HalfPrecision.bfloat16(from: -Float(bitPattern: bits)) != expected | 0x8000
                {
                    XCTFail("\(bits) is rounded wrongly")
                }
            }
        }
        XCTAssertEqual(HalfPrecision.bfloat16(from: .infinity), 0x7f80)
        XCTAssertEqual(HalfPrecision.bfloat16(from: -.infinity), 0xff80)
        for bits in [UInt32(0x7f80_0001), 0x7fff_ffff, 0xff80_0001, 0x7fc0_0000] {
            let result = HalfPrecision.bfloat16(from: Float(bitPattern: bits))
            XCTAssertTrue(Float(bitPattern: UInt32(result) << 16).isNaN)
        }
    }
}
