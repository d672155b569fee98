import CNTKernels

extension ResampleRun {
    private var target: (width: Int, height: Int) { (plan.key.geometry.width, plan.key.geometry.height) }

    /// Makes the target black where the picture will not be drawn.
    func clearMargins() {
        let drawn = plan.placement.drawn
        guard drawn.width < target.width || drawn.height < target.height else { return }
        let channels = plan.key.color.channelCount
        switch sink {
        case .planar(let base), .interleaved(let base): base.update(repeating: 0, count: channels * target.width * target.height)
        case .bytes(let base, let bytesPerRow, let format):
            for y in 0..<target.height {
                let row = (base + y * bytesPerRow).assumingMemoryBound(to: UInt8.self)
                row.update(repeating: 0, count: target.width * format.bytesPerPixel)
                guard let alpha = format.alphaOffset else { continue }
                for x in 0..<target.width { row[x * format.bytesPerPixel + alpha] = 255 }
            }
        }
    }

    /// Stores `count` finished pixels from (x, y) of the drawn rectangle on, rightwards or downwards.
    func store(_ line: UnsafeMutablePointer<UInt8>, count: Int, x: Int, y: Int, alongColumn: Bool) {
        let (column, row) = (x + plan.placement.drawn.x, y + plan.placement.drawn.y)
        switch sink {
        case .planar(let base):
            let plane = target.width * target.height
            storeFloats(
                line, count: count, at: base + row * target.width + column, channelStep: plane, step: alongColumn ? target.width : 1)
        case .interleaved(let base):
            let channels = plan.key.color.channelCount
            storeFloats(
                line, count: count, at: base + (row * target.width + column) * channels, channelStep: 1,
                step: channels * (alongColumn ? target.width : 1))
        case .bytes(let base, let bytesPerRow, let format):
            let at = (base + row * bytesPerRow + column * format.bytesPerPixel).assumingMemoryBound(to: UInt8.self)
            storeBytes(line, count: count, at: at, step: alongColumn ? bytesPerRow : format.bytesPerPixel, format: format)
        }
    }

    private func storeFloats(
        _ line: UnsafeMutablePointer<UInt8>, count: Int, at base: UnsafeMutablePointer<Float>, channelStep: Int, step: Int
    ) {
        let channels = plan.key.color.channelCount
        let second = channels == 3 ? base + channelStep : nil
        let third = channels == 3 ? base + 2 * channelStep : nil
        let places = nt_float_channels(base: (base, second, third), step: step)
        if plan.pixelBytes == 1 {
            kernels.floats_from_px1(line, count, places, Int32(channels))
        } else {
            let (red, green, blue) = plan.offsets
            var offsets = plan.key.color == .bgr ? (blue, green, red) : (red, green, blue)
            withUnsafeBytes(of: &offsets) {
                kernels.floats_from_px4(line, count, $0.baseAddress?.assumingMemoryBound(to: Int32.self), places, Int32(channels))
            }
        }
    }

    private func storeBytes(_ line: UnsafeMutablePointer<UInt8>, count: Int, at base: UnsafeMutablePointer<UInt8>, step: Int, format: PixelFormat) {
        let (red, green, blue) = plan.offsets
        var from = (red, green, blue)
        let places = format.channelOffsets
        var to = (Int32(places.red), Int32(places.green), Int32(places.blue))
        withUnsafeBytes(of: &from) { from in
            withUnsafeBytes(of: &to) { to in
                kernels.bytes_from_px(
                    line, plan.pixelBytes, count, from.baseAddress?.assumingMemoryBound(to: Int32.self), base, step,
                    to.baseAddress?.assumingMemoryBound(to: Int32.self), Int32(format.alphaOffset ?? -1), format == .gray8 ? 1 : 3)
            }
        }
    }
}
