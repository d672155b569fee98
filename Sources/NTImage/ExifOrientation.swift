/// Finds tag 0x0112 of the first image directory of EXIF data, wherever a format keeps that. Anything malformed counts as absent.
enum ExifOrientation {
    /// The orientation in an encoded file, up when there is none.
    static func find(in bytes: UnsafeRawBufferPointer, format: ImageFileFormat) -> ImageOrientation {
        let reader = ByteReader(bytes: bytes)
        let value: UInt16? =
            switch format {
            case .jpeg: jpeg(reader)
            case .png: png(reader)
            case .webp: webp(reader)
            }
        return ImageOrientation(exif: UInt32(value ?? 1))
    }

    /// JPEG: the first APP1 segment that begins "Exif\0\0", before the first scan.
    private static func jpeg(_ file: ByteReader) -> UInt16? {
        var at = 2
        while let mark = file.uint8(at), mark == 0xff, let code = file.uint8(at + 1) {
            if code == 0xff {  // fill byte
                at += 1
                continue
            }
            if code == 0x01 || (0xd0...0xd8).contains(code) {  // markers without a length
                at += 2
                continue
            }
            guard code != 0xda, code != 0xd9, let length = file.uint16(at + 2, bigEndian: true), length >= 2 else { return nil }
            if code == 0xe1, file.matches("Exif\0\0", at: at + 4) {
                return tiff(file.part(at + 10, Int(length) - 8))
            }
            at += 2 + Int(length)
        }
        return nil
    }

    /// PNG: the eXIf chunk, before or after the pixels.
    private static func png(_ file: ByteReader) -> UInt16? {
        var at = 8
        while let length = file.uint32(at, bigEndian: true) {
            if file.matches("eXIf", at: at + 4) { return tiff(file.part(at + 8, Int(length))) }
            if file.matches("IEND", at: at + 4) { return nil }
            at += 12 + Int(length)
        }
        return nil
    }

    /// WebP: the EXIF chunk of the extended format.
    private static func webp(_ file: ByteReader) -> UInt16? {
        var at = 12
        while let length = file.uint32(at + 4, bigEndian: false) {
            if file.matches("EXIF", at: at) {
                let chunk = file.part(at + 8, Int(length))
                return tiff(chunk.matches("Exif\0\0", at: 0) ? chunk.part(6, chunk.bytes.count) : chunk)
            }
            at += 8 + Int(length) + Int(length & 1)
        }
        return nil
    }

    private static func tiff(_ data: ByteReader) -> UInt16? {
        let bigEndian: Bool
        if data.matches("MM", at: 0) {
            bigEndian = true
        } else if data.matches("II", at: 0) {
            bigEndian = false
        } else {
            return nil
        }
        guard data.uint16(2, bigEndian: bigEndian) == 42, let directory = data.uint32(4, bigEndian: bigEndian),
            let count = data.uint16(Int(directory), bigEndian: bigEndian)
        else { return nil }
        for index in 0..<Int(count) {
            let entry = Int(directory) + 2 + 12 * index
            guard let tag = data.uint16(entry, bigEndian: bigEndian) else { return nil }
            guard tag == 0x0112 else { continue }
            switch data.uint16(entry + 2, bigEndian: bigEndian) {
            case 3: return data.uint16(entry + 8, bigEndian: bigEndian)
            case 4: return data.uint32(entry + 8, bigEndian: bigEndian).flatMap { UInt16(exactly: $0) }
            default: return nil
            }
        }
        return nil
    }
}
