import CNTKernels
import CNTPlatform
import NTGraph
import NTRuntime
import NTTensor

/// Runs graphs on the processor's vector units: packed weights, channels-last images, fused convolutions, threads of its own.
///
/// The instruction set is the best that `nt_isa_bits()` allows when a graph is compiled. Results do not depend on the number of threads.
package struct CPUBackend: Backend {
    package let name = "cpu"
    package let threadCount: Int
    /// Threads that work at a time: no more than the cores that the process may use, since those beyond would only keep each other waiting.
    package let workerCount: Int
    private let pool: ThreadPool

    /// A backend that divides each graph's work among `threadCount` threads, at least 1.
    package init(threadCount: Int = Int(nt_usable_cores())) {
        self.threadCount = max(1, threadCount)
        workerCount = min(self.threadCount, max(1, Int(nt_usable_cores())))
        pool = ThreadPool(threadCount: workerCount)
    }

    package var deviceDescription: String {
        "\(String(cString: nt_cpu_brand())), \(String(cString: nt_isa_name(nt_isa_bits()))), "
            + (threadCount == 1 ? "1 thread" : "\(threadCount) threads" + (workerCount < threadCount ? " asked for, \(workerCount) used" : ""))
    }

    /// Calls `body` for each share 0..<`count`, on the backend's threads where these are free, else one after another.
    package func share(_ count: Int, _ body: @Sendable (Int) -> Void) { pool.share(count, body) }

    package func claim(_ node: Node, in graph: Graph) -> Claim { Support.claim(node, in: graph) }

    /// What a precision stands for on this processor: bfloat16 and float16 where it multiplies them, `fast` the fastest that it has, and the
    /// others themselves; float32 where there is nothing else.
    package static func resolved(_ precision: Precision) -> Precision { resolved(precision, nt_isa_bits()) }

    static func resolved(_ precision: Precision, _ isa: UInt32) -> Precision {
        func has(_ element: Int) -> Bool { nt_gemm_choose_element(Int32(element), 1, 1, 1, isa) != nil }
        let (bfloat16, float16) = (has(NT_ELEMENT_BFLOAT16), has(NT_ELEMENT_FLOAT16))
        switch precision {
        case .float32, .float32Winograd: return precision
        case .bfloat16: return bfloat16 ? .bfloat16 : .float32
        case .float16: return float16 ? .float16 : .float32
        case .fast: return bfloat16 ? .bfloat16 : float16 ? .float16 : .float32Winograd
        }
    }

    /// The element, NT_ELEMENT_, that a precision's convolutions compute on.
    static func element(_ precision: Precision, _ isa: UInt32) -> Int32 {
        switch resolved(precision, isa) {
        case .bfloat16: Int32(NT_ELEMENT_BFLOAT16)
        case .float16: Int32(NT_ELEMENT_FLOAT16)
        case .float32, .float32Winograd, .fast: Int32(NT_ELEMENT_FLOAT32)
        }
    }

    /// What multiply-adds on an element are called.
    static func arithmetic(_ element: Int32) -> Arithmetic {
        switch Int(element) {
        case NT_ELEMENT_BFLOAT16: .bfloat16
        case NT_ELEMENT_FLOAT16: .float16
        default: .float32
        }
    }

    /// An element of two in a slot as step descriptions name it.
    static func name(_ element: Int32) -> String { element == Int32(NT_ELEMENT_FLOAT16) ? "Float16" : "BFloat16" }

    package func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
        var builder = PlanBuilder(
            partition, threads: threadCount, precision: options.precision, packedWeights: options.packedWeights)
        try builder.build()
        return try CPUPartition(builder, pool: pool)
    }
}
