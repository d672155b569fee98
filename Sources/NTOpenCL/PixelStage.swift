import Foundation
import NTRuntime
import NTTensor

/// Makes images of one state's inputs from pictures' bytes. Safe from any thread: commands are queued under a lock, nothing is waited for under it.
final class PixelStage: @unchecked Sendable {
    private let context: DeviceContext
    private let style: DeviceStyle
    private let queue: CommandQueue
    private let lock = NSLock()
    /// Stored pixels as they came; narrowed lines; tables. They grow with what is asked and serve one picture after the other in the queue's order.
    private var bytes: DeviceBuffer?
    private var middle: DeviceBuffer?
    private var tables: DeviceBuffer?
    /// What `tables` holds.
    private var resampling: PixelResampling?
    private var kernels: [ProgramKey: SizedKernel] = [:]
    /// Images made and not yet used, by input.
    private var staged: [Int: Set<Int>] = [:]

    init(_ context: DeviceContext, style: DeviceStyle, queue: CommandQueue) {
        (self.context, self.style, self.queue) = (context, style, queue)
    }

    /// The images staged since this was last called, by input.
    func takeStaged() -> [Int: Set<Int>] {
        lock.withLock {
            defer { staged = [:] }
            return staged
        }
    }

    /// Queues what makes image `image` in `target`, an input of [N][channels][height][width] floats, and waits until the picture's bytes have been read.
    /// False, with nothing done, for a picture that the device's limits or the kernels' 32-bit indices exclude.
    func stage(_ pixels: PixelUpload, input: Int, image: Int, into target: DeviceBuffer, targetBytes: Int) throws -> Bool {
        guard let layout = PixelLayout(pixels, image: image, targetBytes: targetBytes, device: context.device) else { return false }
        let narrowKey = ProgramKey(source: .pixels, macros: layout.narrowMacros)
        let combineKey = ProgramKey(source: .pixels, macros: layout.combineMacros)
        let (narrowProgram, combineProgram) = (try context.program(narrowKey), try context.program(combineKey))
        var transfers: Transfers?
        do {
            do {
                lock.lock()
                defer { lock.unlock() }
                let narrow = try kernel(narrowKey, narrowProgram, "nt_narrow")
                let combine = try kernel(combineKey, combineProgram, "nt_combine")
                transfers = try upload(pixels, layout)
                try launch(narrow, combine, layout, pixels.resampling, target)
                try queue.flush()
                staged[input, default: []].insert(image)
            }
            try transfers?.wait()
        } catch {
            queue.abandon()
            throw error
        }
        return true
    }

    /// Copies on their way, and the tables that one of them reads.
    private struct Transfers {
        var events: [DeviceEvent] = []
        var tables: TensorBuffer?

        func wait() throws(OpenCLError) {
            for event in events { try event.wait() }
            withExtendedLifetime(tables) {}
        }
    }

    /// A kernel and the style of what the device allows it.
    private typealias SizedKernel = (kernel: DeviceKernel, style: DeviceStyle)

    private func kernel(_ key: ProgramKey, _ program: DeviceProgram, _ entry: String) throws(OpenCLError) -> SizedKernel {
        if let known = kernels[key] { return known }
        let kernel = try DeviceKernel(program, entry: entry)
        let made = (kernel, style.within(.workItems, kernel.limits(on: context.device).workItems) ?? style)
        kernels[key] = made
        return made
    }

    /// Queues the copies of tables, when they are new, and of the picture's planes.
    private func upload(_ pixels: PixelUpload, _ layout: PixelLayout) throws -> Transfers {
        var transfers = Transfers()
        if resampling != pixels.resampling {
            resampling = nil
            let values = try Self.tableValues(pixels.resampling)
            let buffer = try Self.buffer(&tables, atLeast: values.byteCount, context)
            transfers.tables = values
            transfers.events.append(
                try queue.write(
                    rows: UnsafeRawPointer(values.base), bytesPerRow: values.byteCount, width: values.byteCount, height: 1, to: buffer,
                    offset: 0))
            resampling = pixels.resampling
        }
        let bytes = try Self.buffer(&bytes, atLeast: layout.sourceBytes, context)
        for (plane, offset) in zip(pixels.planes, layout.planeOffsets) {
            transfers.events.append(
                try queue.write(
                    rows: plane.base, bytesPerRow: plane.bytesPerRow, width: plane.width, height: plane.height, to: bytes, offset: offset))
        }
        return transfers
    }

    private static func tableValues(_ resampling: PixelResampling) throws -> TensorBuffer {
        let (x, y) = (resampling.x, resampling.y)
        let values = x.first + x.used + x.weights + y.first + y.used + y.weights
        let buffer = try TensorBuffer(byteCount: values.count * MemoryLayout<Int32>.stride)
        values.withUnsafeBytes { if let base = $0.baseAddress { buffer.base.copyMemory(from: base, byteCount: $0.count) } }
        return buffer
    }

    /// The buffer, or in its place a new one that holds as many bytes. Commands in the queue keep the one before alive.
    private static func buffer(_ held: inout DeviceBuffer?, atLeast byteCount: Int, _ context: DeviceContext) throws(OpenCLError) -> DeviceBuffer {
        if let known = held, known.byteCount >= byteCount { return known }
        held = nil
        let made = try DeviceBuffer(context, byteCount: byteCount)
        held = made
        return made
    }

    private func launch(
        _ narrow: SizedKernel, _ combine: SizedKernel, _ layout: PixelLayout, _ resampling: PixelResampling, _ target: DeviceBuffer
    ) throws(OpenCLError) {
        guard let bytes, let tables else { return }
        let middle = try Self.buffer(&middle, atLeast: layout.middleBytes, context)
        let (columns, lines) = (layout.narrow[0], layout.narrow[1])
        let (inner, outer) = resampling.isTransposed ? (lines, columns) : (columns, lines)
        try launch(narrow, [bytes, tables, middle], layout.narrow, inner: inner, outer: outer)
        try launch(combine, [middle, tables, target], layout.combine, inner: resampling.width, outer: resampling.height)
    }

    /// Sets the arguments - buffers, two numbers, the run, the rest - and queues the kernel. On wide cores a work-item takes a whole row.
    private func launch(
        _ made: SizedKernel, _ buffers: [DeviceBuffer], _ numbers: [Int], inner: Int, outer: Int
    ) throws(OpenCLError) {
        let (kernel, style) = made
        let run = style.family == .wideCores ? inner : 1
        kernel.releaseBuffers()
        for (index, buffer) in buffers.enumerated() { try kernel.set(index, buffer) }
        var numbers = numbers
        numbers.insert(run, at: 2)
        for (index, number) in numbers.enumerated() { try kernel.set(buffers.count + index, Int32(clamping: number)) }
        let range = style.range([(inner + run - 1) / run, outer])
        try queue.launch(kernel, global: range.global, local: range.local)
    }
}
