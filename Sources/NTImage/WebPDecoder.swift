import CWebP

/// WebP through libwebp.
enum WebPDecoder {
    /// Decodes to `.rgba8`. Alpha is dropped: colours stay as they are stored. An animation gives its first frame on black.
    static func decode(_ bytes: UnsafeRawBufferPointer, orientation: ImageOrientation) throws -> Image {
        // The last byte may be padding that some writers leave out.
        if let declared = ByteReader(bytes: bytes).uint32(4, bigEndian: false), Int(declared) + 8 > bytes.count + 1 {
            throw ImageError(.truncated, "truncated WebP: \(bytes.count) bytes of \(Int(declared) + 8)")
        }
        let canvas = try features(bytes)
        let (width, height) = (Int(canvas.width), Int(canvas.height))
        return try Image(format: .rgba8, width: width, height: height, orientation: orientation) { memory, bytesPerRow in
            if canvas.has_animation == 0 {
                try decode(bytes, width: width, height: height, into: memory, bytesPerRow: bytesPerRow)
                return
            }
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow * height)
            let frame = try firstFrame(ByteReader(bytes: bytes))
            let size = try features(frame.data)
            guard frame.x + Int(size.width) <= width, frame.y + Int(size.height) <= height else {
                throw ImageError(.corrupt, "corrupt WebP: a frame lies outside its \(width) x \(height) canvas")
            }
            try decode(
                frame.data, width: Int(size.width), height: Int(size.height),
                into: memory + frame.y * bytesPerRow + 4 * frame.x, bytesPerRow: bytesPerRow)
        }
    }

    private static func features(_ bytes: UnsafeRawBufferPointer) throws -> WebPBitstreamFeatures {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &features)
        guard status == VP8_STATUS_OK else { throw error(status) }
        _ = try PixelView.minimumBytesPerRow(format: .rgba8, width: Int(features.width), height: Int(features.height))
        return features
    }

    private static func decode(
        _ bytes: UnsafeRawBufferPointer, width: Int, height: Int, into memory: UnsafeMutableRawPointer, bytesPerRow: Int
    ) throws {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { throw ImageError(.unsupported, "libwebp of another version") }
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA.rgba = memory.assumingMemoryBound(to: UInt8.self)
        config.output.u.RGBA.stride = Int32(bytesPerRow)
        config.output.u.RGBA.size = bytesPerRow * (height - 1) + 4 * width
        let status = WebPDecode(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &config)
        WebPFreeDecBuffer(&config.output)
        guard status == VP8_STATUS_OK else { throw error(status) }
    }

    /// The data of the first ANMF chunk and its place on the canvas.
    private static func firstFrame(_ file: ByteReader) throws -> (data: UnsafeRawBufferPointer, x: Int, y: Int) {
        var at = 12
        while let length = file.uint32(at + 4, bigEndian: false) {
            if file.matches("ANMF", at: at) {
                let chunk = file.part(at + 8, Int(length))
                guard let x = chunk.uint32(0, bigEndian: false), let y = chunk.uint32(3, bigEndian: false), chunk.bytes.count > 16 else { break }
                return (chunk.part(16, chunk.bytes.count).bytes, 2 * Int(x & 0xff_ffff), 2 * Int(y & 0xff_ffff))
            }
            at += 8 + Int(length) + Int(length & 1)
        }
        throw ImageError(.truncated, "truncated WebP: an animation without a whole frame")
    }

    private static func error(_ status: VP8StatusCode) -> ImageError {
        switch status {
        case VP8_STATUS_OUT_OF_MEMORY: ImageError(.outOfMemory, "no memory to decode the WebP")
        case VP8_STATUS_UNSUPPORTED_FEATURE: ImageError(.unsupported, "unsupported WebP: a feature that libwebp does not decode")
        case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED:
            ImageError(.truncated, "truncated WebP: the file ends before the picture does")
        default: ImageError(.corrupt, "corrupt WebP: libwebp status \(status.rawValue)")
        }
    }
}
