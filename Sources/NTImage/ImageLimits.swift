/// Hard limits against files made to exhaust memory or time. Checked before anything of that size is allocated.
package enum ImageLimits {
    /// Bytes of an encoded file: 256 MiB.
    package static let maximumFileByteCount = 256 << 20
    /// Pixels of a picture, width times height: 178,956,970 (a 13,377-pixel square).
    package static let maximumPixelCount = 178_956_970
    /// Scans of a progressive JPEG; ordinary files have about ten.
    package static let maximumScanCount = 100
    /// Scans times pixels of a progressive JPEG, which bounds the decoding time.
    package static let maximumScanPixelCount = 1 << 31
    /// Pixels along one side of a raw buffer or of a target.
    package static let maximumSide = 1 << 20
    /// Pixels of a target: 64 Mi.
    package static let maximumTargetPixelCount = 1 << 26
}
