/// IEEE 754 half precision, bit by bit, for the places that convert a few values. Bulk conversion is a CPU kernel's work.
package enum HalfPrecision {
    /// The float32 value of a half's bits; exact.
    package static func float(fromHalf bits: UInt16) -> Float {
        let sign = UInt32(bits & 0x8000) << 16
        let exponent = UInt32(bits >> 10) & 0x1f
        let fraction = UInt32(bits & 0x3ff)
        switch exponent {
        case 0:
            let magnitude = Float(fraction) * 0x1p-24
            return sign == 0 ? magnitude : -magnitude
        case 0x1f: return Float(bitPattern: sign | 0x7f80_0000 | fraction << 13)
        default: return Float(bitPattern: sign | (exponent + 112) << 23 | fraction << 13)
        }
    }

    /// The bits of the half nearest to `value`, ties to even; overflow gives infinity.
    package static func half(from value: Float) -> UInt16 {
        let bits = value.bitPattern
        let sign = UInt16((bits >> 16) & 0x8000)
        let magnitude = bits & 0x7fff_ffff
        if magnitude > 0x7f80_0000 { return sign | 0x7e00 }
        if magnitude >= 0x4780_0000 { return sign | 0x7c00 }
        if magnitude < 0x3880_0000 {
            let scaled = Float(bitPattern: magnitude) * 0x1p24
            return sign | UInt16(scaled.rounded(.toNearestOrEven))
        }
        let rounded = magnitude + 0xfff + ((magnitude >> 13) & 1)
        return sign | UInt16(truncatingIfNeeded: (rounded >> 13) &- (112 << 10))
    }

    /// The bits of the bfloat16 nearest to `value`, ties to even.
    package static func bfloat16(from value: Float) -> UInt16 {
        let bits = value.bitPattern
        if value.isNaN { return UInt16(bits >> 16) | 0x40 }
        return UInt16(truncatingIfNeeded: (bits &+ 0x7fff &+ ((bits >> 16) & 1)) >> 16)
    }
}
