import CNTKernels

/// What has to be done to a stored row before it can be resampled.
enum RowConversion {
    /// One or four bytes a pixel already.
    case none
    /// Three bytes to four.
    case widen
    /// Four or three bytes to luma.
    case lumaOf4
    case lumaOf3
    /// Two planes to red, green, blue, 255.
    case nv12(videoRange: Bool)
    /// Two planes to red, green, blue and then to luma.
    case nv12Luma(videoRange: Bool)

    init(from format: PixelFormat, toLuma: Bool) {
        switch format {
        case .gray8: self = .none
        case .rgb8, .bgr8: self = toLuma ? .lumaOf3 : .widen
        case .rgba8, .bgra8, .argb8, .abgr8: self = toLuma ? .lumaOf4 : .none
        case .nv12FullRange: self = toLuma ? .nv12Luma(videoRange: false) : .nv12(videoRange: false)
        case .nv12VideoRange: self = toLuma ? .nv12Luma(videoRange: true) : .nv12(videoRange: true)
        }
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// Whether a second row of four bytes a pixel is needed on the way.
    var needsIntermediate: Bool {
        if case .nv12Luma = self { true } else { false }
    }

    /// Converts `count` pixels of row `row` from column `column` (even for two planes) on.
    func convert(
        _ view: PixelView, row: Int, column: Int, count: Int, into out: UnsafeMutablePointer<UInt8>,
        intermediate: UnsafeMutablePointer<UInt8>?, kernels: nt_image_kernels
    ) {
        let source = (view.base + row * view.bytesPerRow + column * view.format.bytesPerPixel).assumingMemoryBound(to: UInt8.self)
        let offsets = view.format.channelOffsets
        let (red, green, blue) = (Int32(offsets.red), Int32(offsets.green), Int32(offsets.blue))
        switch self {
        case .none: break
        case .widen: kernels.px4_from_px3(source, out, count)
        case .lumaOf4: kernels.luma_from_px4(source, out, count, red, green, blue)
        case .lumaOf3: kernels.luma_from_px3(source, out, count, red, green, blue)
        case .nv12(let videoRange), .nv12Luma(let videoRange):
            guard let chroma = view.chromaBase else { return }
            let pairs = (chroma + (row / 2) * view.chromaBytesPerRow + column).assumingMemoryBound(to: UInt8.self)
            guard needsIntermediate, let intermediate else {
                kernels.rgbx_from_nv12(source, pairs, out, count, videoRange ? 1 : 0)
                return
            }
            kernels.rgbx_from_nv12(source, pairs, intermediate, count, videoRange ? 1 : 0)
            kernels.luma_from_px4(intermediate, out, count, 0, 1, 2)
        }
    }
}
