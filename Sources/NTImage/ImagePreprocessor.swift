import CNTKernels
import CNTPlatform

/// From any picture to a network's input in one pass: orientation, region of interest, crop, antialiased resize, channel order.
///
/// Values are whole numbers 0...255, the bytes that Pillow's `resize(BILINEAR, box:)` gives, stored as floats or bytes.
/// A value type without state of its own; scratch memory is pooled. Any number of threads may prepare pictures at once.
package struct ImagePreprocessor: Sendable, Hashable {
    package var geometry: ImageGeometry
    package var color: ImageColor

    package init(geometry: ImageGeometry, color: ImageColor = .rgb) {
        self.geometry = geometry
        self.color = color
    }

    /// Floats of one prepared picture: channels * height * width.
    package var elementCount: Int { color.channelCount * geometry.height * geometry.width }

    /// Fills `out` with floats 0...255, laid out [channels][height][width]; a large picture in shares, as `sharing` runs them. The values are the same.
    /// - Throws: `ImageError`, also when `out` holds fewer than `elementCount` elements.
    package func writePlanar(_ source: some PixelSource, into out: UnsafeMutableBufferPointer<Float>, sharing: WorkSharing? = nil) throws {
        let target = try checked(out)
        try withPlan(source) { view, key in try run(key, view, into: .planar(target), sharing: sharing) }
    }

    /// Fills `out` with floats 0...255, laid out [height][width][channels].
    /// - Throws: `ImageError`, also when `out` holds fewer than `elementCount` elements.
    package func writeInterleaved(_ source: some PixelSource, into out: UnsafeMutableBufferPointer<Float>) throws {
        try prepare(source, into: .interleaved(checked(out)))
    }

    /// Fills `geometry.height` rows of `geometry.width` pixels, `bytesPerRow` apart, in a format of one plane. `color` must be
    /// `.grayscale` exactly when `format` is `.gray8`; fourth bytes become 255.
    /// - Throws: `ImageError`, also for a buffer that is too small.
    package func writePixels(
        _ source: some PixelSource, into out: UnsafeMutableRawBufferPointer, bytesPerRow: Int, format: PixelFormat
    ) throws {
        guard !format.isBiplanar, (format == .gray8) == (color == .grayscale) else {
            throw ImageError(.invalidArgument, "\(color) pixels into a \(format) buffer")
        }
        let needed = try PixelView.minimumBytesPerRow(format: format, width: geometry.width, height: geometry.height)
        let (whole, overflow) = bytesPerRow.multipliedReportingOverflow(by: geometry.height - 1)
        guard bytesPerRow >= needed, !overflow, whole <= out.count - needed, let base = out.baseAddress else {
            throw ImageError(
                .invalidArgument,
                "a buffer of \(out.count) bytes in rows of \(bytesPerRow) for \(geometry.width) x \(geometry.height) \(format) pixels")
        }
        try prepare(source, into: .bytes(base, bytesPerRow: bytesPerRow, format: format))
    }

    /// A new picture of the target's size: `.gray8` for `.grayscale`, else `.rgba8`.
    /// - Throws: `ImageError`.
    package func prepared(_ source: some PixelSource) throws -> Image {
        let format: PixelFormat = color == .grayscale ? .gray8 : .rgba8
        let colored = ImagePreprocessor(geometry: geometry, color: color == .grayscale ? .grayscale : .rgb)
        return try Image(format: format, width: geometry.width, height: geometry.height) { memory, bytesPerRow in
            let all = UnsafeMutableRawBufferPointer(start: memory, count: bytesPerRow * geometry.height)
            try colored.writePixels(source, into: all, bytesPerRow: bytesPerRow, format: format)
        }
    }

    func checked(_ out: UnsafeMutableBufferPointer<Float>) throws -> UnsafeMutablePointer<Float> {
        _ = try PixelView.minimumBytesPerRow(format: .rgba8, width: geometry.width, height: geometry.height)
        guard out.count >= elementCount, let base = out.baseAddress else {
            throw ImageError(
                .invalidArgument,
                "a buffer of \(out.count) elements; expected \(color.channelCount) x \(geometry.height) x \(geometry.width)")
        }
        return base
    }

    private func prepare(_ source: some PixelSource, into sink: PixelSink) throws {
        try withPlan(source) { view, key in try run(key, view, into: sink) }
    }

    /// Lends the source's pixels and the key of the plan for them.
    func withPlan(_ source: some PixelSource, _ body: (PixelView, ResamplePlan.Key) throws -> Void) throws {
        let orientation = source.storedOrientation.followed(by: geometry.orientation ?? source.embeddedOrientation)
        try source.withPixels(for: geometry) { view in
            try body(
                view,
                ResamplePlan.Key(
                    geometry: geometry, color: color, orientation: orientation, format: view.format, width: view.width,
                    height: view.height, extentWidth: view.extentWidth, extentHeight: view.extentHeight))
        }
    }

    /// Prepares lent pixels.
    func run(_ key: ResamplePlan.Key, _ view: PixelView, into sink: PixelSink, sharing: WorkSharing? = nil) throws {
        try ResampleWorkspace.withWorkspace { workspace in
            let plan = try workspace.plan(for: key)
            let shares = sharing?.shareCount(plan) ?? 1
            let stride = (plan.layout.byteCount + 63) / 64 * 64
            let (bytes, overflow) = stride.multipliedReportingOverflow(by: shares)
            guard !overflow else { throw ImageError(.outOfMemory, "no memory for \(shares) times \(stride) bytes of scratch space") }
            let scratch = try workspace.scratch(bytes)
            let kernels = nt_image_kernels_for(nt_isa_bits()).pointee
            let run = ResampleRun(plan: plan, view: view, sink: sink, kernels: kernels, scratch: scratch)
            run.clearMargins()
            guard let sharing, shares > 1 else { return run.share(0, of: 1) }
            sharing.run(shares) { share in
                var own = run
                own.scratch += share * stride
                own.share(share, of: shares)
            }
        }
    }
}
