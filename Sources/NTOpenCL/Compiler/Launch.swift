/// One argument of a kernel. Storage arguments become the buffers of the state that runs.
enum KernelArgument: Sendable, Hashable {
    case storage(Int)
    case int(Int)
    case float(Float)
}

/// One kernel call of a compiled partition.
struct Launch: Sendable {
    var program: ProgramKey
    var entry: String
    var arguments: [KernelArgument]
    /// Work-items per dimension, a multiple of `local`.
    var global: [Int]
    var local: [Int]
    /// The step it belongs to.
    var step: Int
    var reads: [Int]
    var writes: [Int]
    /// Read storages whose memory the result may take over, element by element, when no later launch reads them.
    var replaceable: [Int] = []
}

/// What a storage is.
enum StorageKind: Sendable {
    /// Weights and tables: filled once, shared by all states.
    case constant(DeviceBuffer)
    /// Activations: a place in the arena of each state.
    case arena
    /// An input or output that lies in host memory which the device uses in place.
    case shared
    /// Small flags that kernels set; cleared before each run.
    case status
}

/// A piece of device memory that launches read and write.
struct Storage: Sendable {
    var kind: StorageKind
    var byteCount: Int
}
