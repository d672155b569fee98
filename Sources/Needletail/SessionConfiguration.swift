import NTOpenCL
import NTRuntime

/// Where a session runs.
public enum BackendChoice: String, Sendable, CaseIterable {
    /// An OpenCL GPU when there is one, else the CPU. `Session.backendReason` says which and why.
    case auto
    /// The SIMD units of this machine's processor.
    case cpu
    /// An OpenCL device of any kind; an error when there is none.
    case opencl
    /// Plain loops in double precision: slow, the standard the others are held to.
    case reference
}

/// The arithmetic inside a session; inputs and outputs are float32 always.
public enum ComputePrecision: String, Sendable, CaseIterable {
    /// float32 throughout, every sum of products as it stands: the default.
    case float32
    /// float32, but on the CPU 3 x 3 convolutions by Winograd's method, about a quarter of the multiplications, and wide 1 x 1 ones by Strassen's, seven
    /// eighths: some 1e-5 of a layer's largest value away from plain sums.
    case float32Winograd = "float32-winograd"
    /// Half precision (11 significant bits, up to 65504): on OpenCL devices that have it, an error on others. On the CPU images, weights and products
    /// of convolutions and dense layers, sums of up to 64 products in it and what remains in float32, on processors with AVX512-FP16; others compute
    /// in float32. What exceeds 65504 becomes infinite.
    case float16
    /// Images, weights and products of convolutions and dense layers in bfloat16 (8 significant bits), sums and Winograd's method in float32, on
    /// processors with AVX512-BF16; others compute in float32. An error on OpenCL devices.
    case bfloat16
    /// The fastest that the device has in hardware.
    case fast

    var runtimePrecision: Precision {
        switch self {
        case .float32: .float32
        case .float32Winograd: .float32Winograd
        case .float16: .float16
        case .bfloat16: .bfloat16
        case .fast: .fast
        }
    }
}

/// How a session is set up.
public struct SessionConfiguration: Sendable {
    public var backend: BackendChoice
    /// Which OpenCL device, counted over all platforms as `Devices.all` lists them; nil takes the first GPU, else the first device. A number
    /// that no device has is an error, `auto` included, as is any number on the other backends.
    public var deviceIndex: Int?
    /// Threads of one run on the CPU; nil takes one per usable core. Of a number that is not in `1...maximumThreadCount` the nearest of these is taken.
    public var threadCount: Int?
    /// The most threads of one run.
    public static let maximumThreadCount = 256
    public var precision: ComputePrecision
    /// Refuses models of which a layer would run on the slow reference implementation.
    public var requiresKernels: Bool
    /// Compares the first prediction with the reference and fails when it differs or is not finite. See `Session.verification`.
    public var verifiesFirstPrediction: Bool
    /// What an OpenCL session does beside running kernels; nil for the defaults of its device.
    package var deviceFeatures: DeviceFeatures?

    public init(
        backend: BackendChoice = .auto, deviceIndex: Int? = nil, threadCount: Int? = nil,
        precision: ComputePrecision = .float32, requiresKernels: Bool = false, verifiesFirstPrediction: Bool = false
    ) {
        self.backend = backend
        self.deviceIndex = deviceIndex
        self.threadCount = threadCount
        self.precision = precision
        self.requiresKernels = requiresKernels
        self.verifiesFirstPrediction = verifiesFirstPrediction
    }

    /// The threads that are asked for, a number that can be had.
    var boundedThreadCount: Int? { threadCount.map { min(max($0, 1), Self.maximumThreadCount) } }
}
