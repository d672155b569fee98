import NTGraph
import NTTensor

/// Whether a backend takes a node.
package enum Claim: Sendable, Equatable {
    case accepted
    /// The reason is shown to people: in `describe` and in profiles.
    case refused(reason: String)
}

/// What a plan is compiled for.
package struct CompileOptions: Sendable {
    package var precision: Precision
    /// Weights that were packed before, or a place to record those that are packed now; nil for neither.
    package var packedWeights: (any PackedWeights)?

    package init(precision: Precision = .float32, packedWeights: (any PackedWeights)? = nil) {
        (self.precision, self.packedWeights) = (precision, packedWeights)
    }
}

/// A place where graphs run. A backend receives a whole connected partition, so that it can fuse across nodes and choose its own layouts.
package protocol Backend: Sendable {
    /// What the flag calls it: `cpu`, `opencl`, `reference`.
    var name: String { get }
    /// The device in words, with the instruction set or driver.
    var deviceDescription: String { get }
    /// Whether the backend has an implementation for this node; a refused node runs on the reference.
    func claim(_ node: Node, in graph: Graph) -> Claim
    /// Compiles a partition: a graph of its own, of claimed nodes only, whose constants are weights.
    func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition
}

/// A partition made ready: packed weights and a list of steps. Immutable and shared by all threads.
package protocol CompiledPartition: Sendable {
    /// What runs, in order, for profiles and descriptions.
    var steps: [StepDescription] { get }

    /// Memory for one run at a time. Allocates; runs do not.
    func makeState() throws -> any PartitionState

    /// Likewise, with the memory that runs will most often be given as inputs and outputs; nil where that is not known. Runs may be given other memory. The
    /// state may keep what it is given, and use it during runs alone. Without an implementation of its own this is `makeState()`.
    func makeState(inputs: [HostMemory?], outputs: [HostMemory?]) throws -> any PartitionState

    /// Computes the partition. `inputs` and `outputs` follow the partition's graph: contiguous float32 in logical layout, aligned to 64 bytes.
    /// Each state is used by one thread at a time. When `profile` is given, adds each step's time to it.
    func run(
        _ state: any PartitionState, inputs: [UnsafeRawBufferPointer], outputs: [UnsafeMutableRawBufferPointer],
        profile: RunProfile?
    ) throws
}

extension CompiledPartition {
    package func makeState(inputs: [HostMemory?], outputs: [HostMemory?]) throws -> any PartitionState { try makeState() }
}

/// A partition that can be run on many inputs at once.
package protocol RepeatablePartition: CompiledPartition {
    /// The partition for `count` elements, each input and output being so many of this partition's, one after another; results are those of this
    /// partition to the bit. Nil when a partition compiled for so many elements is better.
    func repeated(_ count: Int) -> (any CompiledPartition)?
}

/// What one run at a time owns: an arena, bindings, queues.
package protocol PartitionState: AnyObject {
    /// Keeps runs on the caller's thread, where the backend has threads of its own to share them with. Results are the same.
    var usesOneThread: Bool { get set }
}

extension PartitionState {
    package var usesOneThread: Bool {
        get { false }
        set {}
    }
}

/// One step of a compiled partition.
package struct StepDescription: Sendable {
    /// The layers it computes, in order.
    package var layers: [String]
    /// The operators it computes: `Convolution`.
    package var operators: [String]
    /// The kernels that compute it, in order: `gemm 14x32 avx512`.
    package var kernels: [String]
    /// Why these kernels, for people: `tile tuned on this device`. Empty when there was no choice.
    package var choice = ""
    /// Floating-point operations of one run, as the operators define them.
    package var flops: Int
    /// Those that the kernels really do: fewer where a method saves multiplications.
    package var performedFlops: Int
    /// What most of them are computed in.
    package var arithmetic = Arithmetic.float32
    /// Bytes that must be read and written at least: inputs, weights, outputs.
    package var byteCount: Int
    /// The output's shape, for people.
    package var output: String

    /// The kernels as one text.
    package var kernel: String { kernels.joined(separator: " + ") }

    package init(layers: [String], operators: [String], kernel: String, flops: Int, byteCount: Int, output: String) {
        (self.layers, self.operators, kernels) = (layers, operators, kernel.isEmpty ? [] : [kernel])
        (self.flops, performedFlops, self.byteCount, self.output) = (flops, flops, byteCount, output)
    }
}
