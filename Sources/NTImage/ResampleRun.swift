import CNTKernels

/// One pass of one picture through a plan: rows are converted, narrowed, combined and stored while they are still in the cache.
///
/// Upright and mirrored pictures go columns first, then rows. Turned ones go rows first, then columns, because their stored rows are the
/// target's columns: so the target's horizontal axis is always resampled first and rounding is the same for all orientations.
///
/// Shares of one run, each with scratch memory of its own, may be computed at the same time.
struct ResampleRun: @unchecked Sendable {
    let plan: ResamplePlan
    let view: PixelView
    let sink: PixelSink
    let kernels: nt_image_kernels
    var scratch: UnsafeMutablePointer<UInt8>

    private typealias RowTable = UnsafeMutablePointer<UnsafePointer<UInt8>?>
    private typealias TargetTable = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>

    /// Four rows on their way into the horizontal pass.
    private var rowTable: RowTable { pointerTable(0).bindMemory(to: UnsafePointer<UInt8>?.self, capacity: 4) }
    /// Where the four come out.
    private var targetTable: TargetTable { pointerTable(4).bindMemory(to: UnsafeMutablePointer<UInt8>?.self, capacity: 4) }
    /// The rows that one row of the target is combined from.
    private var tapTable: RowTable { pointerTable(8).bindMemory(to: UnsafePointer<UInt8>?.self, capacity: plan.vertical.taps) }

    private func pointerTable(_ index: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(scratch + plan.layout.pointers) + index * MemoryLayout<UnsafePointer<UInt8>?>.stride
    }

    /// Share `part` of `parts` of the target, whose margins are clear: some of its rows or, turned, of its columns. Shares write different memory.
    func share(_ part: Int, of parts: Int) {
        let groups = (plan.vertical.count + 3) / 4
        let steps = groups * part / parts * 4..<min(plan.vertical.count, groups * (part + 1) / parts * 4)
        if plan.isTransposed { runTransposed(steps) } else { runUpright(steps) }
    }

    /// Row `row` ready for resampling: in place where it can be, else converted into `slot`.
    private func prepared(_ row: Int, slot: UnsafeMutablePointer<UInt8>) -> UnsafePointer<UInt8> {
        let start = (view.base + row * view.bytesPerRow).assumingMemoryBound(to: UInt8.self) + plan.column * plan.pixelBytes
        guard plan.conversion.isNone else {
            plan.conversion.convert(
                view, row: row, column: plan.column, count: plan.columnCount, into: slot, intermediate: scratch + plan.layout.intermediate,
                kernels: kernels)
            return UnsafePointer(slot)
        }
        guard plan.copiesRows else { return start }
        slot.update(from: start, count: plan.columnCount * plan.pixelBytes)
        return UnsafePointer(slot)
    }

    private func narrow(_ rows: RowTable, into out: TargetTable) {
        plan.horizontal.withTable { table in
            if plan.pixelBytes == 4 {
                kernels.resample_columns_px4(rows, out, table)
            } else {
                kernels.resample_columns_px1(rows, out, table)
            }
        }
    }

    /// Output element `i` of the vertical axis from the rows that `pointer` finds.
    private func combine(
        _ i: Int, pointers: RowTable, byteCount: Int, into out: UnsafeMutablePointer<UInt8>,
        _ pointer: (Int) -> UnsafePointer<UInt8>
    ) {
        let axis = plan.vertical
        let first = Int(axis.first[i])
        let used = Int(axis.used[i])
        for k in 0..<used { pointers[k] = pointer(first + k) }
        let taps = (used + 3) / 4 * 4
        for k in used..<taps { pointers[k] = pointers[used - 1] }
        axis.high.withUnsafeBufferPointer { high in
            axis.low.withUnsafeBufferPointer { low in
                guard let high = high.baseAddress, let low = low.baseAddress else { return }
                kernels.resample_rows(pointers, Int32(taps), high + i * axis.taps, low + i * axis.taps, out, byteCount)
            }
        }
    }

    /// Output indices in the order in which their windows go up through the stored rows.
    private func outputIndex(_ step: Int) -> Int {
        plan.vertical.isMirrored ? plan.vertical.count - 1 - step : step
    }

    private func runUpright(_ steps: Range<Int>) {
        let axis = plan.vertical
        let ring = scratch + plan.layout.ring
        let sources = scratch + plan.layout.sources
        let trash = scratch + plan.layout.trash
        let line = scratch + plan.layout.line
        let last = axis.span.upperBound - 1
        let (rows, outs, pointers) = (rowTable, targetTable, tapTable)
        func slot(_ row: Int) -> UnsafeMutablePointer<UInt8> { ring + (row % plan.ringCount) * plan.narrowStride }
        var next = axis.span.lowerBound
        for step in steps {
            let i = outputIndex(step)
            let first = Int(axis.first[i])
            let end = first + Int(axis.used[i])
            next = max(next, first)
            while next < end {
                for r in 0..<4 {
                    let row = next + r
                    rows[r] = row <= last ? prepared(row, slot: sources + r * plan.sourceStride) : rows[r - 1]
                    outs[r] = row <= last ? slot(row) : trash + r * plan.narrowStride
                }
                narrow(rows, into: outs)
                next = min(next + 4, last + 1)
            }
            combine(i, pointers: pointers, byteCount: plan.horizontal.count * plan.pixelBytes, into: line) {
                UnsafePointer(slot($0))
            }
            store(line, count: plan.horizontal.count, x: 0, y: i, alongColumn: false)
        }
    }

    private func runTransposed(_ steps: Range<Int>) {
        let axis = plan.vertical
        let ring = scratch + plan.layout.ring
        let sources = scratch + plan.layout.sources
        let narrowed = scratch + plan.layout.trash
        let (rows, outs) = (rowTable, targetTable)
        for r in 0..<4 {
            rows[r] = UnsafePointer(sources + r * plan.sourceStride)
            outs[r] = narrowed + r * plan.narrowStride
        }
        let pointers = tapTable
        func slot(_ row: Int) -> UnsafeMutablePointer<UInt8> {
            plan.conversion.isNone ? ring : ring + (row % plan.ringCount) * plan.sourceStride
        }
        var next = axis.span.lowerBound
        for start in stride(from: steps.lowerBound, to: steps.upperBound, by: 4) {
            let count = min(4, steps.upperBound - start)
            for r in 0..<count {
                let i = outputIndex(start + r)
                let first = Int(axis.first[i])
                if !plan.conversion.isNone {
                    next = max(next, first)
                    while next < first + Int(axis.used[i]) {
                        _ = prepared(next, slot: slot(next))
                        next += 1
                    }
                }
                combine(i, pointers: pointers, byteCount: plan.columnCount * plan.pixelBytes, into: sources + r * plan.sourceStride) {
                    plan.conversion.isNone ? prepared($0, slot: ring) : UnsafePointer(slot($0))
                }
            }
            narrow(rows, into: outs)
            for r in 0..<count {
                store(narrowed + r * plan.narrowStride, count: plan.horizontal.count, x: outputIndex(start + r), y: 0, alongColumn: true)
            }
        }
    }
}
