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
    private let pool: ThreadPool

    /// A backend that runs each graph on up to `threadCount` threads, at least 1.
    package init(threadCount: Int = Int(nt_usable_cores())) {
        self.threadCount = max(1, threadCount)
        pool = ThreadPool(threadCount: self.threadCount)
    }

    package var deviceDescription: String {
        "\(String(cString: nt_cpu_brand())), \(String(cString: nt_isa_name(nt_isa_bits()))), "
            + (threadCount == 1 ? "1 thread" : "\(threadCount) threads")
    }

    package func claim(_ node: Node, in graph: Graph) -> Claim { Support.claim(node, in: graph) }

    /// Whether the processor multiplies bfloat16 (AVX512-BF16). Without it every precision is computed in float32.
    package static var hasBFloat16: Bool { hasBFloat16(nt_isa_bits()) }

    static func hasBFloat16(_ isa: UInt32) -> Bool { nt_pool_choose_bfloat16(isa) != nil }

    package func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
        guard options.precision != .float16 else {
            throw GraphError("the cpu backend has no float16; use float32, float32-winograd, bfloat16 or fast")
        }
        var builder = PlanBuilder(
            partition, threads: threadCount, precision: options.precision, packedWeights: options.packedWeights)
        try builder.build()
        return try CPUPartition(builder, pool: pool)
    }
}
