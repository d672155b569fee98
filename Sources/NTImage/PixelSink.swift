/// Where prepared pixels go. The memory belongs to the caller; its size is what the geometry and the colour say.
enum PixelSink {
    /// Floats 0...255, [channels][height][width].
    case planar(UnsafeMutablePointer<Float>)
    /// Floats 0...255, [height][width][channels].
    case interleaved(UnsafeMutablePointer<Float>)
    /// Bytes in a format of one plane.
    case bytes(UnsafeMutableRawPointer, bytesPerRow: Int, format: PixelFormat)
}
