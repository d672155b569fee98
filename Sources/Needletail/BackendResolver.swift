import CNTPlatform
import NTCPU
import NTOpenCL
import NTRuntime

/// Finds the backend that a configuration asks for.
package struct BackendResolver: Sendable {
    /// A backend and why it was taken.
    package struct Choice: Sendable {
        var backend: any Backend
        /// For people: `auto: OpenCL device 0`.
        var reason: String
        /// Said aloud when `auto` could not have the OpenCL device that it wanted.
        var notice: String?
        /// The number of the OpenCL device that `auto` took: when it fails, the processor takes its place.
        var replaceableDevice: Int?
    }

    private let api: OpenCLInterface

    /// A resolver of the installed drivers; tests give an interface that fails.
    package init(api: OpenCLInterface = .system) { self.api = api }

    /// One thread per core that this process may use.
    static var defaultThreadCount: Int { Int(nt_usable_cores()) }

    /// The backend and why it was taken. Throws `NeedletailError` when it is absent or cannot be used.
    func resolve(_ configuration: SessionConfiguration) throws -> Choice {
        try PackageInfo.checkEnvironment()
        if let index = configuration.deviceIndex, [.cpu, .reference].contains(configuration.backend) {
            throw NeedletailError(
                .invalidInput, "OpenCL device \(index) was asked for on the \(configuration.backend.rawValue) backend; use opencl or auto")
        }
        switch configuration.backend {
        case .cpu: return Choice(backend: Self.cpu(configuration), reason: "asked for" + Self.arithmeticNote(configuration))
        case .reference:
            try Self.requireFloat32(configuration, "reference")
            let note = configuration.precision == .float32 ? "" : "; \(configuration.precision.rawValue) is float32 here, summed in double precision"
            return Choice(backend: ReferenceBackend(), reason: "asked for" + note)
        case .opencl:
            let devices = OpenCLDeviceList(api: api)
            let index = configuration.deviceIndex ?? devices.firstGPU ?? 0
            let backend = try NeedletailError.wrapping(.backendUnavailable, context: "opencl") { try open(index, of: devices, configuration) }
            return Choice(backend: backend, reason: "asked for, device \(index)" + Self.note(backend, configuration))
        case .auto: return try automatic(configuration)
        }
    }

    private func automatic(_ configuration: SessionConfiguration) throws -> Choice {
        let devices = OpenCLDeviceList(api: api)
        guard let index = configuration.deviceIndex ?? devices.firstGPU else {
            let found = devices.devices.isEmpty ? [] : ["no OpenCL GPU among \(devices.devices.count) devices"]
            let reason = (found + [devices.reason].compactMap { $0 }).joined(separator: "; ")
            return Choice(backend: Self.cpu(configuration), reason: "auto: " + reason + Self.arithmeticNote(configuration))
        }
        // One that was asked for and is not there is a mistake; one that is there and fails is not.
        if configuration.deviceIndex != nil { _ = try NeedletailError.wrapping(.backendUnavailable, context: "auto") { try devices.device(index) } }
        do {
            let backend = try open(index, of: devices, configuration)
            let reason = "auto: OpenCL device \(index)" + Self.note(backend, configuration)
            return Choice(backend: backend, reason: reason, replaceableDevice: index)
        } catch {
            return Self.replacement(for: index, after: error, configuration)
        }
    }

    private func open(_ index: Int, of devices: OpenCLDeviceList, _ configuration: SessionConfiguration) throws -> OpenCLBackend {
        try OpenCLBackend(
            device: try devices.device(index), api: api, features: configuration.deviceFeatures, notify: { StandardError.say($0) })
    }

    /// The processor, after the OpenCL device that `auto` wanted has failed.
    static func replacement(for device: Int, after error: any Error, _ configuration: SessionConfiguration) -> Choice {
        let failure = "auto: OpenCL device \(device) failed: \(error)"
        return Choice(
            backend: cpu(configuration), reason: failure + arithmeticNote(configuration), notice: failure + "; the CPU is used instead")
    }

    private static func cpu(_ configuration: SessionConfiguration) -> any Backend {
        CPUBackend(threadCount: configuration.boundedThreadCount ?? defaultThreadCount)
    }

    /// What an OpenCL device computes in when that was left to it.
    private static func note(_ backend: OpenCLBackend, _ configuration: SessionConfiguration) -> String {
        backend.meaning(of: configuration.precision.runtimePrecision).map { "; " + $0 } ?? ""
    }

    /// What the CPU computes in when that is not what was asked for, or was left to it.
    private static func arithmeticNote(_ configuration: SessionConfiguration) -> String {
        let asked = configuration.precision.runtimePrecision
        let found = CPUBackend.resolved(asked)
        if asked == .fast { return "; fast is \(found.rawValue) here" }
        guard found != asked else { return "" }
        return "; computed in float32, for \(asked == .float16 ? "AVX512-FP16" : "AVX512-BF16") is absent or cut off by NEEDLETAIL_MAX_ISA"
    }

    /// Throws when half precision is asked of a backend that has float32 alone.
    private static func requireFloat32(_ configuration: SessionConfiguration, _ backend: String) throws {
        guard [.float32, .float32Winograd, .fast].contains(configuration.precision) else {
            throw NeedletailError(
                .backendUnavailable, "the \(backend) backend has no \(configuration.precision.rawValue); use float32, float32-winograd or fast")
        }
    }
}
