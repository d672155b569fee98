import CNTKernels
import NTRuntime
import NTTensor

/// What one run at a time owns: the arena, scratch for each thread, and the address of every buffer.
final class CPUState: PartitionState {
    private let arenaBuffer: TensorBuffer
    private let scratchBuffer: TensorBuffer
    let arena: UnsafeMutablePointer<Float>
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
    let seconds: UnsafeMutablePointer<Double>
    var program: nt_program_state
    var usesOneThread = false

    init(arenaCount: Int, scratchCount: Int, scratchStride: Int, bufferCount: Int, stepCount: Int) throws {
        arenaBuffer = try TensorBuffer(byteCount: arenaCount * 4)
        scratchBuffer = try TensorBuffer(byteCount: scratchCount * 4)
        arena = arenaBuffer.base.bindMemory(to: Float.self, capacity: max(1, arenaCount))
        pointers = .allocate(capacity: max(1, bufferCount))
        pointers.initialize(repeating: nil, count: max(1, bufferCount))
        seconds = .allocate(capacity: max(1, stepCount))
        seconds.initialize(repeating: 0, count: max(1, stepCount))
        program = nt_program_state(
            buffers: pointers, scratch: scratchBuffer.base.bindMemory(to: Float.self, capacity: max(1, scratchCount)),
            scratch_stride: scratchStride, seconds: nil, failed_step: 0)
    }

    deinit {
        pointers.deallocate()
        seconds.deallocate()
    }
}
