import CNTKernels

/// Rows of bfloat16 numbers in guarded memory: `count` numbers a row, rows `stride` slots apart, what lies between them NaN.
struct PairMemory {
    let slots: KernelMemory
    let count: Int
    let stride: Int

    /// Rows filled with `value` of row and index. An odd count's last upper half, which has no meaning, gets a number all the same.
    init(rows: Int, count: Int, stride: Int, offset: Int = 0, _ value: (Int, Int) -> Float) {
        (self.count, self.stride) = (count, stride)
        slots = KernelMemory(rows * stride, offset: offset)
        for row in 0..<rows {
            for index in 0..<(2 * nt_slots(Int32(NT_ELEMENT_BFLOAT16), count)) {
                set(row, index, to: index < count ? value(row, index) : 3)
            }
        }
    }

    /// Rows not yet written.
    init(rows: Int, count: Int, stride: Int) {
        (self.count, self.stride) = (count, stride)
        slots = KernelMemory(rows * stride)
    }

    var start: UnsafeMutablePointer<Float> { slots.start }

    private func halves(_ row: Int) -> UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(slots.start + row * stride).assumingMemoryBound(to: UInt16.self)
    }

    private func set(_ row: Int, _ index: Int, to value: Float) { halves(row)[index] = nt_bfloat16_bits(value) }

    subscript(row: Int, index: Int) -> Float { nt_bfloat16_value(halves(row)[index]) }

    /// Whether no slot outside the rows' numbers was written.
    func isIntact(rows: Int) -> Bool {
        let used = nt_slots(Int32(NT_ELEMENT_BFLOAT16), count)
        return slots.isIntact && (0..<rows).allSatisfy { row in (used..<stride).allSatisfy { slots.start[row * stride + $0].isNaN } }
    }

    /// The nearest bfloat16.
    static func rounded(_ value: Float) -> Float { nt_bfloat16_value(nt_bfloat16_bits(value)) }
}
