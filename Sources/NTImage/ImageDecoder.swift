import CNTCodecs

/// Turns the bytes of a JPEG, PNG or WebP file into pixels. Stateless; any thread.
package enum ImageDecoder {
    /// Decodes `bytes`.
    ///
    /// - JPEG: grey stays one channel; YCbCr, RGB, CMYK and YCCK (inks stored inverted, as all known files are) become `.rgba8`.
    ///   With a `geometry` whose target is small enough, the picture is decoded at 1/2, 1/4 or 1/8 of its size; columns that the
    ///   geometry cuts off hold nothing of meaning.
    /// - PNG: grey stays one channel, 16 bits keep the high byte, palettes are looked up, alpha is dropped.
    /// - WebP: lossy and lossless; of an animation the first frame, on black.
    /// - Parameter name: what to call the picture in errors.
    /// - Throws: `ImageError`.
    package static func decode(_ bytes: UnsafeRawBufferPointer, name: String? = nil, for geometry: ImageGeometry? = nil) throws -> Image {
        do {
            let format = try checkedFormat(of: bytes)
            let orientation = ExifOrientation.find(in: bytes, format: format)
            switch format {
            case .jpeg: return try jpeg(bytes, orientation: orientation, geometry: geometry)
            case .png: return try png(bytes, orientation: orientation)
            case .webp: return try WebPDecoder.decode(bytes, orientation: orientation)
            }
        } catch let error as ImageError {
            throw error.named(name)
        }
    }

    /// The format, after the checks that need only the bytes' number and beginning.
    static func checkedFormat(of bytes: UnsafeRawBufferPointer) throws -> ImageFileFormat {
        guard bytes.count > 0 else {
            throw ImageError(.truncated, "an empty file, or a pipe that nobody writes to; expected a JPEG, PNG or WebP picture")
        }
        guard bytes.count <= ImageLimits.maximumFileByteCount else {
            throw ImageError(.tooLarge, "\(bytes.count) bytes; the limit for a picture is \(ImageLimits.maximumFileByteCount)")
        }
        guard let format = ImageFileFormat(sniffing: bytes) else {
            let start = bytes.prefix(8).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }
            throw ImageError(
                .unknownFormat,
                "not a JPEG, PNG or WebP picture (it begins \(start.joined(separator: " ")))")
        }
        return format
    }

    static var limits: nt_codec_limits {
        nt_codec_limits(
            max_pixels: UInt64(ImageLimits.maximumPixelCount), max_scans: UInt32(ImageLimits.maximumScanCount),
            max_scan_pixels: UInt64(ImageLimits.maximumScanPixelCount))
    }

    private static func jpeg(_ bytes: UnsafeRawBufferPointer, orientation: ImageOrientation, geometry: ImageGeometry?) throws -> Image {
        var error = nt_codec_error()
        var info = nt_codec_info()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let decoder = nt_jpeg_open(start, bytes.count, limits, &info, &error) else { throw ImageError(error, format: "JPEG") }
        defer { nt_jpeg_close(decoder) }
        let (width, height) = (Int(info.width), Int(info.height))
        let denominator = geometry?.reduction(forWidth: width, height: height, orientation: orientation) ?? 1
        if denominator > 1, !nt_jpeg_reduce(decoder, UInt32(denominator), &info, &error) { throw ImageError(error, format: "JPEG") }
        let extent = (Double(width) / Double(denominator), Double(height) / Double(denominator))
        let columns =
            geometry?.columns(ofWidth: Int(info.width), height: Int(info.height), extent: extent, orientation: orientation) ?? 0..<Int(info.width)
        return try Image(
            format: info.channels == 1 ? .gray8 : .rgba8, width: Int(info.width), height: Int(info.height),
            originalSize: (width, height), extent: extent, orientation: orientation
        ) { memory, bytesPerRow in
            let start = memory.assumingMemoryBound(to: UInt8.self)
            guard nt_jpeg_decode(decoder, UInt32(columns.lowerBound), UInt32(columns.count), start, bytesPerRow, &error) else {
                throw ImageError(error, format: "JPEG")
            }
        }
    }

    private static func png(_ bytes: UnsafeRawBufferPointer, orientation: ImageOrientation) throws -> Image {
        var error = nt_codec_error()
        var info = nt_codec_info()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let decoder = nt_png_open(start, bytes.count, limits, &info, &error) else { throw ImageError(error, format: "PNG") }
        defer { nt_png_close(decoder) }
        return try Image(
            format: info.channels == 1 ? .gray8 : .rgba8, width: Int(info.width), height: Int(info.height), orientation: orientation
        ) { memory, bytesPerRow in
            guard nt_png_decode(decoder, memory.assumingMemoryBound(to: UInt8.self), bytesPerRow, &error) else {
                throw ImageError(error, format: "PNG")
            }
        }
    }
}

extension ImageError {
    /// What a codec reported.
    init(_ error: nt_codec_error, format: String) {
        let text = withUnsafeBytes(of: error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        switch error.code {
        case Int32(NT_CODEC_TRUNCATED): self.init(.truncated, "truncated \(format): \(text)")
        case Int32(NT_CODEC_UNSUPPORTED): self.init(.unsupported, "unsupported \(format): \(text)")
        case Int32(NT_CODEC_TOO_LARGE):
            self.init(.tooLarge, "\(format) over the limit (\(ImageLimits.maximumPixelCount) pixels): \(text)")
        case Int32(NT_CODEC_NO_MEMORY): self.init(.outOfMemory, "no memory to decode the \(format): \(text)")
        default: self.init(.corrupt, "corrupt \(format): \(text)")
        }
    }
}
