/// File names that are no UTF-8, carried through texts and URLs: a byte that belongs to no character is written as a private-use scalar and becomes
/// that byte again where a file is opened.
package enum FileName {
    /// Byte `b`, 0x80 to 0xFF, is U+10FE00 + `b`: the last private-use plane, of which no known file system or program makes names.
    private static let base: UInt32 = 0x10_fe00

    private static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
        scalar.value >= base + 0x80 && scalar.value <= base + 0xff ? UInt8(scalar.value - base) : nil
    }

    /// The text that stands for these bytes. Bytes in UTF-8 stand for themselves, other bytes and those of the scalars used here for one byte each.
    package static func text(_ bytes: [UInt8]) -> String {
        var text = String.UnicodeScalarView()
        var place = 0
        while place < bytes.count {
            var decoder = UTF8()
            var rest = bytes[place...].makeIterator()
            if case .scalarValue(let scalar) = decoder.decode(&rest), byte(scalar) == nil {
                text.append(scalar)
                place += UTF8.width(scalar)
            } else {
                if let scalar = Unicode.Scalar(base + UInt32(bytes[place])) { text.append(scalar) }
                place += 1
            }
        }
        return String(text)
    }

    /// The text as it is shown to people: a byte that belongs to no character as `\xE9`, with another text for the backslash where one has a meaning.
    package static func shown(_ text: String, backslash: String = "\\") -> String {
        guard text.unicodeScalars.contains(where: { byte($0) != nil }) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard let byte = byte(scalar) else {
                result.append(scalar)
                continue
            }
            result.append(contentsOf: "\(backslash)x\(String(byte, radix: 16, uppercase: true))".unicodeScalars)
        }
        return String(result)
    }

    /// The bytes that the system knows a path by, ended by 0; valid during the call.
    package static func withBytes<Result>(of path: String, _ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
        guard path.unicodeScalars.contains(where: { byte($0) != nil }) else { return try path.withCString(body) }
        var bytes: [UInt8] = []
        for scalar in path.unicodeScalars {
            if let byte = byte(scalar) { bytes.append(byte) } else { bytes.append(contentsOf: String(scalar).utf8) }
        }
        bytes.append(0)
        return try bytes.withUnsafeBufferPointer { bytes in
            try bytes.withMemoryRebound(to: CChar.self) { characters in
                // Never empty.
                guard let start = characters.baseAddress else { return try "".withCString(body) }
                return try body(start)
            }
        }
    }
}
