import NTGraph
import NTRuntime

/// Runs graphs on one OpenCL device. Safe from any thread; partitions compiled by one backend share its context and programs.
package struct OpenCLBackend: Backend {
    package let name = "opencl"
    package let device: OpenCLDevice
    let context: DeviceContext
    package private(set) var style: DeviceStyle
    package private(set) var features: DeviceFeatures
    /// Measured tiles; those of the user's cache by default.
    package private(set) var tuning: TuningTable

    package var deviceDescription: String { ([device.summary] + features.words).joined(separator: ", ") }

    /// Programs compiled from source so far; those found in the cache do not count.
    package var programBuildCount: Int { context.buildCount }

    /// Programs taken from the cache on disk so far.
    package var programLoadCount: Int { context.loadCount }

    /// The installed devices, numbered across platforms.
    package static func devices() -> OpenCLDeviceList { OpenCLDeviceList() }

    /// The number of the first graphics processor, or nil when no platform has one.
    package static var firstGPU: Int? { devices().firstGPU }

    /// The backend on a device of `devices()`. Throws `OpenCLError` when there is none of that number, or it cannot be used.
    package init(deviceIndex: Int = 0, features: DeviceFeatures? = nil) throws {
        try self.init(device: try Self.devices().device(deviceIndex), features: features)
    }

    /// The backend on a device, with kernels shaped for `family` (by default the device's own), programs kept in `cache`, and `features` other than those
    /// of the device's kind. `notify` hears of work that begins and takes minutes, and of long waits.
    package init(
        device: OpenCLDevice, family: DeviceStyle.Family? = nil, api: OpenCLInterface = .system,
        cache: ProgramCache? = ProgramCache.standard(), tuning: TuningTable? = nil,
        features: DeviceFeatures? = nil, notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        guard device.isAvailable else { throw OpenCLError.notAvailable(device: device.name) }
        guard device.hasCompiler else { throw OpenCLError.noDevice(reason: "'\(device.name)' has no compiler") }
        if device.platformName == PoCLCache.platformName, let problem = PoCLCache.current.problem { throw OpenCLError.noDevice(reason: problem) }
        self.device = device
        context = try DeviceContext(device, api: api, cache: cache, notify: notify)
        self.features = try features ?? DeviceFeatures(for: device)
        style = DeviceStyle(
            for: device, family: family, compilesPerLayer: self.features.runsInOneLaunch, usesSubgroups: self.features.usesSubgroups)
        // Kernels that share local memory have groups of their own.
        if style.family == .manyCores { self.features.runsInOneLaunch = false }
        self.features.usesSubgroups = style.subgroups != nil
        self.tuning = tuning ?? TuningTable(contentsOf: TuningTable.file(for: device))
    }

    /// The same backend, context and programs with other tiles, and with other features and shapes of kernels where these are given.
    package func with(tuning: TuningTable, features: DeviceFeatures? = nil, style: DeviceStyle? = nil) -> OpenCLBackend {
        var result = self
        result.tuning = tuning
        if let features { result.features = features }
        if let style { result.style = style }
        return result
    }

    package func claim(_ node: Node, in graph: Graph) -> Claim {
        PartitionCompiler.refusal(of: node, in: graph).map { .refused(reason: $0) } ?? .accepted
    }

    package func compile(_ partition: Graph, options: CompileOptions) throws -> any CompiledPartition {
        var style = style
        while true {
            let compiler = PartitionCompiler(
                partition, context: context, style: style, storedType: try storedType(for: options.precision),
                tuning: tuning, leastSeparableWork: features.fusesSeparable ? features.leastSeparableWork : nil)
            try compiler.compile()
            do {
                return try OpenCLPartition(compiler, features: features)
            } catch let error as OpenCLError {
                // A kernel of which the device allows smaller groups than of others: all are then made for these.
                guard case .kernelLimit(let limit, _, _, _, let allowed) = error, let smaller = style.within(limit, allowed) else { throw error }
                style = smaller
            }
        }
    }

    /// What a precision that leaves a choice stands for on this device, for people; nil for the others.
    package func meaning(of precision: Precision) -> String? {
        switch precision {
        case .fast: device.kind == .gpu ? "fast is float16 here" : "fast is float32 here"
        case .float32Winograd: "float32-winograd is float32 here"
        case .float32, .float16, .bfloat16: nil
        }
    }

    /// What convolutions keep their values in. Throws when the device lacks the precision.
    func storedType(for precision: Precision) throws(OpenCLError) -> ElementType {
        switch precision {
        case .float32, .float32Winograd: return .float
        case .fast: return device.kind == .gpu ? .half : .float
        case .float16:
            guard device.storesHalfPrecision else {
                throw OpenCLError.unsupported("the OpenCL device '\(device.name)' has no half precision (cl_khr_fp16); use float32")
            }
            return .half
        case .bfloat16:
            throw OpenCLError.unsupported("the OpenCL backend has no bfloat16; use float32" + (device.storesHalfPrecision ? " or float16" : ""))
        }
    }
}
