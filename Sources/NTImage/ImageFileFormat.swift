/// The file formats that are decoded, told apart by their first bytes and never by a file's name.
package enum ImageFileFormat: String, Sendable {
    case jpeg = "JPEG"
    case png = "PNG"
    case webp = "WebP"

    /// The format of `bytes`, or nil.
    package init?(sniffing bytes: UnsafeRawBufferPointer) {
        func begins(_ magic: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count >= offset + magic.count && magic.indices.allSatisfy { bytes[offset + $0] == magic[$0] }
        }
        if begins([0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if begins([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) {
            self = .png
        } else if begins(Array("RIFF".utf8)), begins(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else {
            return nil
        }
    }
}
