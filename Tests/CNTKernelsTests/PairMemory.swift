import CNTKernels
import CNTPlatform

/// Rows of numbers of an element of two in a slot, bfloat16 or float16, in guarded memory: `count` numbers a row, rows `stride` slots apart, what lies between them NaN.
struct PairMemory {
    let element: Int32
    let slots: KernelMemory
    let count: Int
    let stride: Int

    /// Rows filled with `value` of row and index. An odd count's last upper half, which has no meaning, gets the largest number all the same.
    init(_ element: Int32, rows: Int, count: Int, stride: Int, offset: Int = 0, _ value: (Int, Int) -> Float) {
        (self.element, self.count, self.stride) = (element, count, stride)
        slots = KernelMemory(rows * stride, offset: offset)
        for row in 0..<rows {
            for index in 0..<(2 * nt_slots(element, count)) {
                set(row, index, to: index < count ? value(row, index) : element == NT_ELEMENT_BFLOAT16 ? 0x1.FEp127 : 65504)
            }
        }
    }

    /// Rows not yet written.
    init(_ element: Int32, rows: Int, count: Int, stride: Int) {
        (self.element, self.count, self.stride) = (element, count, stride)
        slots = KernelMemory(rows * stride)
    }

    var start: UnsafeMutablePointer<Float> { slots.start }

    private func halves(_ row: Int) -> UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(slots.start + row * stride).assumingMemoryBound(to: UInt16.self)
    }

    private func set(_ row: Int, _ index: Int, to value: Float) { halves(row)[index] = nt_half_bits(element, value) }

    subscript(row: Int, index: Int) -> Float { nt_half_value(element, halves(row)[index]) }

    /// Whether no slot outside the rows' numbers was written.
    func isIntact(rows: Int) -> Bool {
        let used = nt_slots(element, count)
        return slots.isIntact && (0..<rows).allSatisfy { row in (used..<stride).allSatisfy { slots.start[row * stride + $0].isNaN } }
    }
}

/// The instruction sets of this processor, the model of AVX512-FP16 where there is AVX-512, and that of AMX's tiles where there is AVX512-BF16.
let pairISA =
    availableISA | (availableISA & UInt32(NT_ISA_AVX512) == 0 ? 0 : UInt32(NT_ISA_FLOAT16_MODEL))
    | (availableISA & UInt32(NT_ISA_AVX512_BF16) == 0 ? 0 : UInt32(NT_ISA_AMX_MODEL))

/// Every GEMM kernel of an element type that `pairISA` allows.
func testedKernels(_ element: Int32) -> [UnsafePointer<nt_gemm_kernel>] {
    (0..<nt_gemm_kernel_count()).compactMap(nt_gemm_kernel_at).filter {
        $0.pointee.element == element && $0.pointee.isa & pairISA == $0.pointee.isa
    }
}
